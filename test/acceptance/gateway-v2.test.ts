import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { loadCompatibleSchemas } from '../harness/openapi-schemas.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../upstream/upstream.ts'

/** `/v2/gateway` over HTTP, in front of one scripted host of the compatible API that also ranks documents. */

let portico: TestPortico
let upstream: Upstream
let organisation: TestOrganisation
let reply: (body: Record<string, unknown>) => UpstreamReply
const schemas = loadCompatibleSchemas()
const json = { 'content-type': 'application/json', connection: 'close' }
const eventStream = { 'content-type': 'text/event-stream', connection: 'close' }
const usage = { prompt_tokens: 90, completion_tokens: 12, total_tokens: 102 }
const messages = [{ role: 'user', content: 'How is the weather in Basel?' }]
const tools = [
  {
    type: 'function',
    function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  },
]
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Basel"}' } }

const answer = (message: object, finish_reason = 'stop'): UpstreamReply => ({
  headers: json,
  body: JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'wire',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
    usage,
  }),
})

const stream = (deltas: object[], finish_reason = 'stop'): UpstreamReply => ({
  headers: eventStream,
  body: [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason }] },
    { choices: [], usage },
  ]
    .map(
      (chunk) =>
        `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'wire', ...chunk })}\n\n`,
    )
    .join('')
    .concat('data: [DONE]\n\n'),
})

beforeAll(async () => {
  upstream = await startUpstream(({ body }) => reply(JSON.parse(body) as Record<string, unknown>))
  const provider = { baseUrl: `${upstream.url}/v1`, apiKey: 'sk-test', models: 'declared' }
  const deployments = (...providers: string[]) =>
    providers.map((name) => ({ provider: name, prices: { input: '1', output: '2' } }))
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        { ...provider, id: 'host', flavour: 'openai', hosting: 'us' },
        { ...provider, id: 'host-eu', flavour: 'openai', hosting: 'eu' },
        { ...provider, id: 'local', format: 'ollama', baseUrl: upstream.url, hosting: 'us' },
        { ...provider, id: 'ranker', format: 'cohere', baseUrl: upstream.url, hosting: 'us' },
      ],
      models: [
        {
          id: 'chatty',
          kind: 'chat',
          contextTokens: 100_000,
          maxOutputTokens: 4_000,
          deployments: deployments('host', 'host-eu'),
        },
        {
          id: 'plain',
          kind: 'chat',
          contextTokens: 8_000,
          deployments: [{ ...deployments('host')[0], traits: { tools: false } }],
        },
        { id: 'embed', kind: 'embedding', dimensions: 4, contextTokens: 8_000, deployments: deployments('host') },
        {
          id: 'embed-local',
          kind: 'embedding',
          dimensions: 4,
          contextTokens: 8_000,
          deployments: deployments('local'),
        },
        { id: 'rank', kind: 'rerank', contextTokens: 4_000, deployments: deployments('ranker') },
      ],
    },
  })
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})
beforeEach(async () => {
  organisation = await portico.createOrganisation({ markupPercent: 10 })
})

const post = (path: string, body: object) => organisation.client('POST', `/v2/gateway${path}`, body)
const complete = (fields: object) => post('/chat/completions', { model: 'chatty', messages, ...fields })
const lastBody = () => JSON.parse(upstream.requests.at(-1)!.body) as Record<string, unknown>

function expectSchema(name: string, value: unknown) {
  if (schemas) expect(schemas(name, value)).toEqual([])
}

function chunksOf(text: unknown) {
  const frames = String(text).split('\n\n').filter(Boolean)
  expect(frames.at(-1)).toBe('data: [DONE]')
  // oxlint-disable-next-line typescript/no-explicit-any
  const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame.slice('data: '.length)) as any)
  for (const chunk of chunks) expectSchema('CreateChatCompletionStreamResponse', chunk)
  return chunks
}

/** No hold is open, and the totals of the ledger match. */
async function expectClean() {
  const budget = expectStatus(await portico.operator('GET', `/api/organisations/${organisation.id}/budget`), 200)
  expect(budget.heldUsd).toMatch(/^0(\.0+)?$/)
  expect(expectStatus(await portico.operator('GET', '/api/audit'), 200)).toMatchObject({ ok: true, findings: [] })
}

