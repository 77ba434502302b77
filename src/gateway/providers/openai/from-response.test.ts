import { describe, expect, test } from 'vitest'
import { bytesOf } from '../../../../test/harness/provider-call.ts'
import { errorOf } from '../../../../test/harness/recorded-wire.ts'
import { createOpenAiAdapter } from './index.ts'
import { mapUsage } from './map-usage.ts'

const adapter = (flavour = 'generic') =>
  createOpenAiAdapter({ id: 'x', format: 'openai', flavour, baseUrl: 'http://h.test' })

function read(message: object, more: object = {}, choice: object = {}, flavour?: string) {
  const body = { choices: [{ index: 0, message, finish_reason: 'stop', ...choice }], ...more }
  return adapter(flavour).fromResponse(bytesOf(JSON.stringify(body)))
}

describe('a whole answer', () => {
  test('separates text, hidden reasoning and refusal, whatever their field', () => {
    expect(read({ content: 'a', reasoning: 'b' })).toMatchObject({ text: 'a', reasoningText: 'b', refusal: null })
    expect(read({ content: 'a', reasoning_content: 'b', reasoning: 'b' })).toMatchObject({ reasoningText: 'b' })
    expect(read({ content: null, refusal: 'no' })).toMatchObject({ text: '', refusal: 'no', finishReason: 'stop' })
    const parts = [{ type: 'thinking', thinking: [{ type: 'text', text: 'b' }] }, { type: 'text', text: 'a' }, 'c']
    expect(read({ content: parts })).toMatchObject({ text: 'ac', reasoningText: 'b' })
    expect(read({ content: 'a', reasoning_details: [{ text: 'b' }, { data: 'x' }] })).toMatchObject({
      reasoningText: 'b',
    })
  })

  test.each([
    ['stop', 'stop'],
    ['eos', 'stop'],
    ['model_length', 'length'],
    ['content_filter', 'content_filter'],
    ['function_call', 'tool_calls'],
    ['constructor', 'stop'],
    ['never seen', 'stop'],
    [null, 'stop'],
  ])('with the finish reason %s ends with %s', (word, reason) => {
    expect(read({ content: 'a' }, {}, { finish_reason: word })).toMatchObject({
      finishReason: reason,
      wireFinishReason: word,
    })
  })

  test('with a function call in the older form has a tool call', () => {
    const message = { content: null, function_call: { name: 'f', arguments: '{}' } }
    expect(read(message, {}, { finish_reason: 'function_call' })).toMatchObject({
      toolCalls: [{ name: 'f', argumentsJson: '{}' }],
      finishReason: 'tool_calls',
    })
  })

  test.each([
    ['an error object', { error: { message: 'down', code: 503 } }, 'overloaded'],
    [
      'an error in the choice',
      { choices: [{ index: 0, error: { message: 'down', code: 502 }, message: {} }] },
      'server_error',
    ],
    ['a flat error', { object: 'error', message: 'bad', type: 'BadRequestError' }, 'invalid_request'],
    ['a detail', { detail: 'Unauthorized', status_code: 401 }, 'authentication'],
    [
      'a broken-off answer',
      { choices: [{ index: 0, message: { content: 'half' }, finish_reason: 'error' }] },
      'server_error',
    ],
    ['no message', { choices: [{ index: 0, finish_reason: 'stop' }] }, 'connection'],
    ['no object at all', [1, 2], 'connection'],
  ])('that is %s is a failure', (_what, body, errorClass) => {
    expect(errorOf(() => adapter().fromResponse(bytesOf(JSON.stringify(body)))).errorClass).toBe(errorClass)
  })
})

