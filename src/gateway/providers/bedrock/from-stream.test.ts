import { EventStreamCodec } from '@smithy/eventstream-codec'
import { fromUtf8, toUtf8 } from '@smithy/util-utf8'
import { describe, expect, test } from 'vitest'
import { errorOf, foldStream, pieces, seededRandom } from '../../../../test/harness/recorded-wire.ts'
import { createBedrockAdapter } from './index.ts'

const adapter = createBedrockAdapter({
  id: 'aws',
  format: 'bedrock',
  region: 'eu-central-1',
  apiKey: 'ABSKsecretOfTheTest',
})
const codec = new EventStreamCodec(toUtf8, fromUtf8)

function frame(headers: Record<string, string>, payload: unknown): Uint8Array {
  const tagged = Object.entries(headers).map(([name, value]) => [name, { type: 'string' as const, value }])
  return codec.encode({ headers: Object.fromEntries(tagged), body: fromUtf8(JSON.stringify(payload)) })
}
const event = (type: string, payload: unknown) => frame({ ':message-type': 'event', ':event-type': type }, payload)
const exception = (type: string, message: string) =>
  frame({ ':message-type': 'exception', ':exception-type': type }, { message })
const text = (words: string) => event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: words }, p: 'abc' })
const stop = (stopReason = 'end_turn') => event('messageStop', { stopReason })
const usage = event('metadata', {
  usage: { inputTokens: 5, outputTokens: 3, cacheReadInputTokens: 7, cacheWriteInputTokens: 11, totalTokens: 26 },
})
const start = event('messageStart', { role: 'assistant' })

