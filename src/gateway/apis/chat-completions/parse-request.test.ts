import { describe, expect, it } from 'vitest'
import { requestLimits } from '../limits.ts'
import { parseChat } from './parse-request.ts'

const user = { role: 'user', content: 'What is the weather in Basel?' }
const tool = {
  type: 'function',
  function: { name: 'weather', description: 'The weather.', parameters: { type: 'object' } },
}
const call = (id: string) => ({ id, type: 'function', function: { name: 'weather', arguments: '{"city":"Basel"}' } })
const png = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1').toString('base64')}`
const parse = (fields: object) => parseChat({ model: 'm', messages: [user], ...fields })
const messagesOf = (...messages: object[]) => parse({ messages }).request.messages

describe('a body of chat completions', () => {
  it('maps tools, their choice and parallel calls', () => {
    expect(parse({ tools: [tool], tool_choice: 'required', parallel_tool_calls: false }).request).toMatchObject({
      tools: [{ name: 'weather', description: 'The weather.', parameters: { type: 'object' } }],
      toolChoice: 'required',
      parallelToolCalls: false,
    })
    const named = { type: 'function', function: { name: 'weather' } }
    expect(parse({ tools: [tool], tool_choice: named }).request.toolChoice).toEqual({ name: 'weather' })
  })

  it('sends only the tools that a choice allows', () => {
    const other = { type: 'function', function: { name: 'other', strict: true } }
    const allowed_tools = { mode: 'required', tools: [{ type: 'function', function: { name: 'other' } }] }
    expect(
      parse({ tools: [tool, other], tool_choice: { type: 'allowed_tools', allowed_tools } }).request,
    ).toMatchObject({
      tools: [{ name: 'other', parameters: { type: 'object', properties: {} }, strict: true }],
      toolChoice: 'required',
    })
  })

  it('names a hint for one cache, and a second name of the user', () => {
    const names = { user: 'ann', safety_identifier: 'bob', prompt_cache_key: 'key' }
    expect(parse(names).ignored).toEqual(['prompt_cache_key', 'safety_identifier'])
    const { request, ignored } = parse({ safety_identifier: 'bob' })
    expect({ user: request.user, ignored }).toEqual({ user: 'bob', ignored: [] })
  })

  it.each(['1h', '5m'])('states whether a mark keeps the prompt for an hour: %s', (ttl) => {
    const cache_control = { type: 'ephemeral', ttl }
    const part = { type: 'text', text: 'Long.', cache_control }
    const bodies = [
      { messages: [{ role: 'user', content: [part] }] },
      { messages: [{ ...user, cache_control }] },
      { tools: [{ ...tool, cache_control }] },
    ]
    for (const body of bodies) expect(parse(body).request.writesHourCache).toBe(ttl === '1h' ? true : undefined)
  })

  it('maps the older functions and their messages', () => {
    const { request, isLegacy } = parse({
      functions: [tool.function],
      function_call: { name: 'weather' },
      messages: [
        user,
        { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '{}' } },
        { role: 'function', name: 'weather', content: 'sunny' },
      ],
    })
    expect(isLegacy).toBe(true)
    expect(request.toolChoice).toEqual({ name: 'weather' })
    const [, asked, answered] = request.messages
    expect(asked!.toolCalls).toMatchObject([{ name: 'weather', argumentsJson: '{}' }])
    expect(answered).toMatchObject({ role: 'tool', toolCallId: asked!.toolCalls![0]!.id, content: 'sunny' })
  })

  it('maps the form of the answer', () => {
    const json_schema = { name: 'city', schema: { type: 'object' }, strict: true }
    expect(parse({ response_format: { type: 'json_schema', json_schema } }).request.responseFormat).toEqual({
      type: 'json_schema',
      ...json_schema,
    })
    expect(parse({ response_format: { type: 'json_object' } }).request.responseFormat).toEqual({ type: 'json_object' })
    expect(parse({ response_format: { type: 'text' } }).request.responseFormat).toBeUndefined()
  })

  it('maps parallel calls, their results and reasoning of earlier turns', () => {
    const messages = messagesOf(
      user,
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')], reasoning_content: 'Two cities.' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'rain' }] },
      { role: 'tool', tool_call_id: 'a', content: 'sun' },
    )
    expect(messages[1]).toEqual({
      role: 'assistant',
      content: '',
      toolCalls: [
        { id: 'a', name: 'weather', argumentsJson: '{"city":"Basel"}' },
        { id: 'b', name: 'weather', argumentsJson: '{"city":"Basel"}' },
      ],
      replay: { format: 'openai', blocks: [{ content: 'Two cities.', details: [] }] },
    })
    expect(messages.slice(2)).toEqual([
      { role: 'tool', toolCallId: 'b', content: 'rain' },
      { role: 'tool', toolCallId: 'a', content: 'sun' },
    ])
  })

  it('links results without ids to calls in their order', () => {
    const bare = { type: 'function', function: { name: 'weather', arguments: { city: 'Bern' } } }
    const messages = messagesOf(
      user,
      { role: 'assistant', tool_calls: [bare, bare] },
      { role: 'tool', content: 'one' },
      { role: 'tool', content: 'two' },
    )
    const [first, second] = messages[1]!.toolCalls!
    expect(first!.argumentsJson).toBe('{"city":"Bern"}')
    expect(messages.slice(2).map(({ toolCallId }) => toolCallId)).toEqual([first!.id, second!.id])
  })

  it('takes instructions anywhere, a last turn of any role, refusals and cache marks', () => {
    const messages = messagesOf(
      { role: 'developer', content: 'Be brief.', cache_control: { type: 'ephemeral' } },
      user,
      { role: 'system', content: 'Answer in German.' },
      { role: 'assistant', content: null, refusal: 'No.' },
    )
    expect(messages.map(({ role }) => role)).toEqual(['developer', 'user', 'system', 'assistant'])
    expect(messages[0]!.content).toEqual([{ type: 'text', text: 'Be brief.', cache: {} }])
    expect(messages[3]!.content).toEqual([{ type: 'refusal', text: 'No.' }])
  })

  it('maps images, files and audio', () => {
    const pdf = `data:application/pdf;base64,${Buffer.from('%PDF-1.7').toString('base64')}`
    const [{ content } = { content: '' }] = messagesOf({
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image_url', image_url: { url: png, detail: 'low' } },
        { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
        { type: 'input_audio', input_audio: { format: 'mp3', data: Buffer.from('ID3 tag').toString('base64') } },
      ],
    })
    expect(content).toMatchObject([
      { type: 'text', text: 'Look:' },
      { type: 'image', detail: 'low', source: { kind: 'base64', mediaType: 'image/png' } },
      { type: 'image', source: { kind: 'url', url: 'https://example.org/a.png' } },
      { type: 'file', name: 'a.pdf', source: { mediaType: 'application/pdf' } },
      { type: 'audio', source: { mediaType: 'audio/mpeg' } },
    ])
  })

  it('names fields that are unknown or change nothing', () => {
    const { ignored } = parse({
      tools: [],
      tool_choice: 'auto',
      prediction: { type: 'content', content: 'x' },
      usage: { include: true },
      store: true,
      service_tier: 'flex',
      metadata: { a: 'b', c: 1 },
      random_seed: 1,
      messages: [
        user,
        { role: 'assistant', content: 'Sunny.', audio: null, parsed: null, annotations: [], function_call: null },
        { ...user, weight: 1 },
      ],
    })
    expect(ignored.toSorted()).toEqual([
      'messages.annotations',
      'messages.parsed',
      'messages.weight',
      'metadata.c',
      'prediction',
      'service_tier',
      'store',
      'tool_choice',
      'tools',
      'usage',
    ])
  })
})

