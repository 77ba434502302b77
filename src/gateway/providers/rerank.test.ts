import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startUpstream, type Upstream } from '../../../test/upstream/upstream.ts'
import { createProvider, type Provider, ProviderError, type ProviderSettings } from './index.ts'

/** Answers in the shapes that the providers document; each test names its page. */

let upstream: Upstream
const providers: Provider[] = []
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(async () => {
  for (const provider of providers) await provider.close()
  await upstream.close()
})

const json = { 'content-type': 'application/json' }
const documents = [
  'Carson City is a capital.',
  'Saipan is a capital.',
  'Washington, D.C. is the capital of the United States.',
]
const query = 'What is the capital of the United States?'

function connect(settings: Omit<ProviderSettings, 'id'>): Provider {
  const provider = createProvider({ id: 'test', apiKey: 'sk-secret-of-this-test', ...settings })
  providers.push(provider)
  return provider
}

function call(fields: { documents?: string[]; signal?: AbortSignal } = {}) {
  return {
    model: { id: 'rerank-1', baseModel: 'rerank-1', acceptsTemperature: false, reasoning: false, maxOutputTokens: 0 },
    query,
    documents,
    signal: AbortSignal.timeout(20_000),
    requestId: 'req_test',
    ...fields,
  }
}

/** What the provider makes of one answer, and the request that it sent. */
async function rerankWith(settings: Omit<ProviderSettings, 'id' | 'baseUrl'>, body: string, status = 200, path = '') {
  const before = upstream.requests.length
  upstream.script(() => ({ status, headers: json, body }))
  const answer = await connect({ ...settings, baseUrl: upstream.url + path }).rerank!(call()).catch(
    (error: unknown) => error,
  )
  const request = upstream.requests[before]!
  return { answer, path: request.path, headers: request.headers, sent: JSON.parse(request.body) as unknown }
}

