import { describe, expect, test } from 'vitest'
import { createRedactor } from './redactor.ts'
import { failure, retryAfterOfHeaders } from './wire-failure.ts'

describe('retry-after of a provider', () => {
  const now = Date.parse('2026-11-21T02:00:00Z')

  test.each([
    [{ 'retry-after': '12' }, 12],
    [{ 'retry-after': '0.5' }, 0.5],
    [{ 'retry-after': 'Sat, 21 Nov 2026 02:00:30 GMT' }, 30],
    [{ 'retry-after': 'Sat, 21 Nov 2026 01:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1.5],
    [{ 'retry-after-ms': '0', 'retry-after': '1' }, 1],
    [{ 'retry-after-ms': '0' }, 0],
    [{ 'retry-after': '99999999' }, 86_400],
    [{ 'retry-after': 'soon' }, null],
    [{}, null],
  ])('in %o is %s seconds', (headers, seconds) => {
    expect(retryAfterOfHeaders(headers as Record<string, string>, now)).toBe(seconds)
  })

  test('never makes a call retryable once bytes of an answer were received', () => {
    expect(failure('overloaded', 'x').retryable).toBe(true)
    expect(failure('overloaded', 'x', { afterFirstByte: true }).retryable).toBe(false)
    expect(failure('authentication', 'x').retryable).toBe(false)
  })
})

describe('a provider’s message', () => {
  test('is redacted: the account’s secrets, whole or in part, and anything that looks like a key', () => {
    const cut = createRedactor({
      id: 'aws',
      format: 'bedrock',
      apiKey: 'plain-looking-key',
      credentials: 'AKIDEXAMPLE:very/secret+key:session-token',
      headers: { 'x-team': 'header-secret' },
    })
    const text = [
      'plain-looking-key very/secret+key session-token header-secret AKIDEXAMPLE',
      'sk-proj-abcdefghijklmnopqrst AIzaSyA1234567890abcdefghijk Bearer abcdefghijkl',
      'AKIAIOSFODNN7EXAMPLE ya29.a0AfH6SMBabcdefg eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl',
    ].join('\n')
    expect(cut(text).replaceAll('[secret]', '').trim()).toBe('')
  })

  test('keeps its other text and is bounded', () => {
    const cut = createRedactor({ id: 'x', format: 'openai', apiKey: 'abc' })
    expect(cut('max_tokens must be at least 1 for task-oriented models, abc')).toBe(
      'max_tokens must be at least 1 for task-oriented models, abc',
    )
    expect(cut('x'.repeat(10_000)).length).toBeLessThan(2100)
  })
})
