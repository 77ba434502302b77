import { describe, expect, test } from 'vitest'
import { bytesOf, providerCall, toolConversation, weatherTool } from '../../../../../test/harness/provider-call.ts'
import { loadResponsesSchemas } from '../../../../../test/harness/openapi-schemas.ts'
import { errorOf } from '../../../../../test/harness/recorded-wire.ts'
import { foldStream, pieces } from '../../../../../test/upstream/fold-answer.ts'
import type { ProviderCall, ProviderRequest, WireModel } from '../../port.ts'
import { createOpenAiAdapter } from '../index.ts'

const adapter = createOpenAiAdapter({ id: 'x', format: 'openai', apiKey: 'test-key' })
const pro: Partial<WireModel> = { id: 'gpt-5-pro', reasoning: true, maxOutputTokens: 9_000 }

function send(call: ProviderCall, stream = false) {
  const { url, body, adjusted } = adapter.toRequest(call, { stream })
  return { url, adjusted, json: JSON.parse(JSON.stringify(body)) as Record<string, unknown> }
}

const reasoning = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'Think.' }],
  encrypted_content: 'e',
}
const search = {
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: { type: 'search', query: 'rain' },
}
const opened = { type: 'web_search_call', id: 'ws_2', status: 'completed', action: { type: 'open_page', url: 'u' } }
const annotation = { type: 'url_citation', url: 'https://e.org/', title: 'E', start_index: 0, end_index: 2 }
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'It rains.', annotations: [annotation], logprobs: [] }],
}
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather', arguments: '{"city":"Bern"}' }
const usage = {
  input_tokens: 900,
  input_tokens_details: { cached_tokens: 100 },
  output_tokens: 50,
  output_tokens_details: { reasoning_tokens: 20 },
  total_tokens: 950,
}
const responseOf = (output: object[], more: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output,
  usage,
  ...more,
})

/** The events of an answer as the API sends them. */
function eventsOf(response: { output: object[] }): string {
  const events: object[] = [{ type: 'response.created', response: { ...response, status: 'in_progress', output: [] } }]
  for (const [output_index, item] of (response.output as Record<string, string>[]).entries()) {
    const place = { output_index, item_id: item.id }
    events.push({
      type: 'response.output_item.added',
      output_index,
      item: { ...item, arguments: item.arguments && '' },
    })
    if (item.type === 'message')
      for (const delta of ['It ', 'rains.']) events.push({ type: 'response.output_text.delta', ...place, delta })
    if (item.type === 'reasoning')
      events.push({ type: 'response.reasoning_summary_text.delta', ...place, summary_index: 0, delta: 'Think.' })
    if (item.type === 'web_search_call') events.push({ type: 'response.web_search_call.searching', ...place })
    if (item.type === 'function_call')
      for (const delta of ['{"city":', '"Bern"}'])
        events.push({ type: 'response.function_call_arguments.delta', ...place, delta })
    events.push({ type: 'response.output_item.done', output_index, item })
  }
  events.push({ type: 'response.completed', response })
  return events
    .map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
}

const { request: plainRequest, model } = providerCall({}, pro)
const whole = (response: object, request: ProviderRequest = plainRequest) =>
  adapter.fromResponse(bytesOf(JSON.stringify(response)), request, model)

describe('a model that only the Responses API serves', () => {
  test('receives the conversation as items, with nothing stored', () => {
    const sent = send(
      providerCall(
        {
          messages: toolConversation,
          tools: [weatherTool],
          toolChoice: { name: 'weather' },
          maxOutputTokens: 300,
          reasoningEffort: 'high',
          reasoning: { summary: 'auto' },
          responseFormat: {
            type: 'json_schema',
            name: 'a b',
            schema: { type: 'object', properties: {} },
            strict: true,
          },
        },
        pro,
      ),
      true,
    )
    expect(sent.url).toBe('https://api.openai.com/v1/responses')
    expect(sent.json).toMatchObject({
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 300,
      reasoning: { effort: 'high', summary: 'auto' },
      tools: [{ type: 'function', name: 'weather', strict: false }],
      tool_choice: { type: 'function', name: 'weather' },
      text: { format: { type: 'json_schema', name: 'a_b', strict: true } },
      input: [
        { role: 'user' },
        { role: 'assistant', content: 'Let me look.' },
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Paris"}' },
        { type: 'function_call', call_id: 'call_2' },
        { type: 'function_call_output', call_id: 'call_1', output: 'Rain' },
        { type: 'function_call_output', call_id: 'call_2', output: 'Sun' },
        { role: 'user' },
      ],
    })
  })

  test('gets its reasoning and searches back before the text and the calls of their turn', () => {
    const first = whole(responseOf([reasoning, search, call]))
    expect(first).toMatchObject({ reasoningText: 'Think.', finishReason: 'tool_calls', hostedItems: [search] })
    const { json } = send(
      providerCall(
        {
          messages: [
            { role: 'user', content: 'Weather?' },
            { role: 'assistant', content: '', toolCalls: first.toolCalls, replay: first.replay! },
            { role: 'tool', toolCallId: 'call_1', content: 'Rain' },
          ],
        },
        pro,
      ),
    )
    expect(json.input).toEqual([
      { role: 'user', content: 'Weather?' },
      reasoning,
      search,
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Bern"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'Rain' },
    ])
  })

  test('gets no reasoning of chat completions', () => {
    const replay = { format: 'openai' as const, blocks: [{ content: 'x', details: [] }] }
    const { json } = send(
      providerCall(
        {
          messages: [
            { role: 'user', content: 'a' },
            { role: 'assistant', content: 'b', replay },
          ],
        },
        pro,
      ),
    )
    expect(json.input).toEqual([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
    ])
  })
})

