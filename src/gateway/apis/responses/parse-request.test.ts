import { describe, expect, test } from 'vitest'
import { AppError } from '../../../platform/kernel/index.ts'
import { wrapReplay } from '../../providers/index.ts'
import { parseResponses } from './parse-request.ts'

const parse = (fields: Record<string, unknown>) => parseResponses({ model: 'm', input: 'Hello', ...fields })
const messagesOf = (input: unknown) => parse({ input }).request.messages

function refusalOf(fields: Record<string, unknown>): { code: string; param: string | null; message: string } {
  try {
    parse(fields)
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, param: error.param, message: error.message }
    throw error
  }
  throw new Error('accepted')
}

const user = (content: unknown) => ({ role: 'user', content })
const call = (id: string, name = 'f') => ({ type: 'function_call', call_id: id, name, arguments: '{"a":1}' })
const output = (id: string, value: unknown = 'done') => ({ type: 'function_call_output', call_id: id, output: value })
const png = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n and more', 'latin1').toString('base64')}`
const pdf = Buffer.from('%PDF-1.7 and more').toString('base64')
const wav = Buffer.from('RIFF1234WAVEfmt ').toString('base64')

describe('input', () => {
  test('as a string is a message of the user, after the instructions', () => {
    expect(parse({ instructions: 'Be kind.' }).request.messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello' },
    ])
  })

  test('may have texts, images, files and audio', () => {
    const [message] = messagesOf([
      user([
        { type: 'input_text', text: 'Look:' },
        { type: 'input_image', image_url: png, detail: 'low' },
        { type: 'input_image', image_url: 'https://a.test/cat.png', file_id: null },
        { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
        { type: 'input_file', file_url: 'https://a.test/b.pdf' },
        { type: 'input_audio', input_audio: { data: wav, format: 'wav' } },
      ]),
    ])
    expect(message).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        {
          type: 'image',
          source: { kind: 'base64', mediaType: 'image/png', data: png.slice(png.indexOf(',') + 1) },
          detail: 'low',
        },
        {
          type: 'image',
          source: { kind: 'url', url: 'https://a.test/cat.png', field: 'input[0].content[2].image_url' },
        },
        { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: pdf }, name: 'a.pdf' },
        { type: 'file', source: { kind: 'url', url: 'https://a.test/b.pdf', field: 'input[0].content[4].file_url' } },
        { type: 'audio', source: { kind: 'base64', mediaType: 'audio/wav', data: wav } },
      ],
    })
  })

  test('has one turn for the adjacent items of the model', () => {
    const refusal = { type: 'refusal', refusal: 'No.' }
    const said = {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Let me look.', annotations: [] }],
    }
    expect(
      messagesOf([
        user('Hi'),
        said,
        call('a'),
        call('b'),
        output('a'),
        output('b'),
        { role: 'assistant', content: [refusal] },
      ]),
    ).toEqual([
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'Let me look.',
        toolCalls: [
          { id: 'a', name: 'f', argumentsJson: '{"a":1}' },
          { id: 'b', name: 'f', argumentsJson: '{"a":1}' },
        ],
      },
      { role: 'tool', toolCallId: 'a', content: 'done' },
      { role: 'tool', toolCallId: 'b', content: 'done' },
      { role: 'assistant', content: [{ type: 'refusal', text: 'No.' }] },
    ])
  })

  test('has each result after the turn with its call, wherever the client has put it', () => {
    const roles = messagesOf([user('Hi'), call('a'), user('Well?'), output('a')]).map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'tool', 'user'])
  })

  test('may have results with images', () => {
    const image = { type: 'input_image', image_url: png }
    const result = messagesOf([user('Hi'), call('a'), output('a', [{ type: 'input_text', text: 'See' }, image])]).at(
      -1,
    )!
    expect(result.content).toMatchObject([{ type: 'text', text: 'See' }, { type: 'image' }])
  })

  test('restores the reasoning of other providers in their form', () => {
    const replay = { format: 'anthropic' as const, blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }] }
    const reasoning = (fields: object) => ({ type: 'reasoning', id: 'rs_1', summary: [], ...fields })
    const items = [user('Hi'), reasoning({ encrypted_content: wrapReplay(replay) }), call('a'), output('a')]
    expect(messagesOf(items)[1]).toMatchObject({ replay, toolCalls: [{ id: 'a' }] })

    const shown = reasoning({ summary: [{ type: 'summary_text', text: 'Hm.' }] })
    // A stream has the text and what must be sent back in two items.
    const split = [user('Hi'), shown, call('a'), reasoning({ encrypted_content: wrapReplay(replay) }), output('a')]
    expect(messagesOf(split)[1]!.replay).toEqual(replay)
    expect(messagesOf([user('Hi'), shown, call('a'), output('a')])[1]!.replay).toEqual({
      format: 'openai',
      blocks: [{ content: 'Hm.', details: [] }],
    })

    const foreign = parse({ input: [user('Hi'), reasoning({ encrypted_content: 'gAAAA' }), call('a'), output('a')] })
    expect(foreign.adjusted).toEqual(['input.encrypted_content'])
  })

  test('names records of tools that a provider ran as left out', () => {
    const record = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
    const parsed = parse({ input: [user('Hi'), record, { role: 'assistant', content: 'It rains.' }, user('And?')] })
    expect(parsed.adjusted).toEqual(['input.web_search_call'])
    expect(parsed.request.messages).toHaveLength(3)
  })

  test.each([
    ['no input', { input: undefined }, 'invalid_request', 'input'],
    ['an empty list', { input: [] }, 'invalid_request', 'input'],
    ['a blank question', { input: ' ' }, 'invalid_request', 'input'],
    ['1,025 items', { input: Array.from({ length: 1_025 }, () => user('x')) }, 'invalid_request', 'input'],
    ['an unknown role', { input: [{ role: 'tool', content: 'x' }] }, 'invalid_request', 'input[0].role'],
    [
      'an unknown part',
      { input: [user([{ type: 'text', text: 'x' }])] },
      'invalid_request',
      'input[0].content[0].type',
    ],
    [
      'a lie about an image',
      { input: [user([{ type: 'input_image', image_url: png.replace('png', 'jpeg') }])] },
      'invalid_request',
      'input[0].content[0].image_url',
    ],
    [
      'a stored file',
      { input: [user([{ type: 'input_file', file_id: 'file-1' }])] },
      'unsupported_parameter',
      'input[0].content[0].file_id',
    ],
    [
      '101 images',
      {
        input: [user(Array.from({ length: 101 }, () => ({ type: 'input_image', image_url: 'https://a.test/a.png' })))],
      },
      'invalid_request',
      'input[0].content[100]',
    ],
    [
      'an image of the system',
      { input: [{ role: 'system', content: [{ type: 'input_image' }] }] },
      'invalid_request',
      'input[0].content[0].type',
    ],
    [
      'a reference',
      { input: [user('x'), { type: 'item_reference', id: 'msg_1' }] },
      'unsupported_parameter',
      'input[1]',
    ],
    ['a reference without a type', { input: [user('x'), { id: 'msg_1' }] }, 'unsupported_parameter', 'input[1]'],
    ['an unknown item', { input: [user('x'), { type: 'computer_call' }] }, 'unsupported_parameter', 'input[1].type'],
    ['an item of the type __proto__', { input: [{ type: '__proto__' }] }, 'unsupported_parameter', 'input[0].type'],
    ['an item of the type constructor', { input: [{ type: 'constructor' }] }, 'unsupported_parameter', 'input[0].type'],
    ['an item of the type toString', { input: [{ type: 'toString' }] }, 'unsupported_parameter', 'input[0].type'],
    ['a call without a result', { input: [user('x'), call('a')] }, 'invalid_request', 'input[1].call_id'],
    ['a result without a call', { input: [user('x'), output('a')] }, 'invalid_request', 'input[1].call_id'],
    ['two calls of one id', { input: [user('x'), call('a'), call('a')] }, 'invalid_request', 'input[2].call_id'],
    [
      'two results of one call',
      { input: [call('a'), output('a'), output('a')] },
      'invalid_request',
      'input[2].call_id',
    ],
  ])('is refused with %s, with its place', (_title, fields, code, param) => {
    expect(refusalOf(fields)).toMatchObject({ code, param })
  })
})

