import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stagePrices } from '../harness/gateway-stage.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import {
  expectResponse,
  foldResponseEvents,
  readResponseEvents,
  type ResponseEvent,
} from '../harness/response-events.ts'
import {
  anthropicReply,
  type FormatReply,
  geminiReply,
  type ModelTurn,
  openaiReply,
} from '../upstream/format-replies.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

/** The acceptance cases of the Open Responses specification and the rules of Portico, in front of hosts of several formats. */

const formats = { openai: openaiReply, anthropic: anthropicReply, gemini: geminiReply } satisfies Record<
  string,
  FormatReply
>
type Format = keyof typeof formats

let upstream: Upstream
let portico: TestPortico
let organisation: TestOrganisation
let turns: ModelTurn[]

beforeAll(async () => {
  upstream = await startUpstream((request) => {
    const format: Format = request.path.includes('/messages')
      ? 'anthropic'
      : request.path.includes('GenerateContent') || request.path.includes('generateContent')
        ? 'gemini'
        : 'openai'
    return formats[format](turns.shift()!, request)
  })
  const wireIds: Record<Format, string> = {
    openai: 'gpt-5-mini',
    anthropic: 'claude-sonnet-4-6',
    gemini: 'gemini-2.5-flash',
  }
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: Object.keys(formats).map((format) => ({
        id: `p-${format}`,
        format,
        baseUrl: upstream.url,
        apiKey: 'key',
        hosting: 'us',
        models: 'declared',
      })),
      models: Object.entries(wireIds).map(([format, wireId]) => ({
        id: `house-${format}`,
        contextTokens: 100_000,
        maxOutputTokens: 4_000,
        deployments: [{ provider: `p-${format}`, wireId, prices: stagePrices }],
      })),
    },
  })
  organisation = await portico.createOrganisation()
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})

const post = (body: object, path = '/v2/gateway/responses') => organisation.client('POST', path, body)
const lastBody = () => JSON.parse(upstream.requests.at(-1)!.body) as ResponseEvent

/** The response to a request, plain or as the last event of its stream; both are checked. */
async function respond(format: Format, turn: ModelTurn, body: object, stream: boolean): Promise<ResponseEvent> {
  turns = [turn]
  const answer = await post({ model: `house-${format}`, ...body, stream })
  if (!stream) {
    const response = expectStatus(answer, 200)
    expectResponse(response)
    return response
  }
  expect(answer.status, String(answer.body)).toBe(200)
  expect(answer.headers.get('content-type')).toContain('text/event-stream')
  const events = readResponseEvents(String(answer.body))
  const { response } = events.at(-1)
  expect(foldResponseEvents(events)).toEqual(response.output)
  return response
}

const textOf = ({ output }: ResponseEvent) =>
  output.flatMap(({ content = [] }: ResponseEvent) => content.map(({ text }: ResponseEvent) => text)).join('')
const userMessage = (content: unknown) => ({ type: 'message', role: 'user', content })
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a place.',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
}

const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x20\0\0\0\x20', 'latin1').toString('base64')

const cases = Object.keys(formats).flatMap((format) => [
  [format as Format, 'plain', false] as const,
  [format as Format, 'streamed', true] as const,
])

