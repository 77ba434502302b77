import { describe, expect, it } from 'vitest'
import { AppError } from '../../platform/kernel/index.ts'
import { parseCompletion } from './parse-completion.ts'

const user = { role: 'user', content: 'Hello' }

function refusal(body: unknown): { code: string; param: string | null; message: string } {
  try {
    parseCompletion(body)
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, param: error.param, message: error.message }
    throw error
  }
  throw new Error('was accepted')
}

describe('a completion request', () => {
  it('needs a model and 1 to 1024 messages', () => {
    expect(refusal({ messages: [user] })).toMatchObject({ code: 'invalid_request', param: 'model' })
    expect(refusal({ model: 'm' })).toMatchObject({ param: 'messages' })
    expect(refusal({ model: 'm', messages: [] })).toMatchObject({ param: 'messages' })
    expect(
      parseCompletion({ model: 'm', messages: Array.from({ length: 1024 }, () => user) }).request.messages,
    ).toHaveLength(1024)
    expect(refusal({ model: 'm', messages: Array.from({ length: 1025 }, () => user) })).toMatchObject({
      param: 'messages',
      message: expect.stringContaining('1024'),
    })
    expect(refusal(null)).toMatchObject({ code: 'invalid_request' })
    expect(refusal([])).toMatchObject({ code: 'invalid_request' })
  })

  it('flattens arrays of text parts into one text', () => {
    const content = [
      { type: 'text', text: 'Hello ' },
      { type: 'text', text: 'world' },
    ]
    expect(parseCompletion({ model: 'm', messages: [{ role: 'user', content }] }).request.messages).toEqual([
      { role: 'user', content: 'Hello world' },
    ])
  })

  it('takes at most 200,000 characters per message, counted as code points over all parts', () => {
    const parse = (content: unknown) => parseCompletion({ model: 'm', messages: [{ role: 'user', content }] })
    expect(parse('😀'.repeat(200_000)).request.messages[0]!.content).toHaveLength(400_000)
    expect(() => parse('😀'.repeat(200_001))).toThrow('200000 characters')
    const half = { type: 'text', text: 'x'.repeat(100_001) }
    expect(refusal({ model: 'm', messages: [{ role: 'user', content: [half, half] }] })).toMatchObject({
      param: 'messages.0.content',
    })
  })

  it('has system and developer messages at the start only, and ends with a user message', () => {
    const system = { role: 'system', content: 's' }
    const developer = { role: 'developer', content: 'd' }
    const assistant = { role: 'assistant', content: 'a' }
    expect(
      parseCompletion({ model: 'm', messages: [system, developer, user, assistant, user] }).request.messages,
    ).toHaveLength(5)
    expect(refusal({ model: 'm', messages: [user, system, user] })).toMatchObject({
      code: 'invalid_request',
      param: 'messages.1.role',
    })
    for (const blank of ['', ' \n\t', []]) {
      expect(refusal({ model: 'm', messages: [user, assistant, { role: 'user', content: blank }] })).toMatchObject({
        param: 'messages.2.content',
      })
    }
    expect(refusal({ model: 'm', messages: [user, assistant] })).toMatchObject({ param: 'messages.1.role' })
    expect(refusal({ model: 'm', messages: [system] })).toMatchObject({ param: 'messages.0.role' })
  })

  it.each([
    ['tools', [{ type: 'function', function: { name: 'f' } }]],
    ['tool_choice', 'required'],
    ['tool_choice', { type: 'function', function: { name: 'f' } }],
    ['functions', [{ name: 'f' }]],
    ['function_call', { name: 'f' }],
    ['logit_bias', { 50256: -100 }],
    ['response_format', { type: 'json_object' }],
    ['n', 2],
    ['logprobs', true],
    ['top_logprobs', 3],
    ['audio', { voice: 'alloy', format: 'wav' }],
    ['modalities', ['text', 'audio']],
  ])('refuses %s as unsupported, naming it', (field, value) => {
    expect(refusal({ model: 'm', messages: [user], [field]: value })).toMatchObject({
      code: 'unsupported_parameter',
      param: field,
    })
  })

  it('refuses tool messages and content that is not text as unsupported', () => {
    expect(refusal({ model: 'm', messages: [{ role: 'tool', content: 'x', tool_call_id: '1' }, user] })).toMatchObject({
      code: 'unsupported_parameter',
      param: 'messages.0.role',
    })
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
    expect(refusal({ model: 'm', messages: [{ role: 'user', content: [image] }] })).toMatchObject({
      code: 'unsupported_parameter',
      param: 'messages.0.content.0.type',
    })
  })

  it('accepts harmless values of standard fields, including null', () => {
    const parsed = parseCompletion({
      model: 'm',
      messages: [{ ...user, name: 'Ada' }, { role: 'assistant', content: 'a', refusal: null, tool_calls: [] }, user],
      n: 1,
      response_format: { type: 'text' },
      store: false,
      service_tier: 'auto',
      tools: null,
      temperature: null,
      seed: 7,
      stop: 'END',
      top_p: 0.5,
      user: 'u',
      metadata: { a: 'b' },
      reasoning_effort: 'low',
      top_k: 5,
    })
    expect(parsed.request).toMatchObject({
      seed: 7,
      stop: ['END'],
      topP: 0.5,
      user: 'u',
      metadata: { a: 'b' },
      reasoningEffort: 'low',
    })
    expect(parsed.ignored).toEqual(['top_k', 'messages.name'])
  })

  it.each([
    ['tools', []],
    ['functions', []],
    ['tool_choice', 'none'],
    ['tool_choice', 'auto'],
    ['function_call', 'none'],
    ['parallel_tool_calls', true],
    ['parallel_tool_calls', false],
    ['logit_bias', {}],
    ['logprobs', false],
    ['top_logprobs', 0],
    ['store', true],
    ['service_tier', 'flex'],
    ['service_tier', 'priority'],
    ['user', 42],
  ])('leaves out %s = %j, which changes nothing, and names it', (field, value) => {
    const parsed = parseCompletion({ model: 'm', messages: [user], [field]: value })
    expect(parsed.ignored).toEqual([field])
    expect(parsed.request).toEqual(parseCompletion({ model: 'm', messages: [user] }).request)
  })

  it('leaves out metadata values that are not text, and names them', () => {
    const metadata = { team: 'a', run: 7, nested: { x: 1 }, flag: true, none: null }
    const parsed = parseCompletion({ model: 'm', messages: [user], metadata })
    expect(parsed.request.metadata).toEqual({ team: 'a' })
    expect(parsed.ignored).toEqual(['metadata.run', 'metadata.nested', 'metadata.flag', 'metadata.none'])
  })

  it('explains the error in a sentence with the field and the limit', () => {
    const messageOf = (body: Record<string, unknown>) => refusal({ model: 'm', messages: [user], ...body }).message
    expect(messageOf({ model: undefined })).toBe('`model` is required: a string.')
    expect(messageOf({ model: 5 })).toBe('`model` must be a string, not a number.')
    expect(messageOf({ temperature: 3 })).toBe('`temperature` must be at most 2.')
    expect(messageOf({ max_tokens: 0 })).toBe('`max_tokens` must be at least 1.')
    expect(messageOf({ max_tokens: 1.5 })).toBe('`max_tokens` must be a whole number, not a number with decimals.')
    expect(messageOf({ messages: [] })).toBe('`messages` must not be empty.')
    expect(messageOf({ messages: 'hi' })).toBe('`messages` must be an array, not a string.')
    expect(messageOf({ messages: [{ role: 'user' }] })).toBe('`messages.0.content` is required.')
    expect(messageOf({ messages: [{ role: 'user', content: 5 }] })).toBe(
      '`messages.0.content` must be a string or an array, not a number.',
    )
    expect(messageOf({ messages: [{ role: 'user', content: [{ type: 'text' }] }] })).toBe(
      '`messages.0.content.0.text` is required: a string.',
    )
    expect(messageOf({ messages: [{ role: 'wizard', content: 'x' }] })).toBe(
      '`messages.0.role` must be one of "user", "assistant", "system", "developer".',
    )
    expect(messageOf({ reasoning_effort: 'extreme' })).toContain('must be one of "none", "minimal", "low"')
    expect(messageOf({ metadata: 'x' })).toBe('`metadata` must be a JSON object, not a string.')
    expect(messageOf({ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 'v'])) })).toBe(
      '`metadata` must have at most 16 pairs.',
    )
  })

  it.each([
    ['temperature', 2.1],
    ['temperature', -0.1],
    ['temperature', '1'],
    ['top_p', 1.5],
    ['max_completion_tokens', 0],
    ['max_tokens', 1.5],
    ['stream', 'yes'],
    ['stop', ['a', 'b', 'c', 'd', 'e']],
  ])('refuses %s = %j with the name of the field', (field, value) => {
    expect(refusal({ model: 'm', messages: [user], [field]: value })).toMatchObject({
      code: 'invalid_request',
      param: field,
    })
  })

  it('accepts max_tokens as a synonym of max_completion_tokens, but not both with different values', () => {
    expect(parseCompletion({ model: 'm', messages: [user], max_tokens: 5 }).request.maxOutputTokens).toBe(5)
    expect(
      parseCompletion({ model: 'm', messages: [user], max_tokens: 5, max_completion_tokens: 5 }).request
        .maxOutputTokens,
    ).toBe(5)
    expect(refusal({ model: 'm', messages: [user], max_tokens: 5, max_completion_tokens: 6 })).toMatchObject({
      param: 'max_tokens',
    })
  })
})