describe('a stream of Bedrock', () => {
  test('gives the same result for every split of its frames; the prompt includes cache reads and writes', () => {
    const body = Buffer.concat([start, text('Grüße '), text(''), text('👋'), stop(), usage])
    for (let seed = 1; seed <= 60; seed++) {
      const random = seededRandom(seed)
      const answer = foldStream(
        adapter.createStreamReader(),
        pieces(body, () => 1 + Math.floor(random() * seed * 3)),
      )
      expect(answer, `seed ${seed}`).toMatchObject({
        text: 'Grüße 👋',
        finishReason: 'stop',
        wireFinishReason: 'end_turn',
      })
      expect(answer.usage).toEqual({
        promptTokens: 23,
        completionTokens: 3,
        cachedTokens: 7,
        cacheWriteTokens: 11,
        reasoningTokens: 0,
      })
    }
  })

  test('counts the writes that the cache keeps for an hour, and keeps the usage for the receipt', () => {
    const wire = {
      inputTokens: 5,
      outputTokens: 3,
      cacheWriteInputTokens: 11,
      cacheDetails: [
        { ttl: '1h', inputTokens: 8 },
        { ttl: '5m', inputTokens: 3 },
      ],
    }
    const body = Buffer.concat([start, text('Hi'), stop(), event('metadata', { usage: wire })])
    expect(foldStream(adapter.createStreamReader(), [body]).usage).toMatchObject({
      promptTokens: 16,
      cacheWriteTokens: 11,
      cacheWriteHourTokens: 8,
      stated: { raw: wire, costAttoUsd: null },
    })
  })

  test('emits the text before an exception in the same bytes, then fails permanently', () => {
    const reader = adapter.createStreamReader()
    const bytes = Buffer.concat([start, text('Half'), exception('throttlingException', 'Too many requests')])
    expect(reader.push(bytes)).toEqual([{ type: 'text', text: 'Half' }])
    expect(reader.pendingError?.()).toMatchObject({
      errorClass: 'rate_limit',
      retryable: false,
      message: 'Too many requests',
    })
    expect(errorOf(() => reader.end())).toMatchObject({ afterFirstByte: true })
  })

  test.each([
    ['internalServerException', 'server_error'],
    ['modelStreamErrorException', 'server_error'],
    ['serviceUnavailableException', 'overloaded'],
    ['modelTimeoutException', 'timeout'],
    ['validationException', 'invalid_request'],
  ])('that begins with %s is %s', (type, errorClass) => {
    const reader = adapter.createStreamReader()
    expect(errorOf(() => reader.push(exception(type, 'boom')))).toMatchObject({ errorClass, afterFirstByte: false })
  })

  test('fails on an error frame without a payload too', () => {
    const headers = { ':message-type': 'error', ':error-code': 'InternalFailure', ':error-message': 'oops' }
    expect(errorOf(() => adapter.createStreamReader().push(frame(headers, {})))).toMatchObject({
      errorClass: 'server_error',
      message: 'oops',
    })
  })

  test('is a failure if it stops early, inside a frame or between two', () => {
    const whole = Buffer.concat([start, text('Half'), stop(), usage])
    const beforeStop = start.length + text('Half').length
    for (const length of [0, 3, start.length, beforeStop, beforeStop + 20, whole.length - 1]) {
      const error = errorOf(() => foldStream(adapter.createStreamReader(), [whole.subarray(0, length)]))
      expect(error.errorClass, `cut at ${length}`).toBe('connection')
    }
  })

  test('is a failure if a frame is invalid or the bytes are not frames', () => {
    const damaged = Buffer.from(text('Half'))
    damaged[damaged.length - 6]! ^= 1
    for (const bytes of [damaged, Buffer.from('<html><body>'), Buffer.alloc(32)]) {
      expect(errorOf(() => foldStream(adapter.createStreamReader(), [start, bytes])).errorClass).toBe('connection')
    }
  })

  test('contains tool calls, with and without arguments, and reasoning', () => {
    const open = (index: number) =>
      event('contentBlockStart', {
        contentBlockIndex: index,
        start: { toolUse: { toolUseId: `t${index}`, name: 'weather' } },
      })
    const input = (index: number, piece: string) =>
      event('contentBlockDelta', { contentBlockIndex: index, delta: { toolUse: { input: piece } } })
    const close = (index: number) => event('contentBlockStop', { contentBlockIndex: index })
    const thought = event('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Hm.' } } })
    const answer = foldStream(adapter.createStreamReader(), [
      start,
      thought,
      open(1),
      close(1),
      open(2),
      input(2, '{"city":'),
      input(2, '"Rome"}'),
      close(2),
      stop('tool_use'),
      usage,
    ])
    expect(answer).toMatchObject({ reasoningText: 'Hm.', finishReason: 'tool_calls' })
    expect(answer.toolCalls).toEqual([
      { id: 't1', name: 'weather', argumentsJson: '{}' },
      { id: 't2', name: 'weather', argumentsJson: '{"city":"Rome"}' },
    ])
  })

  test('emits reasoning with its signature for replay if it calls tools', () => {
    const reasoned = (index: number, reasoningContent: object) =>
      event('contentBlockDelta', { contentBlockIndex: index, delta: { reasoningContent } })
    const call = event('contentBlockStart', {
      contentBlockIndex: 2,
      start: { toolUse: { toolUseId: 't1', name: 'weather' } },
    })
    const thought = [reasoned(0, { text: 'I ' }), reasoned(0, { text: 'look.' }), reasoned(0, { signature: 'c2ln' })]
    const frames = [start, ...thought, reasoned(1, { redactedContent: 'aGlk' }), call, stop('tool_use'), usage]
    const events = adapter.createStreamReader().push(Buffer.concat(frames))
    expect(events.find(({ type }) => type === 'replay')).toEqual({
      type: 'replay',
      replay: {
        format: 'bedrock',
        blocks: [
          { reasoningContent: { reasoningText: { text: 'I look.', signature: 'c2ln' } } },
          { reasoningContent: { redactedContent: 'aGlk' } },
        ],
      },
    })
  })

  test('that a guardrail stopped ends with content_filter', () => {
    const answer = foldStream(adapter.createStreamReader(), [start, text('No.'), stop('guardrail_intervened')])
    expect(answer).toMatchObject({ finishReason: 'content_filter', usage: null })
  })
})

describe('an error of Bedrock', () => {
  const mapped = (status: number, type: string, message: string) =>
    adapter.mapError({
      status,
      headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/` },
      body: JSON.stringify({ message }),
    })

  test.each([
    [400, 'ValidationException', 'Input is too long for requested model.', 'context_length'],
    [400, 'ValidationException', 'The provided model identifier is invalid.', 'model_not_found'],
    [400, 'ValidationException', 'Malformed input request', 'invalid_request'],
    [400, 'ServiceQuotaExceededException', 'over', 'quota'],
    [403, 'AccessDeniedException', "You don't have access to the model", 'authentication'],
    [404, 'ResourceNotFoundException', 'gone', 'model_not_found'],
    [429, 'ThrottlingException', 'Too many tokens per day, please wait before trying again.', 'quota'],
    [429, 'ModelNotReadyException', 'warming up', 'overloaded'],
    [503, 'SomethingNewException', 'x', 'overloaded'],
  ])('%i %s "%s" is %s', (status, type, message, errorClass) => {
    expect(mapped(status, type, message)).toMatchObject({ errorClass, message, code: type })
  })

  test('is read from the body if the header is missing', () => {
    const body = JSON.stringify({ __type: 'com.amazon.coral.service#UnrecognizedClientException', message: 'no' })
    expect(adapter.mapError({ status: 400, headers: {}, body })).toMatchObject({ errorClass: 'authentication' })
  })
})
