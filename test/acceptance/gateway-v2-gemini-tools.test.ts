import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { stagePrices } from '../harness/gateway-stage.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { startUpstream, type Upstream, type UpstreamReply, type UpstreamRequest } from '../upstream/upstream.ts'

/** Tools that Google runs, for clients of each API: what leaves, the sources, what they cost. */

const text = 'In Zürich scheint die Sonne.'
const source = { url: 'https://example.org/', title: 'W' }
let queries: string[]

const candidate = () => ({
  index: 0,
  finishReason: 'STOP',
  content: { role: 'model', parts: [{ text }] },
  groundingMetadata: {
    webSearchQueries: queries,
    groundingChunks: [{ web: { uri: source.url, title: source.title } }],
    groundingSupports: [{ segment: { startIndex: 3, endIndex: 10 }, groundingChunkIndices: [0] }],
  },
  urlContextMetadata: {
    urlMetadata: [{ retrievedUrl: 'https://example.org/a', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' }],
  },
})
const usageMetadata = { promptTokenCount: 600, toolUsePromptTokenCount: 400, candidatesTokenCount: 100 }

function answer({ path }: UpstreamRequest): UpstreamReply {
  const value = { candidates: [candidate()], usageMetadata }
  if (!path.includes(':streamGenerateContent'))
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
  return { headers: { 'content-type': 'text/event-stream' }, body: `data: ${JSON.stringify(value)}\n\n` }
}

let upstream: Upstream
let portico: TestPortico
let organisation: TestOrganisation

beforeAll(async () => {
  upstream = await startUpstream(answer)
  const perThousandUses = { web_search: '14', web_fetch: '0', code_execution: '0' }
  const model = (id: string, provider: string, wireId: string, prices: object = { perThousandUses }) => ({
    id,
    contextTokens: 10_000,
    maxOutputTokens: 4_000,
    deployments: [{ provider, wireId, prices: { ...stagePrices, ...prices } }],
  })
  const provider = { format: 'gemini', baseUrl: upstream.url, apiKey: 'key', models: 'declared' }
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        { id: 'google', hosting: 'us', ...provider },
        { id: 'google-eu', hosting: 'eu', ...provider },
      ],
      models: [
        model('newer', 'google', 'gemini-3.5-flash'),
        model('older', 'google', 'gemini-2.5-flash'),
        model('unpriced', 'google', 'gemini-3.5-flash', {}),
        model('in-eu', 'google-eu', 'gemini-3.5-flash'),
      ],
    },
  })
  organisation = await portico.createOrganisation()
})
beforeEach(() => {
  queries = ['weather Zürich', '', 'sun Zürich']
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})

const messages = [{ role: 'user', content: 'Weather?' }]
const post = (path: string, body: object) => organisation.client('POST', `/v2/gateway/${path}`, body)
const chat = (model: string, fields: object) => post('chat/completions', { model, messages, ...fields })
const receiptOf = async (answered: { headers: Headers }) =>
  expectStatus(await portico.operator('GET', `/api/usage/${answered.headers.get('x-request-id')}`), 200)
const sentTools = () => (JSON.parse(upstream.requests.at(-1)!.body) as { tools: object[] }).tools
const refusal = async (answered: Promise<{ status: number; body: { error?: unknown } }>) => {
  const { status, body } = await answered
  expect(status).toBe(400)
  return body.error
}
const citation = { ...source, start_index: 3, end_index: 9 }
/** 1,000 tokens at 1 and 100 at 2 millionths of a dollar, and two queries. */
const billed = { billedUsd: '0.0292', toolUses: [{ kind: 'web_search', uses: 2, unitPriceUsd: '0.014' }] }

