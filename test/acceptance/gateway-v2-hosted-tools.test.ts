import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { stagePrices } from '../harness/gateway-stage.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { messageAnswer, messageStream } from '../upstream/messages-replies.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../upstream/upstream.ts'

/** Tools that a provider runs: what leaves, what comes back, what they cost. */

const perThousandUses = { web_search: '10', web_fetch: '0', mcp: '0', tool_search: '0' }
const wireId = 'claude-sonnet-4-6'

let upstream: Upstream
let portico: TestPortico
let organisation: TestOrganisation
let content: Record<string, unknown>[]
let usage: Record<string, unknown>

/** Items and usage of a host of the Responses API. */
const found = [
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'weather' } },
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [
      {
        type: 'output_text',
        text: 'It rains.',
        annotations: [{ type: 'url_citation', url: 'https://example.org/', title: 'W', start_index: 0, end_index: 9 }],
        logprobs: [],
      },
    ],
  },
]
const response = {
  id: 'resp_upstream',
  object: 'response',
  status: 'completed',
  error: null,
  output: found,
  usage: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 },
}

function responsesReply(stream: boolean | undefined): UpstreamReply {
  if (!stream) return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(response) }
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...found[0], status: 'in_progress' } },
    { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1', sequence_number: 99 },
    { type: 'response.output_item.done', output_index: 0, item: found[0] },
    { type: 'response.output_text.delta', output_index: 1, item_id: 'msg_1', content_index: 0, delta: 'It rains.' },
    { type: 'response.completed', response },
  ]
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  return { headers: { 'content-type': 'text/event-stream' }, body }
}

interface StreamEvent {
  type: string
  sequence_number: number
  response?: { output: object[] }
}

const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 2, allowed_domains: ['example.org'] }
const searched = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: 'https://example.org/', title: 'W', encrypted_content: 'e' }],
  },
  {
    type: 'text',
    text: 'It rains.',
    citations: [
      {
        type: 'web_search_result_location',
        url: 'https://example.org/',
        title: 'W',
        encrypted_index: 'i',
        cited_text: 'r',
      },
    ],
  },
]

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.script(({ body }) => {
    const { stream, input } = JSON.parse(body) as { stream?: boolean; input?: unknown }
    if (input !== undefined) return responsesReply(stream)
    return stream ? messageStream(content, { usage }) : messageAnswer(content, { usage })
  })
  const provider = { format: 'anthropic', apiKey: 'test-upstream-key', baseUrl: `${upstream.url}/v1` }
  const model = (id: string, providerId: string, prices: object, more: object = {}) => ({
    id,
    contextTokens: 10_000,
    deployments: [{ provider: providerId, wireId, prices, ...more }],
  })
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        { id: 'lab', hosting: 'us', ...provider },
        { id: 'lab-eu', hosting: 'eu', ...provider },
        {
          id: 'house',
          flavour: 'openai',
          models: 'declared',
          hosting: 'us',
          apiKey: 'k',
          baseUrl: `${upstream.url}/v1`,
        },
      ],
      models: [
        model('priced', 'lab', { ...stagePrices, perThousandUses }),
        model('priced-in-eu', 'lab-eu', { ...stagePrices, perThousandUses }),
        model('unpriced', 'lab', stagePrices),
        { ...model('searching', 'house', { ...stagePrices, perThousandUses }, { wireId: 'gpt-4.1' }) },
        { ...model('pro', 'house', stagePrices, { wireId: 'o3-pro' }) },
        model('dear-servers', 'lab', { ...stagePrices, perThousandUses: { mcp: '1' } }),
      ],
    },
  })
  organisation = await portico.createOrganisation()
})
beforeEach(() => {
  content = searched
  usage = {
    input_tokens: 1_000,
    output_tokens: 100,
    server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
  }
})
afterAll(async () => {
  await portico.stop()
  await upstream.close()
})

const ask = (model: string, fields: object = {}) =>
  organisation.client('POST', '/v2/gateway/anthropic/v1/messages', {
    model,
    max_tokens: 500,
    messages: [{ role: 'user', content: 'Weather?' }],
    tools: [search],
    ...fields,
  })
const receiptOf = async (answer: { headers: Headers }) =>
  expectStatus(await portico.operator('GET', `/api/usage/${answer.headers.get('x-request-id')}`), 200)
const lastBody = () => JSON.parse(upstream.requests.at(-1)!.body) as Record<string, unknown>