describe('a rerank request', () => {
  it('of Cohere has the documents as texts, and its answer states search units (docs.cohere.com/reference/rerank)', async () => {
    const results = [
      { index: 2, relevance_score: 0.999071 },
      { index: 1, relevance_score: 0.7867867 },
      { index: 0, relevance_score: 0.32713068 },
    ]
    const meta = { api_version: { version: '2', is_experimental: false }, billed_units: { search_units: 1 } }
    const body = JSON.stringify({ results, id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf', meta })
    expect(await rerankWith({ format: 'cohere' }, body)).toMatchObject({
      path: '/v2/rerank',
      headers: { authorization: 'Bearer sk-secret-of-this-test' },
      sent: { model: 'rerank-1', query, documents },
      answer: { scores: [0.32713068, 0.7867867, 0.999071], promptTokens: null, searchUnits: 1 },
    })
  })

  it('of Jina does not ask for the texts back, and its answer states tokens (api.jina.ai/redoc)', async () => {
    const body = JSON.stringify({
      model: 'jina-reranker-v2-base-multilingual',
      object: 'list',
      usage: { total_tokens: 815, prompt_tokens: 815 },
      results: [
        { index: 0, relevance_score: 0.8783142566680908, document: { text: documents[0] } },
        { index: 2, relevance_score: 0.7624675869941711 },
        { index: 1, relevance_score: -0.02 },
      ],
    })
    expect(await rerankWith({ format: 'openai', flavour: 'jina' }, body, 200, '/v1')).toMatchObject({
      path: '/v1/rerank',
      headers: { authorization: 'Bearer sk-secret-of-this-test' },
      sent: { model: 'rerank-1', query, documents, return_documents: false },
      answer: { scores: [0.8783142566680908, -0.02, 0.7624675869941711], promptTokens: 815, searchUnits: null },
    })
  })

  it('of Voyage lets it cut long texts, and its answer has the list in `data` (docs.voyageai.com/reference/reranker-api)', async () => {
    const body = JSON.stringify({
      object: 'list',
      data: [
        { relevance_score: 0.4375, index: 0 },
        { relevance_score: 0.421875, index: 1 },
        { relevance_score: 0.40625, index: 2 },
      ],
      model: 'rerank-2.5',
      usage: { total_tokens: 26 },
    })
    expect(await rerankWith({ format: 'openai', flavour: 'voyage' }, body, 200, '/v1')).toMatchObject({
      path: '/v1/rerank',
      sent: { model: 'rerank-1', query, documents, return_documents: false, truncation: true },
      answer: { scores: [0.4375, 0.421875, 0.40625], promptTokens: 26, searchUnits: null },
    })
  })

  it('of Text Embeddings Inference has no model and a list as its answer (its OpenAPI document)', async () => {
    const body = JSON.stringify([
      { index: 1, score: 0.9 },
      { index: 0, score: 1.5e-5 },
      { index: 2, score: 0 },
    ])
    expect(await rerankWith({ format: 'openai', flavour: 'tei' }, body, 200, '/v1')).toMatchObject({
      path: '/rerank',
      sent: { query, texts: documents, truncate: true, return_text: false },
      answer: { scores: [1.5e-5, 0.9, 0], promptTokens: null, searchUnits: null },
    })
  })

  it('with more documents than the host accepts is split, and the parts are reported as they arrive', async () => {
    upstream.script(({ body }) => {
      const { texts } = JSON.parse(body) as { texts: string[] }
      const ranks = texts.map((text, index) => ({ index, score: Number(text) })).toReversed()
      return { headers: json, body: JSON.stringify(ranks) }
    })
    const texts = Array.from({ length: 70 }, (_, index) => String(index))
    const parts: number[] = []
    const before = upstream.requests.length
    const answer = await connect({ format: 'openai', flavour: 'tei', baseUrl: upstream.url }).rerank!({
      ...call({ documents: texts }),
      onPart: ({ scores }) => parts.push(scores.length),
    })
    expect(answer.scores).toEqual(texts.map(Number))
    expect(parts).toEqual([32, 64, 70])
    expect(upstream.requests.length - before).toBe(3)
  })

  it('is not possible at a host without an endpoint for it', () => {
    expect(connect({ format: 'openai', baseUrl: 'https://api.openai.com/v1' }).rerank).toBeUndefined()
    expect(connect({ format: 'anthropic' }).rerank).toBeUndefined()
  })
})

describe('an answer of a rerank endpoint', () => {
  const ranks = (indexes: unknown[], score: unknown = 0.5) =>
    JSON.stringify({ results: indexes.map((index) => ({ index, relevance_score: score })) })
  it.each([
    ['fewer scores than documents', ranks([0, 1])],
    ['more scores than documents', ranks([0, 1, 2, 2])],
    ['a document twice', ranks([0, 1, 1])],
    ['an index beyond the documents', ranks([0, 1, 3])],
    ['an index that is no number', ranks([0, 1, '2'])],
    ['a score that is no number', ranks([0, 1, 2], 'high')],
    ['no score', ranks([0, 1, 2], null)],
    ['NaN, which is no JSON', '{"results":[{"index":0,"relevance_score":NaN}]}'],
    ['a score beyond every number', ranks([0, 1, 2]).replaceAll('0.5', '1e999')],
    ['no list', '{"results":"everything"}'],
    ['half of its bytes', ranks([0, 1, 2]).slice(0, 40)],
    ['nothing', ''],
  ])('with %s is a failure', async (_name, body) => {
    for (const settings of [{ format: 'cohere' }, { format: 'openai', flavour: 'jina' }] as const) {
      const { answer } = await rerankWith(settings, body)
      expect(answer).toBeInstanceOf(ProviderError)
      expect(answer).toMatchObject({ errorClass: 'connection', retryable: false })
    }
  })

  it('that is larger than the limit is a failure', async () => {
    const body = JSON.stringify({ results: [], padding: 'x'.repeat(10_000) })
    const limits = { maximumResponseBytes: 2_048 }
    const { answer } = await rerankWith({ format: 'cohere', limits }, body)
    expect(answer).toMatchObject({ errorClass: 'connection' })
  })

  it.each([
    [429, { message: 'slow down, sk-secret-of-this-test' }, 'rate_limit'],
    [401, { message: 'invalid api token sk-secret-of-this-test' }, 'authentication'],
    [500, { message: 'sk-secret-of-this-test broke' }, 'server_error'],
    [422, { error: 'Tokenization error', error_type: 'tokenizer' }, 'invalid_request'],
    [424, { error: 'Inference failed', error_type: 'backend' }, 'invalid_request'],
  ])('with status %i has a class and no key in its message', async (status, error, errorClass) => {
    for (const settings of [{ format: 'cohere' }, { format: 'openai', flavour: 'tei' }] as const) {
      const { answer } = await rerankWith(settings, JSON.stringify(error), status)
      expect(answer).toMatchObject({ errorClass, status })
      expect(String(answer)).not.toContain('sk-secret')
    }
  })

  it('that is an error inside HTTP 200 is that error', async () => {
    const body = '{"error":{"message":"The model is overloaded","type":"server_error","code":503}}'
    const { answer } = await rerankWith({ format: 'openai', flavour: 'vllm' }, body)
    expect(answer).toBeInstanceOf(ProviderError)
    expect(String(answer)).toContain('overloaded')
  })
})
