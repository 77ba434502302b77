import { describe, expect, test } from 'vitest'
import { bytesOf, providerCall, toolConversation, weatherTool } from '../../../../test/harness/provider-call.ts'
import { errorOf } from '../../../../test/harness/recorded-wire.ts'
import { foldStream, pieces } from '../../../../test/upstream/fold-answer.ts'
import type { ProviderCall } from '../port.ts'
import { createOllamaAdapter } from './index.ts'

const adapter = createOllamaAdapter({ id: 'x', format: 'ollama' })

function send(call: ProviderCall, stream = false) {
  const request = adapter.toRequest(call, { stream })
  return { ...request, json: JSON.parse(JSON.stringify(request.body)) as Record<string, unknown> }
}

function lines(...objects: object[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('')
}

const delta = (content: string) => ({ message: { role: 'assistant', content }, done: false })
const done = {
  message: { role: 'assistant', content: '' },
  done: true,
  done_reason: 'stop',
  prompt_eval_count: 4,
  eval_count: 2,
}

describe('a request', () => {
  test('has sampling and caps in its options', () => {
    const { json, url, adjusted } = send(
      providerCall({ temperature: 1.5, topP: 0.5, maxOutputTokens: 9, stop: ['x'], seed: 1 }),
    )
    expect(url).toBe('http://127.0.0.1:11434/api/chat')
    expect(json).toMatchObject({
      model: 'test-model',
      stream: false,
      options: { temperature: 1.5, top_p: 0.5, num_predict: 9, stop: ['x'], seed: 1 },
    })
    expect(adjusted).toEqual([])
  })

  test('contains tool calls as objects and the tool’s name with its result', () => {
    const { json } = send(providerCall({ messages: toolConversation, tools: [weatherTool] }))
    expect(json.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ function: { name: 'weather', arguments: { city: 'Paris' } } }, {}] },
      { role: 'tool', tool_name: 'weather', content: 'Rain' },
      { role: 'tool', tool_name: 'weather', content: 'Sun' },
      { role: 'user' },
    ])
    expect(json.tools).toMatchObject([{ type: 'function', function: { name: 'weather' } }])
  })

  test('enables thinking only for models that support it', () => {
    const call = (baseModel: string, reasoning: boolean) =>
      providerCall({ reasoningEffort: 'low' }, { id: baseModel, baseModel, reasoning })
    expect(send(call('gpt-oss:20b', true)).json.think).toBe('low')
    expect(send(call('qwen3:8b', true))).toMatchObject({ json: { think: true }, adjusted: ['reasoning_effort'] })
    expect(send(call('llama3', false)).json).not.toHaveProperty('think')
  })

  test('is sent to the root of the address, for every spelling', () => {
    for (const baseUrl of ['http://h:1', 'http://h:1/', 'http://h:1/v1', 'http://h:1/api']) {
      const { url } = createOllamaAdapter({ id: 'x', format: 'ollama', baseUrl }).toRequest(providerCall(), {
        stream: true,
      })
      expect(url).toBe('http://h:1/api/chat')
    }
  })
})

describe('a tool that must be called', () => {
  const city = { name: 'city', description: 'Names a city', parameters: { type: 'object', properties: { n: {} } } }
  const given = { ...done, message: { role: 'assistant', content: '{"n":"Bern"}' } }

  test.each([
    ['by name', { tools: [weatherTool, city], toolChoice: { name: 'city' } }],
    ['as the only one', { tools: [city], toolChoice: 'required' }],
  ] as const)('%s, is the format of the answer, which is its call', (_, { tools, toolChoice }) => {
    const call = providerCall({ tools: [...tools], toolChoice })
    const { json, adjusted } = send(call)
    expect(json.format).toEqual(city.parameters)
    expect(json).not.toHaveProperty('tools')
    expect(JSON.stringify(json.messages)).toContain('Names a city')
    expect(adjusted).toEqual([])
    const whole = adapter.fromResponse(bytesOf(JSON.stringify(given)), call.request)
    expect(whole).toMatchObject({
      text: '',
      toolCalls: [{ name: 'city', argumentsJson: '{"n":"Bern"}' }],
      finishReason: 'tool_calls',
    })
    for (const size of [1, 5, 1_000]) {
      const body = bytesOf(lines(delta('{"n":'), delta('"Bern"}'), done))
      const streamed = foldStream(
        adapter.createStreamReader(call.request),
        pieces(body, () => size),
      )
      expect(streamed).toMatchObject({
        text: '',
        toolCalls: [{ name: 'city', argumentsJson: '{"n":"Bern"}' }],
        finishReason: 'tool_calls',
      })
    }
  })

  test('keeps the limit of tokens as the end of a call that was cut', () => {
    const { request } = providerCall({ tools: [city], toolChoice: 'required' })
    const cut = { ...given, message: { role: 'assistant', content: '{"n":"Be' }, done_reason: 'length' }
    expect(adapter.fromResponse(bytesOf(JSON.stringify(cut)), request)).toMatchObject({
      toolCalls: [{ argumentsJson: '{"n":"Be' }],
      finishReason: 'length',
    })
  })
})

describe('a stream', () => {
  test('gives the same result for every split', () => {
    const body = bytesOf(lines(delta('Grüße '), delta('👋'), done))
    for (const size of [1, 2, 3, 7, 1000]) {
      expect(
        foldStream(
          adapter.createStreamReader(),
          pieces(body, () => size),
        ),
      ).toMatchObject({
        text: 'Grüße 👋',
        finishReason: 'stop',
        usage: { promptTokens: 4, completionTokens: 2 },
      })
    }
  })

  test('that stops before `done` is a failure', () => {
    const error = errorOf(() => foldStream(adapter.createStreamReader(), [bytesOf(lines(delta('half')))]))
    expect(error).toMatchObject({ errorClass: 'connection', afterFirstByte: true })
  })

  test('with an error line is a failure with the provider’s message', () => {
    const body = lines(delta('half'), { error: 'model runner has unexpectedly stopped' })
    const error = errorOf(() => foldStream(adapter.createStreamReader(), [bytesOf(body)]))
    expect(error).toMatchObject({ errorClass: 'server_error', afterFirstByte: true, retryable: false })
    expect(error.message).toContain('unexpectedly stopped')
  })

  test('without counts has no usage, never zeros', () => {
    const { eval_count: _count, ...uncounted } = done
    expect(foldStream(adapter.createStreamReader(), [bytesOf(lines(delta('a'), uncounted))]).usage).toBeNull()
  })

  test('with one endless line is a failure', () => {
    const reader = adapter.createStreamReader()
    const big = new Uint8Array(1024 * 1024).fill(0x61)
    expect(errorOf(() => foldStream(reader, [big, big, big, big, big])).errorClass).toBe('connection')
  })
})

test('embeddings and the list of models are read', () => {
  const { embeddings, models } = adapter
  expect(embeddings!.fromResponse(bytesOf('{"embeddings":[[1,2]],"prompt_eval_count":3}'))).toEqual({
    vectors: [Float32Array.of(1, 2)],
    promptTokens: 3,
  })
  expect(models!.url).toBe('http://127.0.0.1:11434/api/tags')
  expect(models!.fromResponse(bytesOf('{"models":[{"name":"a:latest","model":"a:latest"},{"name":"b"}]}'))).toEqual([
    'a:latest',
    'b',
  ])
})
