import { describe, expect, test } from 'vitest'
import { bytesOf, providerCall, toolConversation, weatherTool } from '../../../../test/harness/provider-call.ts'
import { errorOf, foldStream, pieces } from '../../../../test/harness/recorded-wire.ts'
import type { ProviderRequest, ProviderSettings, WireModel } from '../port.ts'
import { createCohereAdapter } from './index.ts'

const settings: ProviderSettings = { id: 'co', format: 'cohere', apiKey: 'cohere-secret-of-test' }
const adapter = createCohereAdapter(settings)

function send(request: Partial<ProviderRequest>, model: Partial<WireModel> = {}) {
  const wire = adapter.toRequest(providerCall(request, model), { stream: false })
  return { wire, body: JSON.parse(JSON.stringify(wire.body)) as Record<string, unknown>, adjusted: wire.adjusted }
}

describe('a request to Cohere', () => {
  test('scales values with another range, and reports them', () => {
    const { body, adjusted } = send({ temperature: 1, topP: 1, frequencyPenalty: 1, presencePenalty: -1 })
    expect(body).toMatchObject({ temperature: 0.5, p: 0.99, frequency_penalty: 0.5 })
    expect(body).not.toHaveProperty('presence_penalty')
    expect(adjusted).toEqual(['temperature', 'top_p', 'frequency_penalty', 'presence_penalty'])
  })

  test('sends cap, seed and stop under Cohere’s names and reports unsupported fields', () => {
    const { body, adjusted } = send({ maxOutputTokens: 5, seed: 3, stop: ['END'], user: 'u', metadata: { a: 'b' } })
    expect(body).toMatchObject({ max_tokens: 5, seed: 3, stop_sequences: ['END'] })
    expect(adjusted).toEqual(['user', 'metadata'])
  })

  test('sends system and developer texts as system, without blank ones', () => {
    const { body } = send({
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'system', content: '' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'Hello?' },
      ],
    })
    expect(body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'user', content: 'Hello?' },
    ])
  })

  test('contains tools, calls and results', () => {
    const { body } = send({ messages: toolConversation, tools: [weatherTool], toolChoice: 'required' })
    expect(body.tool_choice).toBe('REQUIRED')
    expect(body.tools).toEqual([{ type: 'function', function: weatherTool }])
    expect((body.messages as unknown[]).slice(1, 3)).toEqual([
      {
        role: 'assistant',
        tool_plan: 'Let me look.',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
          { id: 'call_2', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
    ])
  })

  test('enables or disables thinking for models that support it', () => {
    expect(send({ reasoningEffort: 'none' }, { reasoning: true }).body.thinking).toEqual({ type: 'disabled' })
    expect(send({ reasoningEffort: 'low' }, { reasoning: true })).toMatchObject({
      body: { thinking: { type: 'enabled' } },
      adjusted: ['reasoning_effort'],
    })
    expect(send({ reasoningEffort: 'low' }).body).not.toHaveProperty('thinking')
  })

  test('contains its key in a header only', async () => {
    const { wire } = send({})
    expect(wire.url).toBe('https://api.cohere.com/v2/chat')
    expect(JSON.stringify(wire)).not.toContain(settings.apiKey)
    expect(await adapter.authorize({ ...wire, body: '' }, new AbortController().signal)).toEqual({
      authorization: `Bearer ${settings.apiKey}`,
    })
  })
})

const line = (data: unknown) => `event: x\ndata: ${JSON.stringify(data)}\n\n`
const start = line({ type: 'message-start', id: 'i', delta: { message: { role: 'assistant' } } })
const content = (part: unknown) => line({ type: 'content-delta', index: 0, delta: { message: { content: part } } })
const end = (finish_reason: string, error?: string) =>
  line({
    type: 'message-end',
    delta: {
      finish_reason,
      error,
      usage: { billed_units: { input_tokens: 1 }, tokens: { input_tokens: 9, output_tokens: 4 }, cached_tokens: 2 },
    },
  })