describe('a body that is not valid', () => {
  const deep = (levels: number) => {
    let schema: object = { type: 'string' }
    for (let level = 0; level < levels; level++) schema = { items: schema }
    return schema
  }
  const withSchema = (parameters: object) => ({ tools: [{ type: 'function', function: { name: 'f', parameters } }] })
  const image = { type: 'image_url', image_url: { url: png } }
  const asks = { role: 'assistant', tool_calls: [call('a')] }
  const answers = { role: 'tool', tool_call_id: 'a', content: 'x' }

  it.each<[string, object, string]>([
    ['a schema of a megabyte', withSchema({ description: 'x'.repeat(2 ** 20) }), 'tools[0].function.parameters'],
    ['a schema of a thousand levels', withSchema(deep(1_000)), 'tools[0].function.parameters'],
    ['a schema of 65 levels', withSchema(deep(64)), 'tools[0].function.parameters'],
    [
      '1,001 tools',
      { tools: Array.from({ length: 1_001 }, (_, index) => ({ type: 'function', function: { name: `f${index}` } })) },
      'tools',
    ],
    ['two tools of a name', { tools: [tool, tool] }, 'tools[1].name'],
    ['a tool without a name', { tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    ['a name with blanks', { tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools[0].function.name'],
    ['a custom tool', { tools: [{ type: 'custom', custom: { name: 'x' } }] }, 'tools[0].type'],
    ['a choice without tools', { tool_choice: 'required' }, 'tool_choice'],
    [
      'a choice of an unknown tool',
      { tools: [tool], tool_choice: { type: 'function', function: { name: 'x' } } },
      'tool_choice.function.name',
    ],
    [
      '101 images',
      { messages: [{ role: 'user', content: Array.from({ length: requestLimits.images + 1 }, () => image) }] },
      'messages[0].content[100]',
    ],
    [
      'a data URL that lies',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: png.replace('png', 'gif') } }] }] },
      'messages[0].content[0].image_url.url',
    ],
    [
      'a file by its id',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
      'messages[0].content[0].file.file_id',
    ],
    [
      'two calls of an id',
      { messages: [user, { role: 'assistant', tool_calls: [call('a'), call('a')] }] },
      'messages[1].tool_calls[1].id',
    ],
    ['a result without a call', { messages: [user, answers] }, 'messages[1].tool_call_id'],
    ['two results of a call', { messages: [user, asks, answers, answers] }, 'messages[3].tool_call_id'],
    ['a call without a result', { messages: [user, asks, user] }, 'messages[1].tool_calls[0].id'],
    ['a last call without a result', { messages: [user, asks] }, 'messages[1].tool_calls[0].id'],
    ['a later result', { messages: [user, asks, answers, user, answers] }, 'messages[4].tool_call_id'],
    ['earlier audio', { messages: [user, { role: 'assistant', audio: { id: 'audio_1' } }] }, 'messages[1].audio'],
    ['an unknown role', { messages: [{ role: 'critic', content: 'x' }] }, 'messages[0].role'],
    ['a blank question', { messages: [{ role: 'user', content: ' ' }] }, 'messages[0].content'],
    ['no messages', { messages: [] }, 'messages'],
    ['a long message', { messages: [{ role: 'user', content: 'x'.repeat(200_001) }] }, 'messages[0].content'],
    ['audio answers', { modalities: ['text', 'audio'] }, 'modalities'],
    ['a temperature of 3', { temperature: 3 }, 'temperature'],
    ['two caps', { max_tokens: 1, max_completion_tokens: 2 }, 'max_tokens'],
    ['too many choices', { n: 129 }, 'n'],
    ['a stop list with a number', { stop: ['a', 1] }, 'stop[1]'],
    ['stream options without a stream', { stream_options: { include_usage: true } }, 'stream_options'],
    [
      'a schema without a name',
      { response_format: { type: 'json_schema', json_schema: { schema: {} } } },
      'response_format.json_schema.name',
    ],
    ['an unknown format', { response_format: { type: 'xml' } }, 'response_format.type'],
    [
      'deep reasoning',
      { messages: [user, { role: 'assistant', content: 'x', reasoning_details: [deep(1_000)] }, user] },
      'messages[1].reasoning_details[0]',
    ],
  ])('is refused with its field: %s', (_name, fields, param) => {
    expect(() => parse(fields)).toThrow(
      expect.objectContaining({ param, message: expect.stringContaining(`\`${param}\``) as string }) as Error,
    )
  })
})
