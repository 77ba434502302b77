import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'

/** The upstream and the proxy of the bench of the gateway, as processes: `--role upstream`, or `--role proxy --upstream URL`. Each prints its URL. */
const { values } = parseArgs({ options: { role: { type: 'string' }, upstream: { type: 'string' } } })

if (values.role === 'upstream') runUpstream()
else runProxy(values.upstream!)

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
