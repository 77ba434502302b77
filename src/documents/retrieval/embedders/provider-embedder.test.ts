import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../../test/harness/fake-clock.ts'
import { sharedDataFolder } from '../../../../test/harness/shared-data.ts'
import type { Embeddings } from '../../../gateway/gateway/index.ts'
import { createOrganisationId, createSpaceId, isAppError, silentLog } from '../../../platform/kernel/index.ts'
import { toClientError } from '../../../gateway/routing/index.ts'
import { testDeployment, testOrganisation } from '../../../gateway/models/testing/catalogue-fixture.ts'
import { createProvider, type Provider } from '../../../gateway/providers/index.ts'
import { createTokenCounting } from '../../../gateway/tokens/index.ts'
import { createProviderEmbedder, type Embedder, type ProviderEmbedderOptions } from '../index.ts'

const dimensions = 4
const tokens = createTokenCounting({ log: silentLog })
afterAll(() => tokens.close())
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

type Answer = { status: number; body: string | Buffer; headers?: Record<string, string> }
interface Upstream {
  embedder: Embedder
  clock: FakeClock
  /** The inputs of each received call. */
  calls: string[][]
}

/** An OpenAI-like server on a free port, and an embedder that calls it over HTTP with the real adapter. */
async function startUpstream(
  answer: (inputs: string[], call: number) => Answer,
  options: Partial<ProviderEmbedderOptions> = {},
): Promise<Upstream> {
  const calls: string[][] = []
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { input } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { input: string | string[] }
    calls.push([input].flat())
    const { status, body, headers } = answer(calls.at(-1)!, calls.length)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const provider = createProvider({
    id: 'test',
    format: 'openai',
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: 'sk-test',
  })
  closers.push(async () => {
    await provider.close()
    server.closeAllConnections()
    server.close()
  })
  const clock = createFakeClock()
  const organisation = testOrganisation()
  const embedder = await createProviderEmbedder({
    embeddings: embeddingsOf(provider),
    tokens,
    organisation: () => organisation,
    model: 'vectors',
    dimensions,
    clock,
    random: () => 0,
    ...options,
  })
  return { embedder, clock, calls }
}

/** The gateway's embeddings without its ledger: the provider, and its errors as the gateway reports them. */
function embeddingsOf(provider: Provider): Embeddings {
  const { wire } = testDeployment('vectors')
  return {
    async embed({ texts, purpose, signal }) {
      try {
        const answer = await provider.embed!({ model: wire, texts, purpose, signal, requestId: 'req_test' as never })
        return { vectors: answer.vectors, promptTokens: answer.promptTokens ?? 0, receipt: {} as never, rate: null }
      } catch (error) {
        throw toClientError(error)
      }
    },
  }
}

/** A vector that identifies its text by the number in it. */
function vectorsFor(inputs: string[]): Answer {
  const data = inputs.map((input, index) => ({
    object: 'embedding',
    index,
    embedding: [Number(/\d+/.exec(input)?.[0] ?? 0), 1, 0, 0],
  }))
  return { status: 200, body: JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 1, total_tokens: 1 } }) }
}

function failure(status: number, error: object, headers?: Record<string, string>): Answer {
  return { status, body: JSON.stringify({ error }), ...(headers ? { headers } : {}) }
}

function embed(
  embedder: Embedder,
  texts: string[],
  purpose: 'document' | 'query' = 'document',
  signal = AbortSignal.timeout(30_000),
) {
  return embedder.embed({ texts, purpose, organisationId: createOrganisationId(), spaceId: createSpaceId(), signal })
}

/** Advances the clock whenever the embedder waits, and records the pauses. */
async function waitedMs<T>(clock: FakeClock, work: Promise<T>): Promise<{ value: T; ms: number }> {
  const startedMs = clock.monotonicMs()
  const state = { over: false }
  const value = work.finally(() => (state.over = true))
  value.catch(() => {})
  while (!state.over) {
    if (clock.sleeping() > 0) await clock.advance(clock.nextMs()!)
    else await new Promise((resolve) => setImmediate(resolve))
  }
  return { value: await value, ms: clock.monotonicMs() - startedMs }
}