describe('tools', () => {
  const weather = {
    type: 'function',
    name: 'weather',
    description: 'Now',
    parameters: { type: 'object' },
    strict: true,
  }
  const other = { type: 'function', name: 'other' }

  test('are functions, with a choice of one or of some', () => {
    expect(parse({ tools: [weather, other], tool_choice: { type: 'function', name: 'other' } }).request).toMatchObject({
      tools: [
        { name: 'weather', description: 'Now', parameters: { type: 'object' }, strict: true },
        { name: 'other', parameters: { type: 'object', properties: {} } },
      ],
      toolChoice: { name: 'other' },
    })
    const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'other' }] }
    const some = parse({ tools: [weather, other], tool_choice: allowed, parallel_tool_calls: false })
    expect(some.request).toMatchObject({ tools: [{ name: 'other' }], toolChoice: 'required', parallelToolCalls: false })
    expect(JSON.parse(`{${some.settings}}`)).toMatchObject({
      tool_choice: allowed,
      tools: [weather, { name: 'other' }],
    })
  })

  test('may be custom: the model calls a function with one text, whose grammar is described', () => {
    const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' }
    const parsed = parse({
      tools: [{ type: 'custom', name: 'patch', description: 'Patches.', format: grammar }],
      input: [
        user('x'),
        { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: 'a "b"' },
        { type: 'custom_tool_call_output', call_id: 'c', output: 'done' },
      ],
    })
    expect(parsed).toMatchObject({ customTools: ['patch'], adjusted: ['tools.format'] })
    expect(parsed.request.tools![0]).toMatchObject({ parameters: { required: ['input'] } })
    expect(parsed.request.tools![0]!.description).toContain('start: "a"')
    expect(parsed.request.messages[1]!.toolCalls![0]!.argumentsJson).toBe('{"input":"a \\"b\\""}')
  })

  test('that are absent leave no choice', () => {
    const { request, ignored } = parse({ tools: [], tool_choice: 'auto', parallel_tool_calls: false })
    expect(request).not.toHaveProperty('toolChoice')
    expect(ignored).toEqual(['parallel_tool_calls'])
  })

  test.each([
    ['stores of files', { tools: [weather, { type: 'file_search' }] }, 'unsupported_parameter', 'tools[1].type'],
    [
      'a container of the account',
      { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] },
      'unsupported_parameter',
      'tools[0].container',
    ],
    [
      'a larger container',
      { tools: [{ type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } }] },
      'unsupported_parameter',
      'tools[0].container.memory_limit',
    ],
    [
      'a server without encryption',
      { tools: [{ type: 'mcp', server_label: 'a', server_url: 'http://a.example' }] },
      'invalid_request',
      'tools[0].server_url',
    ],
    ['101 calls', { tools: [{ type: 'web_search' }], max_tool_calls: 101 }, 'invalid_request', 'max_tool_calls'],
    [
      'a choice of a hosted tool',
      { tools: [weather], tool_choice: { type: 'file_search' } },
      'unsupported_parameter',
      'tool_choice.type',
    ],
    ['no name', { tools: [{ type: 'function' }] }, 'invalid_request', 'tools[0].name'],
    ['a name twice', { tools: [weather, weather] }, 'invalid_request', 'tools[1].name'],
    [
      'an unknown choice',
      { tools: [weather], tool_choice: { type: 'function', name: 'x' } },
      'invalid_request',
      'tool_choice.name',
    ],
    ['a required call of none', { tool_choice: 'required' }, 'invalid_request', 'tool_choice'],
    [
      'a schema that is no object',
      { tools: [{ ...weather, parameters: [] }] },
      'invalid_request',
      'tools[0].parameters',
    ],
  ])('are refused with %s, with its place', (_title, fields, code, param) => {
    expect(refusalOf(fields)).toMatchObject({ code, param })
  })

  test('that run at the provider have a limit, and are repeated without secrets', () => {
    const server = { type: 'mcp', server_label: 'a', server_url: 'https://a.example/', authorization: 'secret' }
    const { request, settings, adjusted } = parse({ tools: [{ type: 'web_search' }, server], tool_choice: 'required' })
    expect(request).toMatchObject({
      hostedTools: [{ kind: 'web_search' }, { kind: 'mcp', definition: server }],
      hostedLimits: { rounds: 11, maxToolCalls: 10, uses: [{ kinds: ['web_search', 'mcp'], most: 10 }] },
      toolChoice: 'required',
    })
    expect(adjusted).toContain('max_tool_calls')
    expect(settings).not.toContain('secret')
  })

  test('that are not offered are named in the refusal', () => {
    expect(refusalOf({ tools: [{ type: 'image_generation' }] }).message).toContain('`image_generation`')
  })
})

