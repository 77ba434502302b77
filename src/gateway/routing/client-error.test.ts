import { expect, test } from 'vitest'
import { AppError, type ErrorCode, withDeadline } from '../../platform/kernel/index.ts'
import { type ProviderErrorClass, ProviderError } from '../providers/index.ts'
import { toClientError } from './client-error.ts'
import { RoutingFailure } from './router.ts'
import { providerError } from '../models/testing/catalogue-fixture.ts'

const expected: Record<ProviderErrorClass, ErrorCode> = {
  authentication: 'upstream_error',
  quota: 'upstream_error',
  model_not_found: 'upstream_error',
  server_error: 'upstream_error',
  overloaded: 'upstream_error',
  connection: 'upstream_error',
  timeout: 'upstream_timeout',
  rate_limit: 'rate_limit_exceeded',
  invalid_request: 'invalid_request',
  context_length: 'context_length_exceeded',
  content_filter: 'content_filter',
  share_exhausted: 'rate_limit_exceeded',
  capacity: 'overloaded',
  cancelled: 'client_closed',
}

test.each(Object.entries(expected) as [ProviderErrorClass, ErrorCode][])(
  '%s at the provider is %s for the client',
  (errorClass, code) => {
    expect(toClientError(providerError(errorClass)).code).toBe(code)
    expect(toClientError(new RoutingFailure(providerError(errorClass), [])).code).toBe(code)
  },
)

test('a database that does not answer is 503, and another error of ours is 500', async () => {
  const late = await withDeadline(0, () => new Promise<never>(() => {})).catch((error: unknown) => error)
  expect(toClientError(late)).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
  expect(toClientError(new Error('a bug')).code).toBe('internal_error')
})

test('a rate limit always has retry-after, rounded up', () => {
  expect(toClientError(providerError('rate_limit', { retryAfterSeconds: 2.1 })).retryAfterSeconds).toBe(3)
  expect(toClientError(providerError('rate_limit')).retryAfterSeconds).toBe(1)
})

test('the client gets the provider’s message, shortened, only if the request was at fault', () => {
  const refused = new ProviderError('invalid_request', `temperature is too hot ${'x'.repeat(5000)}`, {
    retryable: false,
    param: 'temperature',
  })
  const shown = toClientError(refused)
  expect(shown.message).toContain('temperature is too hot')
  expect(shown.message.length).toBeLessThan(600)
  expect(shown.param).toBe('temperature')
  const ours = toClientError(new ProviderError('authentication', 'key of account acme is wrong', { retryable: false }))
  expect(ours.message).not.toContain('acme')
  expect(ours.internal).toContain('acme')
})

test('a sentence that a host sends as the name of a field is not shown', () => {
  for (const param of ['Account acme is suspended', 'accounts/acme/models/m', 'messages: acme'])
    expect(toClientError(new ProviderError('invalid_request', 'bad', { retryable: false, param })).param).toBeNull()
  const path = 'messages[0].content.image-url'
  const error = new ProviderError('invalid_request', 'bad', { retryable: false, param: path })
  expect(toClientError(error).param).toBe(path)
})

test.each([
  ['invalid_request', 'Your account acme is suspended.', 'the provider gave no reason that can be shown.'],
  ['invalid_request', 'تم تعليق الحساب acme', 'the provider gave no reason that can be shown.'],
  ['invalid_request', 'บัญชี acme ถูกระงับ', 'the provider gave no reason that can be shown.'],
  ['invalid_request', "Invalid value 'ถูกระงับ' of temperature.", "Invalid value 'ถูกระงับ' of temperature."],
  ['invalid_request', 'Too hot for accounts/acme/models/x. Billing: acme.', 'Too hot for models/x.'],
  [
    'context_length',
    'Too large in organization org-1234567890. Send less. See https://x.test/account/limits.',
    'Send less.',
  ],
  ['content_filter', 'Content violates guidelines. Team: 1, API key ID: 2', 'Content violates guidelines.'],
] as const)(
  'of a message of %s, the client never gets the sentences about the account: %s',
  (errorClass, text, shown) => {
    const { message } = toClientError(new ProviderError(errorClass, text, { retryable: false }))
    expect(message.slice(message.indexOf(': ') + 2)).toBe(shown)
  },
)

test('an AppError passes unchanged; an unknown error becomes a general message', () => {
  const own = new AppError('insufficient_quota', 'The budget is used up.')
  expect(toClientError(own)).toBe(own)
  expect(toClientError(new Error('secret detail'))).toMatchObject({
    code: 'internal_error',
    message: 'The request failed.',
  })
})