describe('a search of the provider on the Messages API', () => {
  it('leaves as it is, comes back as it is, and is billed by the count of the provider', async () => {
    const answer = await ask('priced')
    expect(expectStatus(answer, 200)).toMatchObject({
      content: searched,
      usage: { server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 } },
    })
    expect(lastBody().tools).toEqual([search])
    // 1,000 tokens at 1 and 100 at 2 millionths of a dollar, and two searches at a cent
    expect(await receiptOf(answer)).toMatchObject({
      billedUsd: '0.0212',
      costBasis: 'billed_units',
      toolUses: [{ kind: 'web_search', uses: 2, unitPriceUsd: '0.01', costUsd: '0.02' }],
    })
    expect(expectStatus(await portico.operator('GET', '/api/audit'), 200)).toMatchObject({ findings: [] })
  })

  it('is streamed with its blocks and citations, at the same cost', async () => {
    const answer = await ask('priced', { stream: true })
    const text = String(expectStatus(answer, 200))
    for (const piece of ['server_tool_use', 'web_search_tool_result', 'encrypted_content', '"web_search_requests":2'])
      expect(text).toContain(piece)
    expect(await receiptOf(answer)).toMatchObject({ billedUsd: '0.0212', toolUses: [{ uses: 2 }] })
  })

  it('has a limit of uses, also if the client sets none', async () => {
    const { max_uses: _, ...unlimited } = search
    const answer = await ask('priced', { tools: [unlimited] })
    expectStatus(answer, 200)
    expect(lastBody().tools).toEqual([{ ...unlimited, max_uses: 5 }])
    expect(answer.headers.get('x-adjusted-params')).toContain('tools.max_uses')
  })

  it('is refused with the field and the reason before anything is sent', async () => {
    const sent = upstream.requests.length
    const refused = async (model: string, fields: object = {}) => (await ask(model, fields)).body.error
    expect(await refused('unpriced')).toMatchObject({
      message: expect.stringContaining('perThousandUses.web_search') as string,
    })
    expect(await refused('eu/priced-in-eu')).toMatchObject({ message: expect.stringContaining('web search') as string })
    expect(await refused('priced', { tools: [{ ...search, max_uses: 0 }] })).toMatchObject({
      message: expect.stringContaining('tools[0].max_uses') as string,
    })
    const container = { type: 'code_execution_20250825', name: 'code_execution' }
    expect(await refused('priced', { tools: [container] })).toMatchObject({
      message: expect.stringContaining('perThousandUses.code_execution') as string,
    })
    expect(upstream.requests).toHaveLength(sent)
  })

  it('needs a budget for every round of the whole context', async () => {
    // Ten rounds of 10,000 tokens, 500 tokens of output and two searches: 0.1 + 0.001 + 0.02 dollars.
    for (const [monthlyBudgetUsd, status] of [
      ['0.115', 402],
      ['0.13', 200],
    ] as const) {
      const poor = await portico.createOrganisation({ monthlyBudgetUsd })
      const answer = await poor.client('POST', '/v2/gateway/anthropic/v1/messages', {
        model: 'priced',
        max_tokens: 500,
        messages: [{ role: 'user', content: 'Weather?' }],
        tools: [search],
      })
      expectStatus(answer, status)
    }
  })
})

describe('servers that the provider calls', () => {
  const servers = [{ type: 'url', url: 'https://mcp.example.org/', name: 'docs', authorization_token: 'secret' }]

  it('leave as they are', async () => {
    content = [
      { type: 'mcp_tool_use', id: 'm_1', name: 'find', server_name: 'docs', input: {} },
      { type: 'mcp_tool_result', tool_use_id: 'm_1', is_error: false, content: [{ type: 'text', text: 'found' }] },
      { type: 'text', text: 'Found.' },
    ]
    usage = { input_tokens: 1_000, output_tokens: 100 }
    const answer = await ask('priced', { tools: undefined, mcp_servers: servers })
    expect(expectStatus(answer, 200)).toMatchObject({ content })
    expect(lastBody().mcp_servers).toEqual(servers)
    expect(await receiptOf(answer)).toMatchObject({ toolUses: [{ kind: 'mcp', uses: 1, costUsd: '0' }] })
  })

  it('are refused if each call has a price, because no field limits the calls', async () => {
    const answer = await ask('dear-servers', { tools: undefined, mcp_servers: servers })
    expectStatus(answer, 400)
    expect(answer.body.error.message).toContain('cannot be bounded')
  })
})