describe('a search of Google', () => {
  it('serves web_search_options of chat completions, whole and streamed, with its sources', async () => {
    const whole = await chat('newer', { web_search_options: {} })
    const { choices } = expectStatus(whole, 200) as { choices: { message: object }[] }
    expect(choices[0]!.message).toMatchObject({
      content: text,
      annotations: [{ type: 'url_citation', url_citation: citation }],
    })
    expect(sentTools()).toEqual([{ googleSearch: {} }])
    const streamed = await chat('newer', { web_search_options: {}, stream: true })
    expect(String(expectStatus(streamed, 200))).toContain(JSON.stringify(citation.url))
    for (const answered of [whole, streamed])
      expect(await receiptOf(answered)).toMatchObject({ ...billed, costBasis: 'billed_units', rawUsage: usageMetadata })
    expect(expectStatus(await portico.operator('GET', '/api/audit'), 200)).toMatchObject({ findings: [] })
  })

  it('serves web_search of the Responses API', async () => {
    const answered = await post('responses', { model: 'newer', input: 'Weather?', tools: [{ type: 'web_search' }] })
    const { output } = expectStatus(answered, 200) as { output: { content: object[] }[] }
    expect(output.at(-1)!.content[0]).toMatchObject({ text, annotations: [{ type: 'url_citation', ...citation }] })
    expect(sentTools()).toEqual([{ googleSearch: {} }])
    expect(await receiptOf(answered)).toMatchObject(billed)
  })

  it('serves web_search of the Messages API', async () => {
    const tool = { type: 'web_search_20250305', name: 'web_search', max_uses: 4 }
    const answered = await post('anthropic/v1/messages', { model: 'newer', max_tokens: 500, messages, tools: [tool] })
    expect(expectStatus(answered, 200)).toMatchObject({
      content: [
        { type: 'text', text, citations: [{ type: 'web_search_result_location', ...source, cited_text: 'Zürich' }] },
      ],
      usage: { server_tool_use: { web_search_requests: 2 } },
    })
    expect(sentTools()).toEqual([{ googleSearch: {} }])
    expect(await receiptOf(answered)).toMatchObject(billed)
  })

  it('is billed once for an answer of an older model', async () => {
    const answered = await chat('older', { web_search_options: {} })
    expect(await receiptOf(answered)).toMatchObject({ billedUsd: '0.0152', toolUses: [{ uses: 1 }] })
  })

  it('is not billed beyond the limit of the request, which the hold covers', async () => {
    queries = Array.from({ length: 12 }, (_, index) => `query ${index}`)
    expect(await receiptOf(await chat('newer', { web_search_options: {} }))).toMatchObject({ toolUses: [{ uses: 10 }] })
    const fields = { model: 'newer', input: 'Weather?', tools: [{ type: 'web_search' }], max_tool_calls: 3 }
    expect(await receiptOf(await post('responses', fields))).toMatchObject({ toolUses: [{ uses: 3 }] })
  })

  it('is refused with the field where it has no place for what the client asks', async () => {
    const sent = upstream.requests.length
    const location = { type: 'approximate', approximate: { country: 'CH' } }
    expect(await refusal(chat('newer', { web_search_options: { user_location: location } }))).toMatchObject({
      param: 'web_search_options',
    })
    const filtered = { type: 'web_search', filters: { allowed_domains: ['example.org'] } }
    expect(await refusal(post('responses', { model: 'newer', input: 'Hi', tools: [filtered] }))).toMatchObject({
      param: 'tools',
    })
    const tool = { type: 'function', function: { name: 'weather' } }
    expect(await refusal(chat('newer', { web_search_options: {}, tools: [tool] }))).toMatchObject({ param: 'tools' })
    expect(await refusal(chat('unpriced', { web_search_options: {} }))).toMatchObject({
      message: expect.stringContaining('perThousandUses.web_search') as string,
    })
    expect(await refusal(chat('eu/in-eu', { web_search_options: {} }))).toMatchObject({ param: 'web_search_options' })
    expect(upstream.requests).toHaveLength(sent)
  })
})

describe('tools of Google in its own form', () => {
  it('leave as they are, and cost their tokens', async () => {
    queries = []
    const tools = [{ url_context: {} }, { codeExecution: {} }]
    const answered = await chat('newer', { tools })
    expectStatus(answered, 200)
    expect(sentTools()).toEqual([{ urlContext: {} }, { codeExecution: {} }])
    expect(await receiptOf(answered)).toMatchObject({ billedUsd: '0.0012', toolUses: [{ kind: 'web_fetch', uses: 1 }] })
  })

  it('are refused by name where they are not known or not alone', async () => {
    expect(await refusal(chat('newer', { tools: [{ googleMaps: {} }] }))).toMatchObject({ param: 'tools[0].type' })
    expect(await refusal(chat('newer', { tools: [{ google_search: {}, url_context: {} }] }))).toMatchObject({
      param: 'tools[0]',
    })
  })
})
