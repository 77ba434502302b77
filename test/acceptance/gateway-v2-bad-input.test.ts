import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { openaiReply } from '../upstream/format-replies.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

/** Bad input of every kind, in the form of each client API of version 2: a 400 with the field, and nothing is held, sent or billed. */

let upstream: Upstream
let portico: TestPortico
let organisation: TestOrganisation

const header = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0', 'latin1')
const png = Buffer.concat([header, Buffer.alloc(60, 7)]).toString('base64')

type Turn =
  | { user: object[] | string }
  | { calls: readonly string[] }
  | { results: readonly string[] }
  | { answer: string }
interface Prompt {
  turns?: Turn[]
  tools?: object[]
  schema?: object
}

/** How one client API writes a prompt, and the names of its fields. */
interface Api {
  path: string
  tool(name: string, parameters: object): object
  /** By address or as a data URL. */
  image(url: string): object
  /** With a type that may be a lie. */
  imageData(type: string, data: string): object
  body(prompt: Prompt): object
  fields: {
    schema: string
    parameters(tool: number): string
    image(part: number): string
    imageData: string
    tooManyImages: string
    call(turn: number, call: number): string
    result(turn: number, result: number): string
    /** Of all messages. */
    messages: string
    paramOf(body: Record<string, unknown>): unknown
  }
}

const callOf = (id: string) => ({ id, name: 'weather', args: { city: 'Basel' } })
const errorOf = (body: Record<string, unknown>) => body.error as { param?: string; message: string; type: string }
const paramOf = (body: Record<string, unknown>) => errorOf(body).param

const chat: Api = {
  path: '/v2/gateway/chat/completions',
  tool: (name, parameters) => ({ type: 'function', function: { name, parameters } }),
  image: (url) => ({ type: 'image_url', image_url: { url } }),
  imageData: (type, data) => ({ type: 'image_url', image_url: { url: `data:${type};base64,${data}` } }),
  body: ({ turns = [{ user: 'Hello' }], tools, schema }) => ({
    messages: turns.flatMap((turn): object[] => {
      if ('user' in turn) return [{ role: 'user', content: turn.user }]
      if ('answer' in turn) return [{ role: 'assistant', content: turn.answer }]
      if ('results' in turn) return turn.results.map((id) => ({ role: 'tool', tool_call_id: id, content: 'sun' }))
      const calls = turn.calls.map(callOf).map(({ id, name, args }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(args) },
      }))
      return [{ role: 'assistant', tool_calls: calls }]
    }),
    tools,
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }),
  }),
  fields: {
    schema: 'response_format.json_schema.schema',
    parameters: (tool) => `tools[${tool}].function.parameters`,
    image: (part) => `messages[0].content[${part}].image_url.url`,
    imageData: 'messages[0].content[0].image_url.url',
    tooManyImages: 'messages[0].content[100]',
    call: (turn, call) => `messages[${turn}].tool_calls[${call}].id`,
    result: (turn, result) => `messages[${turn + result}].tool_call_id`,
    messages: 'messages',
    paramOf,
  },
}

const responses: Api = {
  path: '/v2/gateway/responses',
  tool: (name, parameters) => ({ type: 'function', name, parameters }),
  image: (url) => ({ type: 'input_image', image_url: url }),
  imageData: (type, data) => ({ type: 'input_image', image_url: `data:${type};base64,${data}` }),
  body: ({ turns = [{ user: 'Hello' }], tools, schema }) => ({
    input: turns.flatMap((turn): object[] => {
      if ('user' in turn) return [{ role: 'user', content: turn.user }]
      if ('answer' in turn) return [{ role: 'assistant', content: turn.answer }]
      if ('results' in turn)
        return turn.results.map((id) => ({ type: 'function_call_output', call_id: id, output: 'sun' }))
      return turn.calls
        .map(callOf)
        .map(({ id, name, args }) => ({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) }))
    }),
    tools,
    ...(schema && { text: { format: { type: 'json_schema', name: 'answer', schema } } }),
  }),
  fields: {
    schema: 'text.format.schema',
    parameters: (tool) => `tools[${tool}].parameters`,
    image: (part) => `input[0].content[${part}].image_url`,
    imageData: 'input[0].content[0].image_url',
    tooManyImages: 'input[0].content[100]',
    call: (turn, call) => `input[${turn + call}].call_id`,
    result: (turn, result) => `input[${turn + result}].call_id`,
    messages: 'input',
    paramOf,
  },
}