describe('a stream of Cohere', () => {
  test('gives the same result for every split, and counts tokens instead of billed units', () => {
    const body = bytesOf(
      `${start}${content({ thinking: 'Hm.' })}${content({ text: 'Grüße 👋' })}${end('COMPLETE')}data: [DONE]\n\n`,
    )
    for (let size = 1; size <= 40; size++) {
      const answer = foldStream(
        adapter.createStreamReader(),
        pieces(body, () => size),
      )
      expect(answer).toMatchObject({ text: 'Grüße 👋', reasoningText: 'Hm.', finishReason: 'stop' })
      expect(answer.usage).toMatchObject({ promptTokens: 9, completionTokens: 4, cachedTokens: 2 })
    }
  })

  test('contains a plan and tool calls, with and without arguments', () => {
    const call = (index: number, type: string, tool_calls: unknown) =>
      line({ type, index, delta: { message: { tool_calls } } })
    const body =
      start +
      line({ type: 'tool-plan-delta', delta: { message: { tool_plan: 'I look.' } } }) +
      call(0, 'tool-call-start', { id: 'a', type: 'function', function: { name: 'now', arguments: '' } }) +
      line({ type: 'tool-call-end', index: 0 }) +
      call(1, 'tool-call-start', { id: 'b', type: 'function', function: { name: 'weather', arguments: '' } }) +
      call(1, 'tool-call-delta', { function: { arguments: '{"city":' } }) +
      call(1, 'tool-call-delta', { function: { arguments: '"Rome"}' } }) +
      line({ type: 'tool-call-end', index: 1 }) +
      end('TOOL_CALL')
    const answer = foldStream(adapter.createStreamReader(), [bytesOf(body)])
    expect(answer).toMatchObject({ reasoningText: 'I look.', finishReason: 'tool_calls' })
    expect(answer.toolCalls).toEqual([
      { id: 'a', name: 'now', argumentsJson: '{}' },
      { id: 'b', name: 'weather', argumentsJson: '{"city":"Rome"}' },
    ])
  })

  test.each([
    ['ends with ERROR', start + content({ text: 'Half' }) + end('ERROR', 'backend failed'), 'server_error'],
    ['ends with TIMEOUT', start + content({ text: 'Half' }) + end('TIMEOUT'), 'timeout'],
    ['holds an error', start + line({ message: 'internal server error' }), 'server_error'],
    ['stops before message-end', start + content({ text: 'Half' }), 'connection'],
    ['closes with [DONE] alone', `${start}data: [DONE]\n\n`, 'connection'],
    ['is empty', '', 'connection'],
  ])('that %s is a failure, never a short answer', (_name, body, errorClass) => {
    const error = errorOf(() => foldStream(adapter.createStreamReader(), [bytesOf(body)]))
    expect(error).toMatchObject({ errorClass, retryable: body === '' })
  })
})

describe('an answer of Cohere', () => {
  test('that ends with ERROR inside a 200, or is not an answer, is a failure', () => {
    const message = { role: 'assistant', content: [{ type: 'text', text: 'Half' }] }
    const failed = bytesOf(JSON.stringify({ message, finish_reason: 'ERROR' }))
    expect(errorOf(() => adapter.fromResponse(failed)).errorClass).toBe('server_error')
    for (const body of ['{}', '{"message":null}', '{"message":"no"}', '<html>']) {
      expect(errorOf(() => adapter.fromResponse(bytesOf(body))).errorClass).toBe('connection')
    }
  })

  test.each([
    [401, 'invalid api token', 'authentication', false],
    [402, 'Please add a payment method', 'quota', false],
    [404, "model 'x' not found, make sure the correct model ID was used", 'model_not_found', false],
    [400, 'too many tokens: size limit exceeded by 1000 tokens.', 'context_length', false],
    [422, 'invalid request: p must be below 1', 'invalid_request', false],
    [429, 'You are using a Trial key, which is limited to 1000 API calls / month.', 'quota', false],
    [429, 'Please wait and try again later', 'rate_limit', true],
    [498, 'invalid token', 'authentication', false],
    [500, 'internal server error', 'server_error', true],
    [503, 'unavailable', 'overloaded', true],
  ])('of status %i "%s" is %s', (status, message, errorClass, retryable) => {
    const error = adapter.mapError({ status, headers: { 'retry-after': '3' }, body: JSON.stringify({ message }) })
    expect(error).toMatchObject({ errorClass, retryable, message, retryAfterSeconds: 3 })
  })

  test('with vectors keeps their order and count', () => {
    const { embeddings } = adapter
    const { model } = providerCall()
    const wire = embeddings!.toRequest({ model, texts: ['a', 'b'], dimensions: 256, purpose: 'document' })
    expect(JSON.parse(JSON.stringify(wire.body))).toMatchObject({
      texts: ['a', 'b'],
      input_type: 'search_document',
      output_dimension: 256,
    })
    const body = { embeddings: { float: [[1], [2]] }, meta: { billed_units: { input_tokens: 7 } } }
    expect(embeddings!.fromResponse(bytesOf(JSON.stringify(body)))).toEqual({
      vectors: [new Float32Array([1]), new Float32Array([2])],
      promptTokens: 7,
    })
    expect(errorOf(() => embeddings!.fromResponse(bytesOf('{"embeddings":{"float":[]}}'))).errorClass).toBe(
      'connection',
    )
  })

  test('with a list of models contains all of them', () => {
    const models = [
      { name: 'command-a-03-2025', endpoints: ['chat'] },
      { name: 'embed-v4.0', endpoints: ['embed'] },
      { name: 'rerank-v3.5', endpoints: ['rerank'] },
    ]
    expect(adapter.models!.fromResponse(bytesOf(JSON.stringify({ models })))).toEqual([
      'command-a-03-2025',
      'embed-v4.0',
      'rerank-v3.5',
    ])
  })
})
