import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { providerCall } from '../../../test/harness/provider-call.ts'
import {
  chatAnswer,
  chatStream,
  chatStreamBody,
  errorAnswer,
  garbage,
  hugeAnswer,
  quotaUsedUp,
  rateLimited,
  webPage,
} from '../../../test/upstream/replies.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../../../test/upstream/upstream.ts'
import { createProvider, type Provider, ProviderError, type ProviderEvent, type ProviderSettings } from './index.ts'

let upstream: Upstream
const providers: Provider[] = []

beforeEach(async () => {
  upstream = await startUpstream()
})
afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.close()))
  // No socket outlives its provider, whatever the test did.
  await upstream.openSocketsAtMost(0)
  await upstream.close()
})

function connect(settings: Partial<ProviderSettings> = {}): Provider {
  const provider = createProvider({
    id: 'test',
    format: 'openai',
    flavour: 'generic',
    baseUrl: `${upstream.url}/v1`,
    apiKey: 'sk-secret-of-this-test',
    ...settings,
  })
  providers.push(provider)
  return provider
}

async function failureOf(work: Promise<unknown>): Promise<ProviderError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ProviderError)
  return error as ProviderError
}

async function drain(provider: Provider, call = providerCall()): Promise<ProviderEvent[]> {
  const all: ProviderEvent[] = []
  for await (const events of (await provider.stream(call)).events) all.push(...events)
  return all
}

function textOf(events: ProviderEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('')
}

const words = ['One', ' two', ' three']
const bodyBytes = Buffer.byteLength(chatStreamBody(words))

describe('an answer', () => {
  test('contains text, usage and the provider’s request id', async () => {
    const reply = chatAnswer('Hello')
    upstream.script(() => ({ ...reply, headers: { ...reply.headers, 'x-request-id': 'req-there' } }))
    expect(await connect().complete(providerCall())).toMatchObject({
      text: 'Hello',
      finishReason: 'stop',
      usage: { promptTokens: 11, completionTokens: 7 },
      providerRequestId: 'req-there',
    })
    expect(upstream.requests[0]).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-secret-of-this-test' },
    })
  })

  test('may be compressed', async () => {
    upstream.script(() => ({ ...chatAnswer('packed'), gzip: true }))
    expect(await connect().complete(providerCall())).toMatchObject({ text: 'packed' })
    upstream.script(() => ({ ...chatStream(words), gzip: true, cuts: 'every-byte' }))
    expect(textOf(await drain(connect()))).toBe('One two three')
  })

  test('is streamed while the body is still open', async () => {
    upstream.script(() => ({ ...chatStream(words), stallAfterBytes: bodyBytes - 200 }))
    const { events } = await connect().stream(providerCall())
    for await (const read of events) {
      if (textOf(read).includes('One')) return
    }
    expect.unreachable('the stream ended without its first word')
  })

  test('ends when its end was received, even if the host does not close the body', async () => {
    upstream.script(() => ({ ...chatStream(words), stallAfterBytes: bodyBytes }))
    expect((await drain(connect())).at(-2)).toMatchObject({ type: 'finish', finishReason: 'stop' })
  })

  test('of a host that ignores `stream: true` is returned as events', async () => {
    upstream.script(() => chatAnswer('all at once'))
    const events = await drain(connect())
    expect(textOf(events)).toBe('all at once')
    expect(events.map((event) => event.type)).toEqual(['text', 'finish', 'usage'])
  })
})

describe('a connection', () => {
  test('is kept for the next call', async () => {
    upstream.script((request) => (request.index % 2 === 0 ? chatAnswer('a') : chatStream(words)))
    const provider = connect()
    for (let calls = 0; calls < 10; calls++) {
      await provider.complete(providerCall())
      await drain(provider)
    }
    // Two, because a call that follows at once starts before the previous socket is marked free.
    expect(upstream.sockets().opened).toBeLessThanOrEqual(2)
  })

  test('counts towards the maximum of the settings; each organisation uses half, and its further calls wait', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    upstream.script(async () => {
      await gate
      return chatAnswer('done')
    })
    const provider = connect({ limits: { maximumConnections: 2 } })
    const complete = (tenant: string) => provider.complete({ ...providerCall(), tenant })
    const calls = [complete('a'), complete('a')]
    await upstream.requested(1)
    const refused = await failureOf(complete('a'))
    expect(refused).toMatchObject({ errorClass: 'share_exhausted', retryable: true, status: null })
    calls.push(complete('b'))
    await upstream.requested(2)
    expect(upstream.sockets().opened).toBe(2)
    release()
    expect((await Promise.all(calls)).map(({ text }) => text)).toEqual(['done', 'done', 'done'])
    expect(upstream.sockets().opened).toBe(2)
    expect(await complete('a')).toMatchObject({ text: 'done' })
  })

  test('that is refused is a failure whose cause shows that nothing was sent', async () => {
    const error = await failureOf(connect({ baseUrl: 'http://127.0.0.1:1/v1' }).complete(providerCall()))
    expect(error).toMatchObject({ errorClass: 'connection', afterFirstByte: false, cause: { code: 'ECONNREFUSED' } })
    expect(error.message).not.toContain('127.0.0.1')
  })
})

