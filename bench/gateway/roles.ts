import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { waitingConnections } from './waiting-connections.ts'

/**
 * The processes next to the measured ones, and the gateway without a ledger. Each prints its address.
 *
 * A prompt `chunks:N every:MS` makes the upstream stream N chunks, one every MS milliseconds; any other answer comes at once.
 */

export interface Role {
  url: string
  child: ChildProcess
}

export type RoleName = 'upstream' | 'proxy' | 'unmetered'

export function startRole(
  role: RoleName,
  options: { upstream?: string; environment?: Record<string, string>; project?: string | undefined } = {},
): Promise<Role> {
  const { upstream, environment, project = path.join(import.meta.dirname, '../..') } = options
  const child = spawn(
    path.join(project, 'bin/run'),
    [
      path.join(project, 'bench/gateway/roles.ts'),
      '--role',
      role,
      ...(upstream === undefined ? [] : ['--upstream', upstream]),
    ],
    { stdio: ['ignore', 'pipe', environment ? 'pipe' : 'inherit'], env: { ...process.env, ...environment } },
  )
  process.on('exit', () => child.kill())
  return new Promise((resolve) => {
    child.stdout!.once('data', (chunk: Buffer) => resolve({ url: chunk.toString().trim(), child }))
  })
}

const usage = { prompt_tokens: 14, completion_tokens: 2, total_tokens: 16 }
const head = { id: 'chatcmpl-bench', created: 1_700_000_000, model: 'bench-model' }
/** The upstream's answer to a call without a stream. */
export const plainAnswer = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'hello bench', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage,
})

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { role: { type: 'string' }, upstream: { type: 'string' } } })
  if (values.role === 'upstream') runUpstream()
  else if (values.role === 'proxy') runProxy(values.upstream!)
  else console.log(await (await import('./unmetered.ts')).startUnmetered(values.upstream!))
}

function runUpstream() {
  const chunk = (fields: object) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...fields })}\n\n`
  const choice = (delta: object, finish: string | null) =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })
  const streamed = [
    choice({ role: 'assistant', content: '' }, null),
    ...['hello', ' bench', ' and', ' all', ' who', ' read', ' this', '.'].map((content) => choice({ content }, null)),
    choice({}, 'stop'),
    chunk({ choices: [], usage }),
    'data: [DONE]\n\n',
  ].join('')
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (data: Buffer) => {
      chunks.push(data)
      // What the answer depends on is at the beginning or the end.
      if (chunks.length > 3) chunks.splice(1, 1)
    })
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const isStream = body.includes('"stream":true')
      const paced = /chunks:(\d+) every:(\d+)/.exec(body)
      if (paced) return streamPaced(response, choice, Number(paced[1]), Number(paced[2]))
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
      response.end(isStream ? streamed : plainAnswer)
    })
  })
  listen(server)
}

/** Chunk n of the answer has the text ` n`, so that a lost one is noticed. */
function streamPaced(
  response: ServerResponse,
  choice: (delta: object, finish: string | null) => string,
  chunks: number,
  everyMs: number,
) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let sent = 0
  const timer = setInterval(() => {
    if (sent < chunks) return void response.write(choice({ content: ` ${sent++}` }, null))
    clearInterval(timer)
    response.end(`${choice({}, 'stop')}data: [DONE]\n\n`)
  }, everyMs)
  response.on('close', () => clearInterval(timer))
}

/**
 * As little as a proxy in Node can do: parse nothing, pass bytes both ways over kept connections. It answers all but completions itself. A second
 * upstream, after a comma, is that of requests below `/flood`.
 */
function runProxy(upstreamUrls: string) {
  const pools = upstreamUrls.split(',').map((url) => new Pool(url, { connections: 10_000 }))
  const server = createServer((incoming, response) => {
    if (!incoming.url!.endsWith('/completions')) return answerAtEnd(incoming, response)
    const pool = pools[incoming.url!.startsWith('/flood') ? 1 : 0]!
    pool.stream(
      {
        path: incoming.url!,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: incoming,
        opaque: response,
      },
      ({ statusCode, headers }) => {
        response.writeHead(statusCode, { 'content-type': headers['content-type'] as string })
        return response
      },
      () => {},
    )
  })
  listen(server)
}

/** Reads the request to its end. */
function answerAtEnd(incoming: IncomingMessage, response: ServerResponse) {
  incoming.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(plainAnswer)
  })
}

function listen(server: ReturnType<typeof createServer>) {
  server.listen({ port: 0, host: '127.0.0.1', backlog: waitingConnections }, () => {
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })
}
