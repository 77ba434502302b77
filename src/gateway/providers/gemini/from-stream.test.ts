import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesOf } from '../../../../test/harness/provider-call.ts'
import { errorOf, foldStream, pieces, seededRandom } from '../../../../test/harness/recorded-wire.ts'
import { createGeminiAdapter } from './index.ts'
import { createJsonArrayParser } from './from-stream.ts'
import { mapFinishReason } from './map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'

const adapter = createGeminiAdapter({ id: 'gemini', format: 'gemini', apiKey: 'test-key' })
const candidate = (parts: unknown[], finishReason?: string) => ({ candidates: [{ content: { parts }, finishReason }] })
const chunks = [
  { ...candidate([{ text: 'thinking', thought: true }]), usageMetadata: { trafficType: 'ON_DEMAND' } },
  { ...candidate([{ text: 'Grüße 👋 "[{\\' }]), usageMetadata: { promptTokenCount: 90, totalTokenCount: 90 } },
  {
    ...candidate([{ text: ' }]!' }], 'STOP'),
    usageMetadata: { promptTokenCount: 9, toolUsePromptTokenCount: 2, candidatesTokenCount: 3, thoughtsTokenCount: 4 },
  },
  { usageMetadata: { trafficType: 'ON_DEMAND' } },
]
const asEvents = (values: unknown[]) =>
  bytesOf(values.map((value) => `data: ${JSON.stringify(value)}\r\n\r\n`).join(''))
/** Escaped as some proxies do, so that astral characters become two \u escapes that may be split. */
const asArray = (values: unknown[]) =>
  bytesOf(
    `[${values
      .map((value) =>
        JSON.stringify(value, null, 2).replace(
          /[\u0080-\uffff]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        ),
      )
      .join('\r\n,\r\n')}\n]`,
  )

describe('a stream of Gemini', () => {
  test.each([
    ['events with CRLF', asEvents(chunks)],
    ['the growing array', asArray(chunks)],
  ])('gives the same result as %s for every split; the last usage wins', (_name, body) => {
    for (let size = 1; size <= 60; size++) {
      const answer = foldStream(
        adapter.createStreamReader(),
        pieces(body, () => size),
      )
      expect(answer).toMatchObject({ text: 'Grüße 👋 "[{\\ }]!', reasoningText: 'thinking', finishReason: 'stop' })
      expect(answer.usage).toEqual({
        promptTokens: 11,
        completionTokens: 7,
        cachedTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 4,
      })
    }
  })

  test('is a failure if it stops before its finish reason, or before the array is closed', () => {
    const whole = asArray(chunks)
    for (const body of [bytesOf(''), asEvents(chunks.slice(0, 2)), whole.subarray(0, whole.length - 1)]) {
      expect(errorOf(() => foldStream(adapter.createStreamReader(), [body]))).toMatchObject({
        errorClass: 'connection',
      })
    }
  })

  test('is a failure if an error object is in the middle, in either framing', () => {
    const error = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }
    for (const body of [asEvents([chunks[1], error]), asArray([chunks[1], error])]) {
      expect(errorOf(() => foldStream(adapter.createStreamReader(), [body]))).toMatchObject({
        errorClass: 'overloaded',
        retryable: false,
        afterFirstByte: true,
      })
    }
    expect(errorOf(() => foldStream(adapter.createStreamReader(), [asArray([error])])).retryable).toBe(true)
  })

  test('reports a blocked prompt as content_filter, with the usage of the prompt', () => {
    const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 7 } }
    const streamed = foldStream(adapter.createStreamReader(), [asEvents([blocked])])
    const whole = adapter.fromResponse(bytesOf(JSON.stringify(blocked)))
    for (const answer of [streamed, whole]) {
      expect(answer).toMatchObject({
        text: '',
        finishReason: 'content_filter',
        wireFinishReason: 'PROHIBITED_CONTENT',
        usage: { promptTokens: 7, completionTokens: 0 },
      })
    }
  })

  test('distinguishes calls across chunks and ends with tool_calls although Google sends STOP', () => {
    const call = (city: string, finishReason?: string) =>
      candidate([{ functionCall: { name: 'weather', args: { city } } }], finishReason)
    const answer = foldStream(adapter.createStreamReader(), [asEvents([call('Paris'), call('Rome', 'STOP')])])
    expect(answer.finishReason).toBe('tool_calls')
    expect(answer.toolCalls.map((each) => each.argumentsJson)).toEqual(['{"city":"Paris"}', '{"city":"Rome"}'])
    expect(new Set(answer.toolCalls.map((each) => each.id)).size).toBe(2)
  })
})