describe('a cancelled call', () => {
  test('closes its socket at once while the provider prepares the answer', async () => {
    upstream.script(() => ({ headersAfterMs: 'never' }))
    const client = new AbortController()
    const failed = failureOf(connect().complete({ ...providerCall(), signal: client.signal }))
    await upstream.requested(1)
    client.abort()
    expect(await failed).toMatchObject({ errorClass: 'cancelled', retryable: false })
    await upstream.aborted(0)
  })

  test('closes its socket at once in the middle of a stream', async () => {
    upstream.script(() => ({ ...chatStream(words), stallAfterBytes: bodyBytes - 200 }))
    const client = new AbortController()
    const { events } = await connect().stream({ ...providerCall(), signal: client.signal })
    const failed = failureOf(
      (async () => {
        for await (const read of events) if (read.length > 0) client.abort()
      })(),
    )
    expect(await failed).toMatchObject({ errorClass: 'cancelled', afterFirstByte: true })
    await upstream.aborted(0)
  })

  test('closes its socket at once if the reader stops', async () => {
    upstream.script(() => ({ ...chatStream(words), stallAfterBytes: bodyBytes - 200 }))
    const { events } = await connect().stream(providerCall())
    for await (const read of events) if (read.length > 0) break
    await upstream.aborted(0)
  })

  test('sends nothing if it was cancelled before it began', async () => {
    const call = { ...providerCall(), signal: AbortSignal.abort() }
    expect(await failureOf(connect().complete(call))).toMatchObject({ errorClass: 'cancelled' })
    expect(upstream.requests).toHaveLength(0)
  })

  test('releases its place while it waits for a connection', async () => {
    upstream.script(() => ({ headersAfterMs: 'never' }))
    const provider = connect({ limits: { maximumConnections: 1 } })
    const client = new AbortController()
    const calls = Array.from({ length: 2 }, () =>
      failureOf(provider.complete({ ...providerCall(), signal: client.signal })),
    )
    await upstream.requested(1)
    client.abort()
    for (const error of await Promise.all(calls)) expect(error.errorClass).toBe('cancelled')
    upstream.script(() => chatAnswer('free again'))
    expect(await provider.complete(providerCall())).toMatchObject({ text: 'free again' })
  })
})