describe('a search of the provider on the Responses API', () => {
  const post = (fields: object) =>
    organisation.client('POST', '/v2/gateway/responses', {
      model: 'searching',
      input: 'Weather?',
      max_output_tokens: 500,
      tools: [{ type: 'web_search', search_context_size: 'low' }],
      ...fields,
    })

  it('leaves as it is with a limit of calls, comes back as its item, and is billed by the items', async () => {
    const answer = await post({ include: ['web_search_call.action.sources'] })
    const { output } = expectStatus(answer, 200) as { output: Record<string, unknown>[] }
    expect(output[0]).toEqual(found[0])
    expect(output[1]).toMatchObject({ content: found[1]!.content })
    expect(lastBody()).toMatchObject({
      store: false,
      tools: [{ type: 'web_search', search_context_size: 'low' }],
      max_tool_calls: 10,
      include: ['web_search_call.action.sources'],
    })
    expect(answer.headers.get('x-adjusted-params')).toContain('max_tool_calls')
    expect(await receiptOf(answer)).toMatchObject({
      billedUsd: '0.0112',
      toolUses: [{ kind: 'web_search', uses: 1, costUsd: '0.01' }],
    })
  })

  it('is streamed with its events, numbered with the others', async () => {
    const answer = await post({ stream: true, max_tool_calls: 2 })
    const lines = String(expectStatus(answer, 200)).split('\n\n')
    const events = lines.flatMap((line) => {
      const data = /^data: (\{.*\})$/m.exec(line)?.[1]
      return data === undefined ? [] : [JSON.parse(data) as StreamEvent]
    })
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index))
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'response.web_search_call.searching', output_index: 0 }),
    )
    const last = events.at(-1)!
    expect(last).toMatchObject({ type: 'response.completed', response: { status: 'completed' } })
    expect(last.response?.output[0]).toEqual(found[0])
    expect(await receiptOf(answer)).toMatchObject({ billedUsd: '0.0112' })
  })

  it('is the search of chat completions, too', async () => {
    const answer = await organisation.client('POST', '/v2/gateway/chat/completions', {
      model: 'searching',
      max_completion_tokens: 500,
      messages: [{ role: 'user', content: 'Weather?' }],
      web_search_options: {
        search_context_size: 'high',
        user_location: { type: 'approximate', approximate: { country: 'CH' } },
      },
    })
    expect(expectStatus(answer, 200).choices[0].message).toMatchObject({
      content: 'It rains.',
      annotations: [{ type: 'url_citation', url_citation: { url: 'https://example.org/' } }],
    })
    expect(lastBody()).toMatchObject({
      tools: [
        { type: 'web_search', search_context_size: 'high', user_location: { type: 'approximate', country: 'CH' } },
      ],
    })
    expect(await receiptOf(answer)).toMatchObject({ billedUsd: '0.0112' })
  })

  it('reaches Anthropic in its form', async () => {
    const answer = await post({ model: 'priced' })
    expect(expectStatus(answer, 200).output.at(-1).content[0]).toMatchObject({
      text: 'It rains.',
      annotations: [{ type: 'url_citation', url: 'https://example.org/' }],
    })
    expect(lastBody().tools).toEqual([{ type: 'web_search_20250305', name: 'web_search', max_uses: 10 }])
    expect(answer.headers.get('x-adjusted-params')).toContain('search_context_size')
    expect(await receiptOf(answer)).toMatchObject({ toolUses: [{ kind: 'web_search', uses: 2 }] })
  })

  it('of another kind is refused for other models with the models that can', async () => {
    const server = { type: 'mcp', server_label: 'a', server_url: 'https://example.org' }
    const answer = await post({ model: 'priced', tools: [server] })
    expectStatus(answer, 400)
    expect(answer.body.error).toMatchObject({ code: 'unsupported_parameter', param: 'tools' })
    expect(answer.body.error.message).toContain('`searching`')
  })
})

it('a model that only the Responses API serves answers every client API', async () => {
  const messages = [{ role: 'user', content: 'Weather?' }]
  for (const [path, body] of [
    ['/v1/gateway/chat/completions', { messages }],
    ['/v2/gateway/chat/completions', { messages }],
    ['/v2/gateway/responses', { input: 'Weather?' }],
    ['/v2/gateway/anthropic/v1/messages', { messages, max_tokens: 100 }],
  ] as const)
    for (const stream of [false, true]) {
      const answer = await organisation.client('POST', path, { model: 'pro', ...body, stream })
      expectStatus(answer, 200)
      expect(JSON.stringify(answer.body)).toContain('It rains.')
      expect(upstream.requests.at(-1)!.path).toContain('/responses')
    }
})

it('the list of models names the tools that have a price', async () => {
  const { data } = expectStatus(await organisation.client('GET', '/v2/gateway/models'), 200) as {
    data: { id: string; capabilities: string[] }[]
  }
  const of = (id: string) => data.find((model) => model.id === id)!.capabilities
  expect(of('priced')).toEqual(expect.arrayContaining(['web_search', 'web_fetch', 'mcp']))
  expect(of('searching')).toContain('web_search')
  for (const id of ['unpriced', 'eu/priced-in-eu']) expect(of(id)).not.toContain('web_search')
})
