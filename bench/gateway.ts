import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { closeSync, fdatasyncSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Agent, Pool, request } from 'undici'
import { createApiClient, organisationMakers, spawnPortico } from '../test/harness/portico.ts'

/**
 * What the gateway costs: requests per second, added latency and time to the first byte against an instant upstream, compared with
 * a bare Node proxy that only forwards bytes, in one run: with the ledger in the database, and with its local journal. Upstream, proxy
 * and both Porticos are separate processes; the load comes from this one. The time of one fdatasync of the same disk is measured
 * before.
 *
 *   npm run bench:gateway -- --seconds 5 --connections 16
 */

const { values } = parseArgs({
  options: {
    role: { type: 'string' },
    upstream: { type: 'string' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '16' },
  },
})

if (values.role === 'upstream') runUpstream()
else if (values.role === 'proxy') runProxy(values.upstream!)
else await run(Number(values.seconds), Number(values.connections))

interface Figures {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  errors: number
}

async function run(seconds: number, connections: number) {
  const upstream = await startRole('upstream')
  const proxy = await startRole('proxy', upstream.url)
  const dataFolder = mkdtempSync(path.join(tmpdir(), 'portico-bench-'))
  printSyncTime(dataFolder)
  const porticos = {
    database: await startBenchPortico(path.join(dataFolder, 'database'), upstream.url, 'database'),
    local: await startBenchPortico(path.join(dataFolder, 'local'), upstream.url, 'local'),
  }
  const targets = [
    { name: 'upstream alone', url: `${upstream.url}/v1/chat/completions`, key: 'none' },
    { name: 'bare Node proxy', url: `${proxy.url}/v1/chat/completions`, key: 'none' },
    ...Object.entries(porticos).map(([journal, { url, apiKey }]) => ({
      name: `Portico (ledger: ${journal})`,
      url: `${url}/v1/gateway/chat/completions`,
      key: apiKey,
    })),
  ]
  try {
    for (const [title, stream, clients] of [
      ['chat, plain, saturated', false, connections],
      ['chat, plain, one at a time', false, 1],
      ['chat, streamed, saturated: time to the first text', true, connections],
      ['chat, streamed, one at a time: time to the first text', true, 1],
    ] as const) {
      console.log(`\n${title} (${clients} connections, ${seconds} s each)`)
      let bare: Figures | undefined
      for (const target of targets) {
        await load(target, stream, clients, Math.min(1, seconds / 2))
        const figures = await load(target, stream, clients, seconds)
        if (target.name.startsWith('bare')) bare = figures
        console.log(describe(target.name, figures, target.name.startsWith('Portico') ? bare : undefined))
      }
    }
  } finally {
    for (const portico of Object.values(porticos)) await portico.stop()
    for (const role of [upstream, proxy]) role.child.kill()
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

function describe(
  name: string,
  { requestsPerSecond, p50Ms, p99Ms, errors }: Figures,
  bare: Figures | undefined,
): string {
  const line = `  ${name.padEnd(26)} ${requestsPerSecond.toFixed(0).padStart(7)} req/s   p50 ${p50Ms.toFixed(2).padStart(7)} ms   p99 ${p99Ms.toFixed(2).padStart(7)} ms`
  const ratio = bare
    ? `   ${(requestsPerSecond / bare.requestsPerSecond).toFixed(2)} × the bare proxy's rate, +${(p50Ms - bare.p50Ms).toFixed(2)} ms p50, +${(p99Ms - bare.p99Ms).toFixed(2)} ms p99`
    : ''
  return line + ratio + (errors > 0 ? `   ${errors} ERRORS` : '')
}

async function load(
  target: { url: string; key: string },
  stream: boolean,
  clients: number,
  seconds: number,
): Promise<Figures> {
  const agent = new Agent({ connections: clients })
  const body = JSON.stringify({
    model: 'bench-model',
    stream,
    max_completion_tokens: 64,
    messages: [{ role: 'user', content: 'Say hello to the bench, please.' }],
  })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${target.key}` }
  const latencies: number[] = []
  let errors = 0
  const end = performance.now() + seconds * 1000
  const client = async () => {
    while (performance.now() < end) {
      const start = performance.now()
      const response = await request(target.url, { method: 'POST', headers, body, dispatcher: agent })
      let first: number | undefined
      let text = ''
      for await (const chunk of response.body) {
        text += String(chunk)
        if (first === undefined && text.includes('hello')) first = performance.now()
      }
      if (response.statusCode !== 200 || first === undefined || (stream && !text.includes('[DONE]'))) errors++
      latencies.push((stream ? (first ?? performance.now()) : performance.now()) - start)
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: clients }, client))
  const elapsed = (performance.now() - started) / 1000
  await agent.close()
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
  return { requestsPerSecond: latencies.length / elapsed, p50Ms: at(0.5), p99Ms: at(0.99), errors }
}

interface Role {
  url: string
  child: ChildProcess
}

function startRole(role: string, upstream?: string): Promise<Role> {
  const child = spawn(
    process.execPath,
    [import.meta.filename, '--role', role, ...(upstream === undefined ? [] : ['--upstream', upstream])],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  return new Promise((resolve) => {
    child.stdout.once('data', (chunk: Buffer) => resolve({ url: chunk.toString().trim(), child }))
  })
}

/** What the disk of the data folder adds to a durable write of one caller. */
function printSyncTime(folder: string) {
  const descriptor = openSync(path.join(folder, 'sync'), 'w')
  const bytes = Buffer.alloc(1_000_000)
  writeSync(descriptor, bytes, 0, bytes.length, 0)
  const times = Array.from({ length: 200 }, (_, index) => {
    writeSync(descriptor, bytes, 0, 700, index * 700)
    const start = performance.now()
    fdatasyncSync(descriptor)
    return performance.now() - start
  }).sort((a, b) => a - b)
  closeSync(descriptor)
  console.log(`one fdatasync of 700 bytes: p50 ${times[100]!.toFixed(2)} ms, p99 ${times[197]!.toFixed(2)} ms`)
}

async function startBenchPortico(dataFolder: string, upstreamUrl: string, journal: string) {
  mkdirSync(dataFolder)
  writeFileSync(
    path.join(dataFolder, 'portico.yaml'),
    JSON.stringify({
      providers: [
        {
          id: 'bench',
          format: 'openai',
          flavour: 'generic',
          baseUrl: `${upstreamUrl}/v1`,
          apiKey: 'sk-bench',
          hosting: 'us',
        },
      ],
      models: [
        {
          id: 'bench-model',
          maxOutputTokens: 4096,
          contextTokens: 128_000,
          deployments: [{ provider: 'bench', prices: { input: '0.15', output: '0.6' } }],
        },
      ],
    }),
  )
  const operatorToken = 'bench-operator-token-of-this-run-only'
  const running = await spawnPortico({
    PORTICO_DATA_DIR: dataFolder,
    PORTICO_CONFIG: path.join(dataFolder, 'portico.yaml'),
    PORTICO_OPERATOR_TOKEN: operatorToken,
    PORTICO_DEMO: 'false',
    PORTICO_LOG_LEVEL: 'warn',
    PORTICO_LEDGER_JOURNAL: journal,
  })
  const makers = organisationMakers(running.url, createApiClient(running.url, operatorToken))
  const { apiKey } = await makers.createOrganisation({ monthlyBudgetUsd: '100000' })
  return { url: running.url, apiKey, stop: () => running.kill('SIGTERM') }
}

function runUpstream() {
  const usage = { prompt_tokens: 14, completion_tokens: 2, total_tokens: 16 }
  const head = { id: 'chatcmpl-bench', created: 1_700_000_000, model: 'bench-model' }
  const plain = JSON.stringify({
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
    let body = ''
    incoming.on('data', (data: Buffer) => (body += data.toString()))
    incoming.on('end', () => {
      const isStream = body.includes('"stream":true')
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
      response.end(isStream ? streamed : plain)
    })
  })
  listen(server)
}

/** As little as a proxy in Node can do: parse nothing, pass bytes both ways over kept connections. */
function runProxy(upstreamUrl: string) {
  const pool = new Pool(upstreamUrl, { connections: 64 })
  const server = createServer((incoming, response) => {
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

function listen(server: ReturnType<typeof createServer>) {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address !== null && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}`)
  })
}