describe('GET /v2/gateway/models', () => {
  it('lists models of every kind with limits, what they can do, and prices with markup', async () => {
    const { data } = expectStatus(await organisation.client('GET', '/v2/gateway/models'), 200)
    const byId = new Map(data.map((model: { id: string }) => [model.id, model]))
    expect(byId.get('eu/chatty')).toMatchObject({
      kind: 'chat',
      limits: { context_tokens: 100_000, max_output_tokens: 4_000, dimensions: null },
      prices: { input_usd_per_million: '1.1', output_usd_per_million: '2.2' },
    })
    expect(byId.get('chatty')).toMatchObject({ capabilities: expect.arrayContaining(['tools']) as object })
    expect((byId.get('plain') as { capabilities: string[] }).capabilities).not.toContain('tools')
    expect(byId.get('embed')).toMatchObject({ kind: 'embedding', limits: { dimensions: 4 } })
    expect(byId.get('rank')).toMatchObject({ kind: 'rerank' })
    expectSchema('ListModelsResponse', { object: 'list', data })
    expect(expectStatus(await organisation.client('GET', '/v2/gateway/models/eu/chatty'), 200).id).toBe('eu/chatty')
    expectStatus(await organisation.client('GET', '/v2/gateway/models/none'), 404)
  })

  it.each<[string, object?]>([
    ['/models/none'],
    ['/anthropic/v1/models/none'],
    ['/chat/completions', { messages }],
    ['/responses', { input: 'x' }],
    ['/embeddings', { input: 'x' }],
    ['/rerank', { query: 'x', documents: ['y'] }],
    ['/anthropic/v1/messages', { max_tokens: 10, messages }],
    ['/anthropic/v1/messages/count_tokens', { messages }],
  ])('is the list that %s names for a model that does not exist', async (path, body) => {
    const answer = body
      ? await post(path, { model: 'none', ...body })
      : await organisation.client('GET', `/v2/gateway${path}`)
    expect(expectStatus(answer, 404).error.message).toContain('GET /v2/gateway/models lists the models')
  })

  it('is closed to organisations without the gateway', async () => {
    organisation = await portico.createOrganisation({ gatewayEnabled: false })
    expectStatus(await organisation.client('GET', '/v2/gateway/models'), 403)
    expectStatus(await complete({}), 403)
    expectStatus(await post('/embeddings', { model: 'embed', input: 'x' }), 403)
    expectStatus(await post('/rerank', { model: 'rank', query: 'x', documents: ['y'] }), 403)
  })
})

