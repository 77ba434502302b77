import { describe, expect, test } from 'vitest'
import { bytesOf } from '../../../../test/harness/provider-call.ts'
import { errorOf, foldStream, pieces } from '../../../../test/harness/recorded-wire.ts'
import { createAnthropicAdapter } from './index.ts'
import { mapFinishReason } from '../map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'

const adapter = createAnthropicAdapter({ id: 'claude', format: 'anthropic', apiKey: 'sk-ant-secret-of-test' })
const line = (data: unknown, padding = '') => `event: x\ndata: ${JSON.stringify(data)}${padding}\n\n`
const start = line({
  type: 'message_start',
  message: { usage: { input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 1 } },
})
const text = (words: string) =>
  line({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } }, '     ')
const delta = (usage: unknown, reason = 'end_turn') =>
  line({ type: 'message_delta', delta: { stop_reason: reason }, usage })
const stop = line({ type: 'message_stop' })
const ping = line({ type: 'ping' })

describe('a stream of Anthropic', () => {
  test('gives the same text and usage for every split, with pings and padding', () => {
    const body = bytesOf(`${ping}${start}${text('Grüße 👋')}${ping}${text('!')}${delta({ output_tokens: 9 })}${stop}`)
    for (let size = 1; size <= 40; size++) {
      const answer = foldStream(
        adapter.createStreamReader(),
        pieces(body, () => size),
      )
      expect(answer).toMatchObject({ text: 'Grüße 👋!', finishReason: 'stop' })
      expect(answer.usage).toMatchObject({ promptTokens: 12, cachedTokens: 7, completionTokens: 9 })
    }
  })

  test('replaces the counts of message_start by those of the last message_delta', () => {
    const body =
      start +
      delta({ output_tokens: 3 }) +
      delta({ input_tokens: 50, output_tokens: 9, cache_read_input_tokens: null }) +
      stop
    const { usage } = foldStream(adapter.createStreamReader(), [bytesOf(body)])
    expect(usage).toMatchObject({ promptTokens: 57, completionTokens: 9, cachedTokens: 7 })
  })

  test('emits the text before an error in the same bytes, then fails permanently', () => {
    const overloaded = line({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })
    const reader = adapter.createStreamReader()
    expect(reader.push(bytesOf(start + text('Half') + overloaded))).toEqual([{ type: 'text', text: 'Half' }])
    expect(reader.pendingError?.()).toMatchObject({ errorClass: 'overloaded', retryable: false, afterFirstByte: true })
    expect(errorOf(() => reader.push(bytesOf(stop)))).toMatchObject({ errorClass: 'overloaded' })
    expect(errorOf(() => reader.end())).toMatchObject({ errorClass: 'overloaded' })
  })

  test('is retryable if the error is its first event', () => {
    const reader = adapter.createStreamReader()
    const body = ping + line({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })
    expect(errorOf(() => reader.push(bytesOf(body)))).toMatchObject({ retryable: true, afterFirstByte: false })
  })

  test('is a failure if it ends without message_stop or contains invalid JSON', () => {
    for (const body of ['', start, start + text('Half'), start + text('Whole') + delta({ output_tokens: 2 })]) {
      const error = errorOf(() => foldStream(adapter.createStreamReader(), [bytesOf(body)]))
      expect(error).toMatchObject({ errorClass: 'connection', afterFirstByte: body !== '' })
    }
    expect(
      errorOf(() => foldStream(adapter.createStreamReader(), [bytesOf(`${start}data: <html>\n\n`)])),
    ).toMatchObject({
      errorClass: 'connection',
    })
  })

  test('contains tool calls, with and without arguments', () => {
    const block = (index: number, name: string) =>
      line({
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: `t${index}`, name, input: {} },
      })
    const input = (index: number, partial: string) =>
      line({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: partial } })
    const end = (index: number) => line({ type: 'content_block_stop', index })
    const body =
      start +
      block(1, 'now') +
      input(1, '') +
      end(1) +
      block(2, 'weather') +
      input(2, '{"city"') +
      input(2, ':"Rome"}') +
      end(2) +
      delta({ output_tokens: 4 }, 'tool_use') +
      stop
    const answer = foldStream(adapter.createStreamReader(), [bytesOf(body)])
    expect(answer.finishReason).toBe('tool_calls')
    expect(answer.toolCalls).toEqual([
      { id: 't1', name: 'now', argumentsJson: '{}' },
      { id: 't2', name: 'weather', argumentsJson: '{"city":"Rome"}' },
    ])
  })
})

describe('an answer of Anthropic', () => {
  test('counts every billed round of a compacted conversation', () => {
    const usage = mapUsage({
      input_tokens: 23000,
      output_tokens: 1000,
      iterations: [
        { type: 'compaction', input_tokens: 180000, output_tokens: 3500 },
        { type: 'message', input_tokens: 23000, output_tokens: 1000, cache_read_input_tokens: 10 },
      ],
    })
    expect(usage).toMatchObject({ promptTokens: 203010, completionTokens: 4500, cachedTokens: 10 })
  })

  test('has no usage, never zeros, if the wire has none', () => {
    expect(mapUsage(undefined)).toBeNull()
    expect(mapUsage({})).toBeNull()
  })

  test("keeps to the compatible API's words; a word it does not know is a stop", () => {
    expect(
      ['end_turn', 'pause_turn', 'max_tokens', 'refusal', 'tool_use', 'something_new', null].map(mapFinishReason),
    ).toEqual(['stop', 'stop', 'length', 'content_filter', 'tool_calls', 'stop', 'stop'])
  })

  test('is an error if the body of a 200 is an error', () => {
    const body = bytesOf('{"type":"error","error":{"type":"api_error","message":"boom"}}')
    expect(errorOf(() => adapter.fromResponse(body))).toMatchObject({ errorClass: 'server_error', message: 'boom' })
    expect(errorOf(() => adapter.fromResponse(bytesOf('<html>')))).toMatchObject({ errorClass: 'connection' })
    expect(errorOf(() => adapter.fromResponse(bytesOf('{}')))).toMatchObject({ errorClass: 'connection' })
  })
})

describe('an error of Anthropic', () => {
  const mapped = (status: number, type: string, message: string, headers: Record<string, string> = {}) =>
    adapter.mapError({ status, headers, body: JSON.stringify({ type: 'error', error: { type, message } }) })

  test('passes on the provider’s retry-after', () => {
    const error = mapped(429, 'rate_limit_error', 'slow down', { 'retry-after': '12' })
    expect(error).toMatchObject({ errorClass: 'rate_limit', retryable: true, retryAfterSeconds: 12 })
  })

  test('distinguishes missing credit and a full context from a bad request', () => {
    const empty = mapped(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.')
    expect(empty).toMatchObject({ errorClass: 'quota', retryable: false })
    const long = mapped(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum')
    expect(long).toMatchObject({ errorClass: 'context_length', retryable: false })
  })

  test("never shows a key, ours or another's", () => {
    const { message } = mapped(401, 'authentication_error', 'bad key sk-ant-secret-of-test or Bearer abcdefghijklmnop')
    expect(message).not.toMatch(/secret-of-test|abcdefghijklmnop/)
  })

  test('gets its class from the status if the body is empty', () => {
    expect(adapter.mapError({ status: 502, headers: {}, body: '<html>bad gateway' })).toMatchObject({
      errorClass: 'server_error',
      retryable: true,
    })
  })
})