describe('a provider that misbehaves', () => {
  const whole = chatAnswer('A whole answer')
  const stream = chatStream(words)
  const cases: [string, UpstreamReply, 'complete' | 'stream', Partial<ProviderError>][] = [
    ['never answers', { headersAfterMs: 'never' }, 'complete', { errorClass: 'timeout', afterFirstByte: false }],
    ['never answers a stream', { headersAfterMs: 'never' }, 'stream', { errorClass: 'timeout', afterFirstByte: false }],
    [
      'falls silent in an answer',
      { ...whole, stallAfterBytes: 20 },
      'complete',
      { errorClass: 'timeout', afterFirstByte: true },
    ],
    [
      'falls silent before the first byte of a stream',
      { ...stream, stallAfterBytes: 0 },
      'stream',
      { errorClass: 'timeout' },
    ],
    [
      'falls silent in a stream',
      { ...stream, stallAfterBytes: 600 },
      'stream',
      { errorClass: 'timeout', afterFirstByte: true, retryable: false },
    ],
    [
      'ends a stream early',
      { ...stream, endAfterBytes: 700 },
      'stream',
      { errorClass: 'connection', afterFirstByte: true, retryable: false },
    ],
    [
      'ends a stream in the middle of a frame',
      { ...stream, endAfterBytes: 613 },
      'stream',
      { errorClass: 'connection', afterFirstByte: true },
    ],
    ['ends a stream before it began', { ...stream, body: '' }, 'stream', { errorClass: 'connection' }],
    ['says [DONE] and nothing else', { ...stream, body: 'data: [DONE]\n\n' }, 'stream', { errorClass: 'connection' }],
    [
      'breaks the connection in a stream',
      { ...stream, resetAfterBytes: 700 },
      'stream',
      { errorClass: 'connection', afterFirstByte: true },
    ],
    [
      'breaks the connection in an answer',
      { ...whole, resetAfterBytes: 20 },
      'complete',
      { errorClass: 'connection', afterFirstByte: true },
    ],
    [
      'breaks the connection without a word',
      { resetAfterBytes: 0 },
      'complete',
      { errorClass: 'connection', afterFirstByte: false },
    ],
    [
      'ends an answer early',
      { ...whole, endAfterBytes: 20 },
      'complete',
      { errorClass: 'connection', afterFirstByte: true, retryable: false },
    ],
    ['sends garbage for an answer', garbage(2000, 'application/json'), 'complete', { errorClass: 'connection' }],
    ['sends garbage for a stream', garbage(2000, 'text/event-stream'), 'stream', { errorClass: 'connection' }],
    ['sends an empty object', { ...whole, body: '{}' }, 'complete', { errorClass: 'connection' }],
    ['sends an answer without choices', { ...whole, body: '{"choices":[]}' }, 'complete', { errorClass: 'connection' }],
    ['sends more than is allowed', hugeAnswer(200_000), 'complete', { errorClass: 'connection', afterFirstByte: true }],
    [
      'sends a compressed bomb',
      { ...hugeAnswer(5_000_000), gzip: true },
      'complete',
      { errorClass: 'connection', afterFirstByte: true },
    ],
    [
      'sends one endless line',
      { ...stream, body: `data: ${'x'.repeat(200_000)}` },
      'stream',
      { errorClass: 'connection' },
    ],
    [
      'names an encoding that nobody knows',
      { ...whole, headers: { 'content-encoding': 'rot13' } },
      'complete',
      { errorClass: 'connection' },
    ],
    [
      'sends a broken archive',
      { ...whole, headers: { 'content-encoding': 'gzip' } },
      'complete',
      { errorClass: 'connection' },
    ],
    ['sends a web page', webPage(), 'complete', { errorClass: 'connection', status: 200 }],
    ['sends a web page for a stream', webPage(), 'stream', { errorClass: 'connection', status: 200 }],
    [
      'sends a web page with status 502',
      webPage(502),
      'complete',
      { errorClass: 'server_error', retryable: true, status: 502 },
    ],
    [
      'redirects',
      { status: 302, headers: { location: 'https://elsewhere.test/' } },
      'complete',
      { errorClass: 'connection', status: 302 },
    ],
    ['fails with 500', errorAnswer(500), 'stream', { errorClass: 'server_error', retryable: true }],
    ['fails with 503', errorAnswer(503), 'complete', { errorClass: 'overloaded', retryable: true }],
    ['fails with 504', errorAnswer(504), 'complete', { errorClass: 'timeout', status: 504 }],
    [
      'says in plain JSON with status 200 what is wrong',
      { ...errorAnswer(429, { code: 'rate_limit_exceeded' }), status: 200 },
      'stream',
      { errorClass: 'rate_limit' },
    ],
    [
      'breaks off an error’s body',
      { ...errorAnswer(503), resetAfterBytes: 10 },
      'complete',
      { errorClass: 'overloaded', status: 503 },
    ],
    ['sends an endless error', { status: 500, body: 'x'.repeat(150_000) }, 'complete', { errorClass: 'server_error' }],
    [
      'has no credit left',
      quotaUsedUp(),
      'complete',
      { errorClass: 'quota', retryable: false, code: 'insufficient_quota' },
    ],
  ]
  test.each(cases)('that %s causes a failure, never a short answer', async (_what, reply, way, expected) => {
    upstream.script(() => reply)
    const provider = connect({ limits: { headersTimeoutMs: 150, idleTimeoutMs: 150, maximumResponseBytes: 100_000 } })
    const error = await failureOf(way === 'complete' ? provider.complete(providerCall()) : drain(provider))
    expect(error).toMatchObject(expected)
    upstream.script(() => chatAnswer('well again'))
    expect(await provider.complete(providerCall())).toMatchObject({ text: 'well again' })
  })

  test('loses no events from before the failure', async () => {
    upstream.script(() => ({ ...stream, resetAfterBytes: 700 }))
    const seen: ProviderEvent[] = []
    const { events } = await connect().stream(providerCall())
    await failureOf(
      (async () => {
        for await (const read of events) seen.push(...read)
      })(),
    )
    expect(textOf(seen)).toMatch(/^One/)
  })

  test('with an error in place of the first bytes rejects the call before it returns a stream', async () => {
    upstream.script(() => ({ ...stream, body: 'data: {"error":{"message":"Slow down","code":429}}\n\n' }))
    const error = await failureOf(connect().stream(providerCall()))
    expect(error).toMatchObject({ errorClass: 'rate_limit', retryable: true, afterFirstByte: false })
  })

  test('does not quote a key in its message', async () => {
    upstream.script(() =>
      errorAnswer(400, { message: 'Key sk-secret-of-this-test and Bearer abcdefgh12345678 are wrong.' }),
    )
    const error = await failureOf(connect().complete(providerCall()))
    expect(error.message).not.toMatch(/secret-of-this-test|abcdefgh/)
  })

  test.each(['retry-after', 'retry-after-date', 'retry-after-ms', 'reset-header', 'in-words'] as const)(
    'gets its retry-after from %s',
    async (hint) => {
      upstream.script(() => rateLimited(hint, 20))
      const error = await failureOf(connect().complete(providerCall()))
      expect(error).toMatchObject({ errorClass: 'rate_limit', retryable: true, status: 429 })
      expect(error.retryAfterSeconds).toBeGreaterThan(17)
      expect(error.retryAfterSeconds).toBeLessThanOrEqual(20)
    },
  )

  test('has no retry-after without a valid value', async () => {
    upstream.script(() => rateLimited('none', 0))
    expect(await failureOf(connect().complete(providerCall()))).toMatchObject({ retryAfterSeconds: null })
  })
})