describe('POST /v2/gateway/chat/completions', () => {
  it('passes tools to the provider and its calls back', async () => {
    reply = () => answer({ tool_calls: [call] }, 'tool_calls')
    const answered = await complete({ tools, tool_choice: 'auto' })
    const body = expectStatus(answered, 200)
    expectSchema('CreateChatCompletionResponse', body)
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [call] },
    })
    expect(body.model).toBe('chatty')
    expect(answered.headers.get('x-portico-hosting')).toBe('us')
    expect(lastBody()).toMatchObject({ tool_choice: 'auto', tools: [{ function: tools[0]!.function }] })
    await expectClean()
  })

  it('passes results of tools to the provider', async () => {
    reply = () => answer({ content: 'Sunny.' })
    const turns = [
      ...messages,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'sun' },
    ]
    expect(
      expectStatus(await complete({ model: 'eu/chatty', tools, messages: turns }), 200).choices[0].message.content,
    ).toBe('Sunny.')
    expect(lastBody().messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'sun' },
    ])
  })

  it('streams calls: id and name first, then the arguments as they come', async () => {
    reply = () =>
      stream(
        [
          { role: 'assistant', tool_calls: [{ index: 0, ...call, function: { name: 'weather', arguments: '' } }] },
          { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] },
          { tool_calls: [{ index: 0, function: { arguments: '"Basel"}' } }] },
        ],
        'tool_calls',
      )
    const { body } = await complete({ tools, stream: true, stream_options: { include_usage: true } })
    const chunks = chunksOf(body)
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
    expect(deltas).toEqual([
      { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } },
      { index: 0, function: { arguments: '{"city":' } },
      { index: 0, function: { arguments: '"Basel"}' } },
    ])
    expect(chunks.at(-2).choices[0].finish_reason).toBe('tool_calls')
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 90, completion_tokens: 12 } })
    await expectClean()
  })

  it('has reasoning in its own field, whole and streamed, and takes it back', async () => {
    reply = () => answer({ content: 'Sunny.', reasoning_content: 'I look outside.' })
    const { message } = expectStatus(await complete({}), 200).choices[0]
    expect(message).toMatchObject({ content: 'Sunny.', reasoning_content: 'I look outside.' })
    expect(expectStatus(await complete({ reasoning: { exclude: true } }), 200).choices[0].message).not.toHaveProperty(
      'reasoning_content',
    )
    reply = () => stream([{ reasoning_content: 'I look ' }, { reasoning_content: 'outside.' }, { content: 'Sunny.' }])
    const chunks = chunksOf((await complete({ stream: true })).body)
    expect(chunks.map((chunk) => chunk.choices[0].delta.reasoning_content ?? '').join('')).toBe('I look outside.')
  })

  it('answers requests with functions in their older form', async () => {
    reply = () => answer({ tool_calls: [call] }, 'tool_calls')
    const older = { functions: [tools[0]!.function] }
    const [choice] = expectStatus(await complete(older), 200).choices
    expect(choice).toMatchObject({ finish_reason: 'function_call', message: { function_call: call.function } })
    reply = () => stream([{ tool_calls: [{ index: 0, ...call }] }], 'tool_calls')
    const chunks = chunksOf((await complete({ ...older, stream: true })).body)
    const calls = chunks.map((chunk) => chunk.choices[0].delta.function_call?.arguments ?? '')
    expect(calls.join('')).toBe('{"city":"Basel"}')
    expect(chunks.at(-1).choices[0].finish_reason).toBe('function_call')
  })

  it('refuses what no deployment can do with the field and models that can', async () => {
    const { body } = await complete({ model: 'plain', tools })
    expect(body.error).toMatchObject({ code: 'unsupported_parameter', param: 'tools' })
    expect(body.error.message).toMatch(/`plain` does not support tools.*`chatty`/)
    const answered = await complete({ model: 'plain', temperature: 3 })
    expect(answered).toMatchObject({ status: 400, body: { error: { param: 'temperature' } } })
    await expectClean()
  })

  it('names ignored fields, and bodies of every size and form have the same result', async () => {
    reply = () => answer({ content: 'Sunny.' })
    for (const padding of [0, 20_000, 100_000, 3_000_000]) {
      const answered = await complete({ tools, unknown_field: { deep: ['x'.repeat(padding)] } })
      expectStatus(answered, 200)
      expect(answered.headers.get('x-ignored-params')).toBe('unknown_field')
      expect(lastBody().tools).toHaveLength(1)
    }
  })

  it.each([
    [
      'a schema of a megabyte',
      { tools: [{ type: 'function', function: { name: 'f', parameters: { description: 'x'.repeat(2 ** 20) } } }] },
      'tools',
    ],
    [
      'a body of a thousand levels',
      {
        tools: [
          {
            type: 'function',
            function: {
              name: 'f',
              parameters: JSON.parse(`${'{"items":'.repeat(1_000)}{}${'}'.repeat(1_000)}`) as object,
            },
          },
        ],
      },
      'tools',
    ],
    [
      'a deep unknown field',
      { extra: JSON.parse(`${'['.repeat(1_500)}${']'.repeat(1_500)}`) as object, temperature: 9 },
      'extra',
    ],
    [
      '1,001 tools',
      { tools: Array.from({ length: 1_001 }, (_, index) => ({ type: 'function', function: { name: `f${index}` } })) },
      'tools',
    ],
    [
      '30 MB of base64',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(30 * 2 ** 20)}` } }],
          },
        ],
      },
      'messages',
    ],
    ['a result without a call', { messages: [{ role: 'tool', tool_call_id: 'x', content: 'y' }] }, 'messages'],
  ])('refuses %s with its field, and stays alive', async (_name, fields, param) => {
    const { status, body } = await complete(fields)
    expect({ status, code: body.error.type }).toEqual({ status: 400, code: 'invalid_request_error' })
    expect(body.error.param).toMatch(new RegExp(`^${param}`))
    expectStatus(await organisation.client('GET', '/livez'), 200)
  })

  it('bills a stream that its client leaves for what was generated, once', async () => {
    let go = () => {}
    const until = new Promise<void>((resolve) => (go = resolve))
    const whole = stream([{ tool_calls: [{ index: 0, ...call }] }, { content: 'never read' }], 'tool_calls')
    reply = () => ({ ...whole, holdAt: { bytes: 300, until } })
    const client = new AbortController()
    const response = await fetch(`${portico.url}/v2/gateway/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chatty', messages, tools, stream: true }),
      signal: client.signal,
    })
    await response.body!.getReader().read()
    const index = upstream.requests.length - 1
    client.abort()
    await upstream.aborted(index)
    go()
    const receiptOf = () => portico.operator('GET', `/api/usage/${response.headers.get('x-request-id')}`)
    await expect.poll(async () => (await receiptOf()).body.ending).toBe('client_closed')
    expect(Number(expectStatus(await receiptOf(), 200).billedUsd)).toBeGreaterThan(0)
    await expectClean()
  })
})