describe('an answer', () => {
  test('has the same text, calls, citations and usage whole and streamed, for every split', () => {
    const response = responseOf([reasoning, search, opened, message, call])
    const citations = [{ url: 'https://e.org/', title: 'E', startIndex: 0, endIndex: 2 }]
    const expected = {
      text: 'It rains.',
      reasoningText: 'Think.',
      toolCalls: [{ id: 'call_1', name: 'weather', argumentsJson: '{"city":"Bern"}' }],
      finishReason: 'tool_calls',
      // Pages that are opened are not billed.
      usage: {
        promptTokens: 900,
        cachedTokens: 100,
        completionTokens: 50,
        reasoningTokens: 20,
        toolUses: { web_search: 1 },
      },
    }
    expect(whole(response)).toMatchObject({ ...expected, citations })
    const body = bytesOf(eventsOf(response))
    for (const size of [1, 7, 1_000_000]) {
      const reader = adapter.createStreamReader(plainRequest, model)
      expect(
        foldStream(
          reader,
          pieces(body, () => size),
        ),
      ).toMatchObject(expected)
    }
  })

  test('passes the events of searches on as they came', () => {
    const reader = adapter.createStreamReader(plainRequest, model)
    const events = [...reader.push(bytesOf(eventsOf(responseOf([search, opened, message])))), ...reader.end()]
    expect(events).toContainEqual({ type: 'citations', citations: [expect.objectContaining({ url: annotation.url })] })
    expect(events.filter(({ type }) => type === 'hosted_use')).toHaveLength(1)
    const passed = events.flatMap((event) => (event.type === 'hosted_item' ? [event.event.type] : []))
    expect(passed.slice(0, 3)).toEqual([
      'response.output_item.added',
      'response.web_search_call.searching',
      'response.output_item.done',
    ])
  })

  test('is read where a host gives an item another id with each event', () => {
    let rotated = 0
    const body = eventsOf(responseOf([reasoning, message, call])).replaceAll(
      /"(?:item_)?id":"(?:rs|msg|fc)_1"/g,
      (id) => id.replace('_1', `_r${rotated++}`),
    )
    expect(foldStream(adapter.createStreamReader(plainRequest, model), [bytesOf(body)])).toMatchObject({
      text: 'It rains.',
      reasoningText: 'Think.',
      toolCalls: [{ id: 'call_1', argumentsJson: '{"city":"Bern"}' }],
    })
    expect(rotated).toBeGreaterThan(6)
  })

  test('is read where a host sends each text only when it is complete, and not read twice elsewhere', () => {
    const done = [
      { type: 'response.reasoning_summary_text.done', output_index: 0, summary_index: 0, text: 'Think.' },
      { type: 'response.output_text.done', output_index: 1, content_index: 0, text: 'It rains.' },
      { type: 'response.refusal.done', output_index: 1, content_index: 1, refusal: 'No.' },
    ]
    const whole = done.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    const deltas = [
      { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'It ' },
      { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'rains.' },
    ]
    const pieces = deltas.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    const end = `data: ${JSON.stringify({ type: 'response.completed', response: responseOf([]) })}\n\n`
    for (const body of [whole + end, pieces + whole + end])
      expect(foldStream(adapter.createStreamReader(plainRequest, model), [bytesOf(body)])).toMatchObject({
        text: 'It rains.',
        reasoningText: 'Think.',
        refusal: 'No.',
      })
  })

  test('that was cut ends with the reason, and containers count once', () => {
    const code = (id: string) => ({ type: 'code_interpreter_call', id, container_id: 'cntr_1', code: '1' })
    const cut = responseOf([code('a'), code('b'), message], {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
    expect(whole(cut)).toMatchObject({ finishReason: 'length', usage: { toolUses: { code_execution: 1 } } })
  })

  test('that failed is an error with the words of the provider', () => {
    const failed = { ...responseOf([]), status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Too fast.' } }
    expect(errorOf(() => whole(failed)).message).toContain('Too fast.')
    const event = `data: ${JSON.stringify({ type: 'response.failed', response: failed })}\n\n`
    const reader = adapter.createStreamReader(plainRequest, model)
    expect(errorOf(() => foldStream(reader, [bytesOf(event)]))).toMatchObject({ errorClass: 'rate_limit' })
  })

  test('that stops before its end is a failure', () => {
    const body = eventsOf(responseOf([message])).split('event: response.completed')[0]!
    const reader = adapter.createStreamReader(plainRequest, model)
    expect(errorOf(() => foldStream(reader, [bytesOf(body)]))).toMatchObject({ errorClass: 'connection' })
  })
})

const validate = loadResponsesSchemas()
describe.skipIf(validate === undefined)(`OpenAI's description${validate ? '' : ' (skipped: no shared data)'}`, () => {
  const image = {
    type: 'image',
    source: { kind: 'base64', mediaType: 'image/png', data: 'aGk=' },
    detail: 'low',
  } as const
  const file = {
    type: 'file',
    name: 'a.pdf',
    source: { kind: 'base64', mediaType: 'application/pdf', data: 'aGk=' },
  } as const
  const question = { type: 'text', text: 'What?' } as const
  test.each<[string, Partial<ProviderRequest>]>([
    ['a question', { temperature: 1, topP: 0.5, metadata: { a: 'b' }, user: 'u', serviceTier: 'auto' }],
    ['tools and their results', { messages: toolConversation, tools: [weatherTool], toolChoice: 'required' }],
    [
      'a schema',
      { responseFormat: { type: 'json_schema', name: 'a', schema: { type: 'object', properties: {} }, strict: true } },
    ],
    ['JSON', { responseFormat: { type: 'json_object' }, verbosity: 'low', topLogprobs: 2, logprobs: true }],
    [
      'reasoning that is sent back',
      {
        reasoningEffort: 'low',
        messages: [
          { role: 'user', content: 'Weather?' },
          { role: 'assistant', content: 'Rain.', replay: { format: 'openai', blocks: [reasoning, search] } },
          { role: 'user', content: 'And now?' },
        ],
      },
    ],
    [
      'a search',
      {
        hostedTools: [{ family: 'openai', kind: 'web_search', type: 'web_search', definition: { type: 'web_search' } }],
        hostedLimits: { uses: [], unlimited: [], rounds: 4, maxToolCalls: 3 },
      },
    ],
  ])('has the form of a request with %s', (_name, request) => {
    expect(validate!('CreateResponse', send(providerCall(request, pro), true).json)).toEqual([])
  })

  // A list of parts matches two of the alternatives of which a request has exactly one.
  test('has the form of a message with images and files', () => {
    const { json } = send(providerCall({ messages: [{ role: 'user', content: [question, image, file] }] }, pro))
    expect(validate!('EasyInputMessage', (json.input as object[])[0])).toEqual([])
  })
})

test('a request with a tool that the provider runs uses the API, whatever serves the model otherwise', () => {
  const hosted = {
    family: 'openai',
    kind: 'web_search',
    type: 'web_search',
    definition: { type: 'web_search' },
  } as const
  const hostedLimits = { uses: [], unlimited: [], rounds: 4, maxToolCalls: 3 }
  const { url, json } = send(providerCall({ hostedTools: [hosted], hostedLimits }, { id: 'gpt-4.1' }))
  expect(url).toBe('https://api.openai.com/v1/responses')
  expect(json).toMatchObject({ tools: [{ type: 'web_search' }], max_tool_calls: 3 })
  expect(send(providerCall({}, { id: 'gpt-4.1' })).url).toBe('https://api.openai.com/v1/chat/completions')
})

test.each([
  ['https://n.openai.azure.com', 'https://n.openai.azure.com/openai/responses?api-version=2025-04-01-preview'],
  ['https://n.openai.azure.com/openai/v1', 'https://n.openai.azure.com/openai/v1/responses'],
])('Azure has the API at %s', (baseUrl, url) => {
  const azure = createOpenAiAdapter({ id: 'x', format: 'azure', apiKey: 'k', baseUrl })
  expect(azure.toRequest(providerCall({}, pro), { stream: false }).url).toBe(url)
})