describe('embeddings of a provider', () => {
  it('are returned in the order of the texts, in batches limited by count and by tokens', async () => {
    const { embedder, calls } = await startUpstream(vectorsFor, { maximumBatchTexts: 10, maximumBatchTokens: 60 })
    const texts = Array.from(
      { length: 37 },
      (_, index) => `text ${index}${index % 9 === 0 ? ' and more words'.repeat(8) : ''}`,
    )
    const vectors = await embed(embedder, texts)
    expect(vectors.map((vector) => vector[0])).toEqual(texts.map((_, index) => index))
    for (const inputs of calls) {
      expect(inputs.length).toBeLessThanOrEqual(10)
      const tokens = inputs.reduce((sum, input) => sum + embedder.countTokens(input), 0)
      expect(tokens <= 60 || inputs.length === 1).toBe(true)
    }
    expect(calls.flat()).toHaveLength(texts.length)
  })

  it('are retried after the Retry-After of a 429', async () => {
    const { embedder, clock, calls } = await startUpstream((inputs, call) =>
      call <= 2
        ? failure(429, { message: 'slow down', type: 'rate_limit' }, { 'retry-after': '7' })
        : vectorsFor(inputs),
    )
    const { value, ms } = await waitedMs(clock, embed(embedder, ['text 5']))
    expect(value[0]![0]).toBe(5)
    expect(calls).toHaveLength(3)
    expect(ms).toBe(14_000)
  })

  it('are retried after a 500 with growing pauses, and fail after six attempts', async () => {
    const { embedder, clock, calls } = await startUpstream(() => failure(500, { message: 'boom' }))
    const failed = waitedMs(clock, embed(embedder, ['text 5']))
    await expect(failed).rejects.toMatchObject({ code: 'upstream_error' })
    expect(calls).toHaveLength(6)
    expect(clock.monotonicMs()).toBe(500 + 1000 + 2000 + 4000 + 8000)
  })

  it('of a query are not retried when the pause is a minute', async () => {
    const { embedder, clock, calls } = await startUpstream(() =>
      failure(429, { message: 'slow down' }, { 'retry-after': '60' }),
    )
    await expect(waitedMs(clock, embed(embedder, ['who?'], 'query'))).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
    })
    expect(calls).toHaveLength(1)
    expect(clock.monotonicMs()).toBe(0)
  })

  it('are not retried when the request is invalid', async () => {
    const { embedder, calls } = await startUpstream(() =>
      failure(400, { message: 'bad', type: 'invalid_request_error' }),
    )
    await expect(embed(embedder, ['text 5'])).rejects.toMatchObject({ code: 'invalid_request' })
    expect(calls).toHaveLength(1)
  })

  it('are made of two halves when a batch is too large for the provider, and of a cut text when one text is', async () => {
    const tooLong = { message: "This model's maximum context length is 8192 tokens", code: 'context_length_exceeded' }
    const { embedder, calls } = await startUpstream((inputs) =>
      inputs.length > 2 || inputs.some((input) => input.length > 40) ? failure(400, tooLong) : vectorsFor(inputs),
    )
    const vectors = await embed(embedder, ['text 1', 'text 2', 'text 3', `text 4 ${'long '.repeat(20)}`, 'text 5'])
    expect(vectors.map((vector) => vector[0])).toEqual([1, 2, 3, 4, 5])
    expect(calls.at(-1)!.length).toBeLessThanOrEqual(2)
  })

  it('are made of the first tokens of a text that is longer than the model accepts', async () => {
    const { embedder, calls } = await startUpstream(vectorsFor, { maximumTokens: 50 })
    await embed(embedder, [`text 7 ${'😀 and '.repeat(500)}`, '<|endoftext|> 8'])
    expect(embedder.countTokens(calls[0]![0]!)).toBeLessThanOrEqual(50)
    expect(calls[0]![0]!.isWellFormed()).toBe(true)
    expect(calls[0]![1]).toBe('<|endoftext|> 8')
  })

  it('stop between batches when the request is aborted', async () => {
    const left = new AbortController()
    const { embedder, calls } = await startUpstream(
      (inputs) => {
        left.abort(new Error('gone'))
        return vectorsFor(inputs)
      },
      { maximumBatchTexts: 1 },
    )
    await expect(embed(embedder, ['text 1', 'text 2'], 'document', left.signal)).rejects.toThrow()
    expect(calls).toHaveLength(1)
  })

  it('fail for an organisation that is gone, and for vectors that are too short', async () => {
    const gone = await startUpstream(vectorsFor, { organisation: () => undefined })
    const refused = await embed(gone.embedder, ['text']).catch((error: unknown) => error)
    expect(isAppError(refused, 'organisation_not_found')).toBe(true)
    const short = await startUpstream(vectorsFor, { dimensions: 8 })
    const failed = await waitedMs(short.clock, embed(short.embedder, ['text'])).catch((error: unknown) => error)
    expect(isAppError(failed, 'upstream_error')).toBe(true)
  })

  const recordings = sharedDataFolder('wire', 'openai', 'embeddings')
  it.skipIf(!recordings).each(['single-float.json', 'base64.json'])('replay what OpenAI sent (%s)', async (file) => {
    const body = readFileSync(path.join(recordings!, file))
    const { embedder } = await startUpstream(() => ({ status: 200, body }), { dimensions: 1536 })
    const [vector] = await embed(embedder, ['hello'])
    expect(vector).toHaveLength(1536)
    expect(vector!.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 3)
    const cut = await startUpstream(() => ({ status: 200, body }), { dimensions: 256 })
    const [short] = await embed(cut.embedder, ['hello'])
    expect(short!.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 5)
  })
})