describe('the array parser', () => {
  test('returns every member of any array, for every split', () => {
    const seed = 20261121
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.json()), { maxLength: 5 }),
        fc.nat(),
        (members, cutSeed) => {
          const random = seededRandom(cutSeed)
          const parser = createJsonArrayParser({ maximumMemberCharacters: 1_000_000 })
          const texts: string[] = []
          for (const piece of pieces(bytesOf(JSON.stringify(members, null, 1)), () => 1 + Math.floor(random() * 9))) {
            texts.push(...parser.push(piece))
          }
          texts.push(...parser.end())
          expect(texts.map((text) => JSON.parse(text) as unknown)).toEqual(JSON.parse(JSON.stringify(members)))
        },
      ),
      { seed, numRuns: 200 },
    )
  })

  test('bounds a member and rejects anything but an array', () => {
    const parser = createJsonArrayParser({ maximumMemberCharacters: 100 })
    expect(() => [...parser.push(bytesOf(`[{"a":"${'x'.repeat(200)}`))]).toThrow(RangeError)
    const other = createJsonArrayParser({ maximumMemberCharacters: 100 })
    expect(() => [...other.push(bytesOf('[<html>'))]).toThrow(SyntaxError)
  })
})

describe('an answer of Gemini', () => {
  test("keeps to the compatible API's words", () => {
    const filtered = ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'MODEL_ARMOR', 'IMAGE_SAFETY']
    for (const word of filtered) expect(mapFinishReason(word, false)).toBe('content_filter')
    expect(mapFinishReason('MAX_TOKENS', true)).toBe('length')
    expect(mapFinishReason('SOMETHING_NEW', false)).toBe('stop')
  })

  test('has no usage, never zeros, if nothing was counted', () => {
    expect(mapUsage({ trafficType: 'ON_DEMAND' })).toBeNull()
    expect(mapUsage(undefined)).toBeNull()
  })

  test('is an error if there is neither a candidate nor a reason', () => {
    expect(errorOf(() => adapter.fromResponse(bytesOf('{"candidates":[]}')))).toMatchObject({
      errorClass: 'connection',
    })
  })
})

describe('an error of Google', () => {
  const mapped = (status: number, error: Record<string, unknown>) =>
    adapter.mapError({ status, headers: {}, body: JSON.stringify([{ error }]) })
  const quota = (quotaId: string) => ({
    status: 'RESOURCE_EXHAUSTED',
    message: 'You exceeded your current quota',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' },
    ],
  })

  test('passes on the wait of RetryInfo, and distinguishes a daily quota from a rate limit', () => {
    expect(mapped(429, quota('RequestsPerMinute'))).toMatchObject({
      errorClass: 'rate_limit',
      retryable: true,
      retryAfterSeconds: 34.4,
    })
    expect(mapped(429, quota('GenerateRequestsPerDayPerProject'))).toMatchObject({
      errorClass: 'quota',
      retryable: false,
    })
  })

  test('distinguishes a full context from a bad request', () => {
    const message = 'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).'
    expect(mapped(400, { status: 'INVALID_ARGUMENT', message }).errorClass).toBe('context_length')
    expect(mapped(400, { status: 'INVALID_ARGUMENT', message: 'Unknown name "x"' }).errorClass).toBe('invalid_request')
  })
})