describe('usage', () => {
  type Options = Parameters<typeof mapUsage>[1]
  const general: Options = { reasoningOutsideCompletion: false, documentsCost: false }
  const tokens = (usage: object, options: Options = general) =>
    mapUsage({ prompt_tokens: 100, completion_tokens: 20, ...usage }, options)

  test.each([
    [{ prompt_tokens_details: { cached_tokens: 60 } }, 60],
    [{ prompt_cache_hit_tokens: 60 }, 60],
    [{ cached_tokens: 60 }, 60],
    [{ prompt_tokens_details: { cached_tokens: 900 } }, 100],
    [{ prompt_tokens_details: null }, 0],
  ])('%o counts %d cached tokens, never more than the prompt', (usage, cached) => {
    expect(tokens(usage)).toMatchObject({ promptTokens: 100, cachedTokens: cached })
  })

  test('includes reasoning in the completion once, using the total if there is one', () => {
    const reasoning = { completion_tokens_details: { reasoning_tokens: 50 } }
    const outside: Options = { reasoningOutsideCompletion: 'by_total', documentsCost: false }
    expect(tokens({ ...reasoning, total_tokens: 170 })).toMatchObject({ completionTokens: 70, reasoningTokens: 50 })
    expect(tokens({ ...reasoning, total_tokens: 170 }, outside)).toMatchObject({ completionTokens: 70 })
    expect(tokens({ ...reasoning, completion_tokens: 60, total_tokens: 160 }, outside)).toMatchObject({
      completionTokens: 60,
    })
    expect(tokens({ ...reasoning, completion_tokens: 60 })).toMatchObject({ completionTokens: 60, reasoningTokens: 50 })
    expect(tokens({ ...reasoning, completion_tokens: 60 }, outside)).toMatchObject({ completionTokens: 110 })
  })

  test('that the host did not count is null, never zeros', () => {
    for (const usage of [
      null,
      undefined,
      {},
      { prompt_tokens: null },
      { prompt_tokens: 0, completion_tokens: 0 },
      'x',
    ]) {
      expect(mapUsage(usage, general)).toBeNull()
    }
    expect(mapUsage({ prompt_tokens: 5, total_tokens: 8 }, general)).toMatchObject({ completionTokens: 3 })
  })
})

describe('embeddings', () => {
  const { embeddings, models } = adapter('openai')
  const list = (body: unknown) => embeddings!.fromResponse(bytesOf(JSON.stringify(body)))

  test('are read as numbers or base64, in the order of the inputs', () => {
    const base64 = Buffer.from(new Float32Array([1.5, -2]).buffer).toString('base64')
    const answer = list({
      data: [
        { index: 1, embedding: [3, 4] },
        { index: 0, embedding: base64 },
      ],
      usage: { prompt_tokens: 4 },
    })
    expect(answer.vectors.map((vector) => [...vector])).toEqual([
      [1.5, -2],
      [3, 4],
    ])
    expect(answer.promptTokens).toBe(4)
  })

  test('that are invalid are a failure', () => {
    for (const embedding of ['AAA=', '', [], [1, null], 'AADAfw==']) {
      expect(errorOf(() => list({ data: [{ index: 0, embedding }] })).errorClass).toBe('connection')
    }
    expect(errorOf(() => list({ error: { message: 'slow down', code: 429 } })).errorClass).toBe('rate_limit')
  })

  test('and model lists are requested in the host’s form', () => {
    const call = {
      model: { id: 'e', baseModel: 'e', acceptsTemperature: true, reasoning: false, maxOutputTokens: 1 },
      texts: ['a'],
      dimensions: 64,
      purpose: 'query' as const,
    }
    expect(JSON.parse(JSON.stringify(embeddings!.toRequest(call).body))).toEqual({
      model: 'e',
      input: ['a'],
      encoding_format: 'base64',
      dimensions: 64,
    })
    expect(JSON.parse(JSON.stringify(adapter('mistral').embeddings!.toRequest(call).body))).toEqual({
      model: 'e',
      input: ['a'],
      output_dimension: 64,
    })
    expect(models!.fromResponse(bytesOf('[{"id":"a"},{"object":"x"}]'))).toEqual(['a'])
    expect(errorOf(() => models!.fromResponse(bytesOf('{"x":1}'))).errorClass).toBe('connection')
  })
})