const anthropic: Api = {
  path: '/v2/gateway/anthropic/v1/messages',
  tool: (name, parameters) => ({ name, input_schema: parameters }),
  image: (url) => ({ type: 'image', source: { type: 'url', url } }),
  imageData: (type, data) => ({ type: 'image', source: { type: 'base64', media_type: type, data } }),
  body: ({ turns = [{ user: 'Hello' }], tools, schema }) => ({
    max_tokens: 100,
    messages: turns.map((turn) => {
      if ('user' in turn) return { role: 'user', content: turn.user }
      if ('answer' in turn) return { role: 'assistant', content: turn.answer }
      if ('results' in turn) {
        const content = turn.results.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'sun' }))
        return { role: 'user', content }
      }
      const content = turn.calls.map(callOf).map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }))
      return { role: 'assistant', content }
    }),
    tools,
    ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
  }),
  fields: {
    schema: 'output_config.format.schema',
    parameters: (tool) => `tools[${tool}].input_schema`,
    image: (part) => `messages[0].content[${part}].source.url`,
    imageData: 'messages[0].content[0].source.data',
    tooManyImages: 'messages',
    call: (turn, call) => `messages[${turn}].content[${call}].id`,
    result: (turn, result) => `messages[${turn}].content[${result}].tool_use_id`,
    messages: 'messages',
    // Errors of this API have no such field.
    paramOf: (body) => /`([^`]+)`/.exec(errorOf(body).message)?.[1],
  },
}

const large = { type: 'object', description: 'x'.repeat(2 ** 20) }
const many = { type: 'object', properties: Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`p${n}`, {}])) }
function deep(levels: number): object {
  return JSON.parse(`${'{"items":'.repeat(levels)}{}${'}'.repeat(levels)}`) as object
}
const user = { user: 'Hello' }

/** What other names resolve to is public. */
const addressesOf: Record<string, string[]> = {
  'inside.example': ['10.1.2.3'],
  'metadata.example': ['169.254.169.254'],
  'both.example': ['93.184.215.14', '127.0.0.1'],
  'nowhere.example': [],
}

type Case = readonly [what: string, build: (api: Api) => Prompt, field: (fields: Api['fields']) => string]
const cases: readonly Case[] = [
  ['a tool with a schema of a megabyte', ({ tool }) => ({ tools: [tool('f', large)] }), (f) => f.parameters(0)],
  ['a tool with 60,000 properties', ({ tool }) => ({ tools: [tool('f', many)] }), (f) => f.parameters(0)],
  ['a tool with a thousand levels', ({ tool }) => ({ tools: [tool('f', deep(1_000))] }), () => 'tools'],
  ['a format of a megabyte', () => ({ schema: large }), (f) => f.schema],
  ['a format of a thousand levels', () => ({ schema: deep(1_000) }), (f) => f.schema.split('.')[0]!],
  [
    '1,001 tools',
    ({ tool }) => ({ tools: Array.from({ length: 1_001 }, (_, n) => tool(`f${n}`, { type: 'object' })) }),
    () => 'tools',
  ],
  [
    '101 images',
    ({ imageData }) => ({ turns: [{ user: Array.from({ length: 101 }, () => imageData('image/png', png)) }] }),
    (f) => f.tooManyImages,
  ],
  [
    'an image whose bytes belie its type',
    ({ imageData }) => ({ turns: [{ user: [imageData('image/gif', png)] }] }),
    (f) => f.imageData,
  ],
  [
    'an image that is text',
    ({ imageData }) => ({
      turns: [{ user: [imageData('image/png', Buffer.from('<svg onload="x()"/>').toString('base64'))] }],
    }),
    (f) => f.imageData,
  ],
  [
    'an image that is no base64',
    ({ imageData }) => ({ turns: [{ user: [imageData('image/png', `${png}***`)] }] }),
    (f) => f.imageData,
  ],
  ...[
    'http://127.0.0.1/a.png',
    'http://0x7f000001/a.png',
    'http://localhost:8080/a.png',
    'http://files.localhost./a.png',
    'https://10.1.2.3/a.png',
    'https://192.168.0.1/a.png',
    'http://169.254.169.254/latest/meta-data/',
    'http://metadata.google.internal/a.png',
    'http://[::1]/a.png',
    'http://[::ffff:10.0.0.1]/a.png',
    'file:///etc/passwd',
    'https://inside.example/a.png',
    'https://metadata.example/a.png',
    'https://both.example/a.png',
    'https://nowhere.example/a.png',
  ].map((url): Case => [
    `an image at ${url}`,
    ({ image }) => ({ turns: [{ user: [image('https://images.example.com/a.png'), image(url)] }] }),
    (f) => f.image(1),
  ]),
  ['a result without a call', () => ({ turns: [user, { results: ['a'] }, user] }), (f) => f.result(1, 0)],
  ['a result of another call', () => ({ turns: [user, { calls: ['a'] }, { results: ['b'] }] }), (f) => f.result(2, 0)],
  [
    'two results of one call',
    () => ({ turns: [user, { calls: ['a'] }, { results: ['a', 'a'] }] }),
    (f) => f.result(2, 1),
  ],
  ['a call without a result', () => ({ turns: [user, { calls: ['a'] }] }), (f) => f.call(1, 0)],
  [
    'one of two calls without a result',
    () => ({ turns: [user, { calls: ['a', 'b'] }, { results: ['a'] }] }),
    (f) => f.call(1, 1),
  ],
  ['two calls with one id', () => ({ turns: [user, { calls: ['a', 'a'] }, { results: ['a'] }] }), (f) => f.call(1, 1)],
  [
    'an id of an earlier call',
    () => ({
      turns: [
        user,
        { calls: ['a'] },
        { results: ['a'] },
        { answer: 'Sun.' },
        user,
        { calls: ['a'] },
        { results: ['a'] },
      ],
    }),
    (f) => f.call(5, 0),
  ],
]

beforeAll(async () => {
  upstream = await startUpstream((request) => openaiReply({ text: ['Hello'] }, request))
  const provider = { baseUrl: upstream.url, apiKey: 'key', models: 'declared', hosting: 'us' }
  const prices = { input: '1', output: '2' }
  portico = await startPortico({
    nameLookup(name, _options, callback) {
      const found = addressesOf[name] ?? ['93.184.215.14']
      if (found.length === 0) callback(new Error(`getaddrinfo ENOTFOUND ${name}`), [], 0)
      else
        callback(
          null,
          found.map((address) => ({ address, family: 4 })),
        )
    },
    settings: {
      ollama: { detect: false },
      providers: [
        { ...provider, id: 'addresses', format: 'openai' },
        { ...provider, id: 'bytes', format: 'gemini' },
      ],
      models: ['addresses', 'bytes'].map((id) => ({
        id,
        contextTokens: 100_000,
        maxOutputTokens: 4_000,
        deployments: [{ provider: id, wireId: id, prices }],
      })),
    },
  })
  organisation = await portico.createOrganisation()
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})

describe.each([
  ['chat completions', chat],
  ['the Responses API', responses],
  ['the Messages API', anthropic],
])('%s', (_name, api) => {
  const send = (prompt: Prompt, model = 'addresses') =>
    organisation.client('POST', api.path, { model, ...api.body(prompt) })

  it.each(cases)('refuses %s with its field, and stays alive', async (_what, build, field) => {
    const sent = upstream.requests.length
    const prompt = build(api)
    const [{ status, body }, alive] = await Promise.all([send(prompt), organisation.client('GET', '/livez')])
    expect({ status, type: errorOf(body).type, param: api.fields.paramOf(body) }).toEqual({
      status: 400,
      type: 'invalid_request_error',
      param: field(api.fields),
    })
    expectStatus(alive, 200)
    expect(upstream.requests).toHaveLength(sent)
  })

  it('takes as many tools and images as the limits allow', async () => {
    const tools = Array.from({ length: 1_000 }, (_, n) => api.tool(`f${n}`, { type: 'object' }))
    const images = Array.from({ length: 100 }, () => api.imageData('image/png', png))
    expectStatus(await send({ tools, turns: [{ user: images }] }), 200)
    const sent = JSON.parse(upstream.requests.at(-1)!.body) as { tools: object[]; messages: { content: object[] }[] }
    expect({ tools: sent.tools.length, images: sent.messages[0]!.content.length }).toEqual({
      tools: 1_000,
      images: 100,
    })
  })

  it('names the field of all messages where an address has no public host', async () => {
    const { status, body } = await send({ turns: [{ user: [api.image('https://images.invalid/a.png')] }] }, 'bytes')
    expect({ status, param: errorOf(body).param }).toEqual({
      status: 400,
      param: api === anthropic ? undefined : api.fields.messages,
    })
    expect(errorOf(body).message).toContain('images.invalid')
  })
})

const insideFile = [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://inside.example/a.pdf' }] }]
const insideImage = [
  { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://inside.example/a.png' } }] },
]
const mcpTool = (host: string) => [{ type: 'mcp', server_label: 'a', server_url: `https://${host}/` }]
const mcpServer = (host: string) => [{ type: 'url', name: 'a', url: `https://${host}/` }]
const hello = [{ role: 'user', content: 'Hello' }]