describe.each(cases)('in front of a host of the format %s, %s', (format, _how, stream) => {
  it('answers a text', async () => {
    const response = await respond(
      format,
      { text: ['Hello', ' there, ', 'you'] },
      { input: [userMessage('Say hello.')] },
      stream,
    )
    expect(response).toMatchObject({
      status: 'completed',
      model: `house-${format}`,
      usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    })
    expect(response.id).toMatch(/^resp_/)
    expect(textOf(response)).toBe('Hello there, you')
  })

  it('passes a system prompt on', async () => {
    const system = { type: 'message', role: 'system', content: 'You are a pirate.' }
    await respond(format, { text: ['Arr.'] }, { instructions: 'Be brief.', input: [system, userMessage('Hi')] }, stream)
    for (const text of ['You are a pirate.', 'Be brief.']) expect(upstream.requests.at(-1)!.body).toContain(text)
  })

  it('calls a tool, and takes its result with what the model requires back of its reasoning', async () => {
    const turn = {
      reasoning: 'The weather needs a tool.',
      calls: [{ id: 'call_1', name: 'get_weather', args: { location: 'Rome' } }],
    }
    const body = {
      input: [userMessage('How is the weather in Rome?')],
      tools: [weather],
      tool_choice: 'auto',
      reasoning: { effort: 'low', summary: 'auto' },
    }
    const { output } = await respond(format, turn, body, stream)
    const called = output.find(({ type }: ResponseEvent) => type === 'function_call')
    expect(called).toMatchObject({ name: 'get_weather', status: 'completed' })
    expect(JSON.parse(called.arguments)).toEqual({ location: 'Rome' })
    expect(output[0]).toMatchObject({ type: 'reasoning', summary: [{ text: 'The weather needs a tool.' }] })

    const result = { type: 'function_call_output', call_id: called.call_id, output: '{"sky":"clear"}' }
    const next = { ...body, input: [...body.input, ...output, result] }
    expect(textOf(await respond(format, { text: ['It is clear.'] }, next, stream))).toBe('It is clear.')
    const sent = upstream.requests.at(-1)!.body
    expect(sent).toContain('clear')
    if (format === 'anthropic') {
      expect(lastBody().messages[1].content).toMatchObject([
        { type: 'thinking', thinking: 'The weather needs a tool.', signature: 'signed' },
        { type: 'tool_use', id: 'call_1', input: { location: 'Rome' } },
      ])
    }
    if (format === 'gemini') expect(sent).toContain('c2lnbmVk')
  })

  it('calls two tools at once', async () => {
    const calls = ['Rome', 'Oslo'].map((location, at) => ({
      id: `call_${at}`,
      name: 'get_weather',
      args: { location },
    }))
    const { output } = await respond(
      format,
      { text: ['Let me look.'], calls },
      { input: 'Weather?', tools: [weather] },
      stream,
    )
    const called = output.filter(({ type }: ResponseEvent) => type === 'function_call')
    expect(called.map((call: ResponseEvent) => JSON.parse(call.arguments).location)).toEqual(['Rome', 'Oslo'])
    expect(new Set(called.map((call: ResponseEvent) => call.call_id)).size).toBe(2)
    expect(output.map(({ type }: ResponseEvent) => type)).toEqual(['message', 'function_call', 'function_call'])
  })

  it('passes an image on', async () => {
    const content = [
      { type: 'input_text', text: 'What do you see?' },
      { type: 'input_image', image_url: `data:image/png;base64,${png}` },
    ]
    expect((await respond(format, { text: ['A heart.'] }, { input: [userMessage(content)] }, stream)).status).toBe(
      'completed',
    )
    expect(upstream.requests.at(-1)!.body).toContain(png)
  })

  it('continues a conversation', async () => {
    const said = { type: 'message', role: 'assistant', content: 'Hello Alice!' }
    const input = [userMessage('My name is Alice.'), said, userMessage('What is my name?')]
    expect(textOf(await respond(format, { text: ['Alice.'] }, { input }, stream))).toBe('Alice.')
    for (const text of ['My name is Alice.', 'Hello Alice!']) expect(upstream.requests.at(-1)!.body).toContain(text)
  })

  it('is incomplete where the output cap has cut the answer', async () => {
    const response = await respond(
      format,
      { text: ['One, two'], isCut: true },
      { input: 'Count.', max_output_tokens: 16 },
      stream,
    )
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    })
  })
})

describe('a response', () => {
  it('has the headers and the receipt of a completion, and leaves no hold', async () => {
    turns = [{ text: ['Hi'] }]
    const answer = await post({ model: 'house-openai', input: 'Hi', unknown: 1, truncation: 'auto' })
    expect(answer.headers.get('x-portico-hosting')).toBe('us')
    expect(answer.headers.get('x-ignored-params')).toBe('unknown')
    expect(answer.headers.get('x-adjusted-params')).toContain('truncation')
    const receipt = expectStatus(await portico.operator('GET', `/api/usage/${answer.headers.get('x-request-id')}`), 200)
    // 11 × 1 + 7 × 2 millionths of a dollar.
    expect(receipt).toMatchObject({ model: 'house-openai', billedUsd: '0.000025' })
    expect(expectStatus(await portico.operator('GET', '/api/audit'), 200)).toMatchObject({ ok: true, findings: [] })
  })

  it('is refused in the error shape of the API, with the field', async () => {
    const refused = async (body: object) =>
      (await post({ model: 'house-openai', input: 'Hi', ...body })) as ResponseEvent
    expect(await refused({ store: true })).toMatchObject({
      status: 400,
      body: { error: { param: 'store', code: 'unsupported_parameter' } },
    })
    expect(await refused({ tools: [{ type: 'web_search' }] })).toMatchObject({
      status: 400,
      body: { error: { param: 'tools' } },
    })
    expect(await refused({ input: [{ role: 'user' }] })).toMatchObject({
      status: 400,
      body: { error: { param: 'input[0].content' } },
    })
    expect(await refused({ model: 'nothing' })).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found' } },
    })
  })

  it('that fails on its way ends with the error', async () => {
    turns = [{ text: ['Hello', ' there'] }]
    upstream.script((request) => {
      const reply = openaiReply(turns.shift()!, request)
      return { ...reply, resetAfterBytes: String(reply.body).indexOf('there') }
    })
    const answer = await post({ model: 'house-openai', input: 'Hi', stream: true })
    const events = readResponseEvents(String(answer.body))
    expect(events.slice(-2)).toMatchObject([
      { type: 'error', code: 'upstream_error' },
      { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } },
    ])
  })
})

describe('the count of input tokens', () => {
  it('grows with instructions and tools, and costs nothing', async () => {
    const sent = upstream.requests.length
    const count = async (body: object) => expectStatus(await post(body, '/v2/gateway/responses/input_tokens'), 200)
    const short = await count({ input: 'Tell me a joke.' })
    expect(short).toEqual({ object: 'response.input_tokens', input_tokens: 5 })
    const long = await count({
      model: 'house-openai',
      input: 'Tell me a joke.',
      instructions: 'Be brief.',
      tools: [weather],
    })
    expect(long.input_tokens).toBeGreaterThan(20)
    expect(upstream.requests.length).toBe(sent)
  })
})