describe('embeddings', () => {
  test('are split into batches and joined in order, with the sum of tokens', async () => {
    upstream.script((request) => {
      const { input } = JSON.parse(request.body) as { input: string[] }
      const data = input.map((text, index) => ({ index, embedding: [Number(text)] })).toReversed()
      return {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ data, usage: { prompt_tokens: input.length } }),
      }
    })
    const texts = Array.from({ length: 150 }, (_, index) => String(index))
    const answer = await connect().embed!({ ...providerCall(), texts, purpose: 'document' })
    expect(answer.vectors.map(([value]) => value)).toEqual(texts.map(Number))
    expect(answer.promptTokens).toBe(150)
    expect(upstream.requests).toHaveLength(3)
  })

  test('are a failure if there are fewer than texts', async () => {
    upstream.script(() => ({
      headers: { 'content-type': 'application/json' },
      body: '{"data":[{"index":0,"embedding":[1]}]}',
    }))
    const call = { ...providerCall(), texts: ['a', 'b'], purpose: 'query' as const }
    expect(await failureOf(connect().embed!(call))).toMatchObject({ errorClass: 'connection' })
  })
})

test('a model list is fetched with the provider’s credentials', async () => {
  upstream.script(() => ({ headers: { 'content-type': 'application/json' }, body: '{"data":[{"id":"a"},{"id":"b"}]}' }))
  expect(await connect().listModels!(new AbortController().signal)).toEqual(['a', 'b'])
  expect(upstream.requests[0]).toMatchObject({
    method: 'GET',
    path: '/v1/models',
    headers: { authorization: 'Bearer sk-secret-of-this-test' },
  })
})

test('extra headers of the settings are sent once and replace ours', async () => {
  upstream.script(() => chatAnswer('a'))
  await connect({ headers: { Authorization: 'Custom token', 'X-Tenant': 't7' } }).complete(providerCall())
  expect(upstream.requests[0]!.headers).toMatchObject({ authorization: 'Custom token', 'x-tenant': 't7' })
})

test('closing a provider ends its calls with an error', async () => {
  upstream.script(() => ({ headersAfterMs: 'never' }))
  const provider = connect()
  const failed = failureOf(provider.complete(providerCall()))
  await upstream.requested(1)
  await provider.close()
  expect(await failed).toMatchObject({ errorClass: 'connection' })
})