it.each([
  ['responses', { input: 'Hello', tools: mcpTool('inside.example') }, 'tools[0].server_url'],
  ['responses', { input: 'Hello', tools: mcpTool('10.1.2.3') }, 'tools[0].server_url'],
  ['responses', { input: insideFile }, 'input[0].content[0].file_url'],
  ['responses/input_tokens', { input: insideFile }, 'input[0].content[0].file_url'],
  ['anthropic/v1/messages', { messages: hello, mcp_servers: mcpServer('nowhere.example') }, 'mcp_servers[0].url'],
  ['anthropic/v1/messages', { messages: hello, mcp_servers: mcpServer('localhost') }, 'mcp_servers[0].url'],
  ['anthropic/v1/messages/count_tokens', { messages: insideImage }, 'messages[0].content[0].source.url'],
])('a host inside of the network of %s is refused with its field: %j', async (path, body, field) => {
  const sent = upstream.requests.length
  const limit = path.endsWith('messages') ? { max_tokens: 10 } : {}
  const answer = await organisation.client('POST', `/v2/gateway/${path}`, { model: 'addresses', ...limit, ...body })
  expect(answer.status).toBe(400)
  expect(errorOf(answer.body).message).toContain(`\`${field}\``)
  expect(upstream.requests).toHaveLength(sent)
})

it('nothing of all this is held or billed', async () => {
  const budget = expectStatus(await portico.operator('GET', `/api/organisations/${organisation.id}/budget`), 200)
  expect(budget.heldUsd).toMatch(/^0(\.0+)?$/)
  expect(expectStatus(await portico.operator('GET', '/api/audit'), 200)).toMatchObject({ ok: true, findings: [] })
})