describe('POST /v2/gateway/embeddings', () => {
  const vectors = (input: unknown[]) =>
    input.map((_, index) => ({ object: 'embedding', index, embedding: [index, 0.5, -1, 0.1] }))
  const embedding = (body: Record<string, unknown>): UpstreamReply => ({
    headers: json,
    body: JSON.stringify({
      object: 'list',
      data: vectors([body.input].flat()),
      usage: { prompt_tokens: 8, total_tokens: 8 },
    }),
  })

  it.each([
    ['a text', 'hello', ['hello']],
    ['texts', ['hello', 'hi'], ['hello', 'hi']],
    ['the tokens of a text', [1, 2, 3], [[1, 2, 3]]],
    ['tokens of several texts', [[8134], [9642]], [[8134], [9642]]],
  ])('embeds %s', async (_name, input, sent) => {
    reply = (body) => {
      const inputs = body.input as unknown[]
      return { headers: json, body: JSON.stringify({ data: vectors(inputs), usage: { prompt_tokens: 8 } }) }
    }
    const answered = await post('/embeddings', { model: 'embed', input, dimensions: 4 })
    const body = expectStatus(answered, 200)
    expectSchema('CreateEmbeddingResponse', body)
    expect(lastBody()).toMatchObject({ input: sent, dimensions: 4 })
    expect(body.data).toHaveLength(sent.length)
    expect(body.data[0].embedding.map(Math.fround)).toEqual([0, 0.5, -1, Math.fround(0.1)])
    expect(body.usage).toEqual({ prompt_tokens: 8, total_tokens: 8 })
    const receipt = expectStatus(
      await portico.operator('GET', `/api/usage/${answered.headers.get('x-request-id')}`),
      200,
    )
    expect(receipt).toMatchObject({ surface: 'gateway', usage: { promptTokens: 8 }, billedUsd: '0.0000088' })
    await expectClean()
  })

  it('encodes vectors as base64', async () => {
    reply = embedding
    const { data } = expectStatus(
      await post('/embeddings', { model: 'embed', input: 'x', encoding_format: 'base64' }),
      200,
    )
    const bytes = Buffer.from(data[0].embedding, 'base64')
    expect([0, 4, 8, 12].map((at) => bytes.readFloatLE(at))).toEqual([0, 0.5, -1, Math.fround(0.1)])
  })

  it.each([
    ['no input', {}, 'input'],
    ['an empty text', { input: ['a', ''] }, 'input[1]'],
    ['mixed inputs', { input: ['a', 1] }, 'input[1]'],
    ['a negative token', { input: [[1, -1]] }, 'input[0][1]'],
    ['2,049 texts', { input: Array.from({ length: 2_049 }, () => 'x') }, 'input'],
    ['an unknown format', { input: 'x', encoding_format: 'hex' }, 'encoding_format'],
    ['tokens for a host of texts', { model: 'embed-local', input: [1, 2] }, 'input'],
  ])('refuses %s with its field', async (_name, fields, param) => {
    const { status, body } = await post('/embeddings', { model: 'embed', ...fields })
    expect({ status, param: body.error.param }).toEqual({ status: 400, param })
  })

  it('refuses models of other kinds, and organisations without a subscription or credits', async () => {
    expect(await post('/embeddings', { model: 'chatty', input: 'x' })).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found' } },
    })
    organisation = await portico.createOrganisation({ subscription: { status: 'cancelled' } })
    expect(await post('/embeddings', { model: 'embed', input: 'x' })).toMatchObject({
      status: 402,
      body: { error: { code: 'subscription_required' } },
    })
    organisation = await portico.createOrganisation({ monthlyBudgetUsd: '0' })
    expect(await post('/embeddings', { model: 'embed', input: 'x' })).toMatchObject({
      status: 402,
      body: { error: { code: 'insufficient_quota' } },
    })
  })
})

describe('POST /v2/gateway/rerank', () => {
  it('ranks texts and objects with a text, the best first', async () => {
    reply = ({ documents }) => ({
      headers: json,
      body: JSON.stringify({
        results: (documents as string[]).map((text, index) => ({ index, relevance_score: text.length / 10 })),
        meta: { billed_units: { search_units: 1 } },
      }),
    })
    const documents = ['a', { text: 'abc', title: 'ignored' }, 'ab']
    const answered = await post('/rerank', { model: 'rank', query: 'q', documents, top_n: 2, return_documents: true })
    const body = expectStatus(answered, 200)
    expect(body).toMatchObject({ model: 'rank', id: expect.stringMatching(/^rerank-/) as string })
    expect(body.results).toEqual([
      { index: 1, relevance_score: 0.3, document: { text: 'abc' } },
      { index: 2, relevance_score: 0.2, document: { text: 'ab' } },
    ])
    expect(answered.headers.get('x-ignored-params')).toBe('documents.title')
    await expectClean()
  })

  it.each([
    ['no documents', { documents: [] }, 'documents'],
    ['a document without a text', { documents: [{ title: 'x' }] }, 'documents[0].text'],
    ['no query', { query: undefined }, 'query'],
    ['1,001 documents', { documents: Array.from({ length: 1_001 }, () => 'x') }, 'documents'],
  ])('refuses %s with its field', async (_name, fields, param) => {
    const { status, body } = await post('/rerank', { model: 'rank', query: 'q', documents: ['x'], ...fields })
    expect({ status, param: body.error.param }).toEqual({ status: 400, param })
  })
})