describe('other fields', () => {
  test('are read, and null counts as absent', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const { request, ignored, adjusted, stream } = parse({
      stream: true,
      stream_options: null,
      store: false,
      background: false,
      previous_response_id: null,
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      top_logprobs: 2,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'A', schema, strict: true }, verbosity: 'low' },
      safety_identifier: 'someone',
      metadata: { a: 'b' },
      service_tier: 'auto',
      truncation: 'disabled',
    })
    expect({ ignored, adjusted, stream }).toEqual({ ignored: [], adjusted: [], stream: true })
    expect(request).toMatchObject({
      temperature: 0.5,
      topP: 0.9,
      maxOutputTokens: 100,
      logprobs: true,
      topLogprobs: 2,
      reasoningEffort: 'high',
      reasoning: { summary: 'auto' },
      responseFormat: { type: 'json_schema', name: 'A', schema, strict: true },
      verbosity: 'low',
      user: 'someone',
      metadata: { a: 'b' },
      serviceTier: 'auto',
    })
  })

  test('without effect are named', () => {
    const { ignored, adjusted } = parse({
      prompt_cache_key: 'k',
      max_tool_calls: 3,
      include: ['file_search_call.results'],
      service_tier: 'flex',
      truncation: 'auto',
      unknown: 1,
    })
    expect(ignored.toSorted()).toEqual([
      'include.file_search_call.results',
      'max_tool_calls',
      'prompt_cache_key',
      'unknown',
    ])
    expect(adjusted).toEqual(['service_tier', 'truncation'])
  })

  test.each([
    ['store', true],
    ['background', true],
    ['previous_response_id', 'resp_1'],
    ['conversation', 'conv_1'],
    ['prompt', { id: 'p' }],
    ['context_management', [{ type: 'compaction' }]],
    ['moderation', { model: 'm' }],
  ])('refuse %s with what to send instead', (param, value) => {
    const refused = refusalOf({ [param]: value })
    expect(refused).toMatchObject({ code: 'unsupported_parameter', param })
    expect(refused.message).toMatch(/leave it out|send/)
  })

  test.each([
    [{ model: undefined }, 'model'],
    [{ temperature: 3 }, 'temperature'],
    [{ max_output_tokens: 0 }, 'max_output_tokens'],
    [{ include: ['something'] }, 'include.0'],
    [{ text: { format: { type: 'json_schema', name: 'A' } } }, 'text.format.schema'],
    [{ reasoning: { effort: 'enormous' } }, 'reasoning.effort'],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])) }, 'metadata'],
    [{ stream_options: { include_obfuscation: false } }, 'stream_options'],
  ])('are refused with a value out of bounds: %j', (fields, param) => {
    expect(refusalOf(fields)).toMatchObject({ code: 'invalid_request', param })
  })
})
