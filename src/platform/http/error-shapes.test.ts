import { describe, expect, test } from 'vitest'
import { AppError, type ErrorCode } from '../kernel/index.ts'
import { errorResponse } from './error-shapes.ts'

const messages = { url: '/v2/gateway/anthropic/v1/messages?beta=true', requestId: 'req_1' }

describe('an error below the prefix of the Messages API', () => {
  test.each<[ErrorCode, number, string]>([
    ['invalid_request', 400, 'invalid_request_error'],
    ['unsupported_parameter', 400, 'invalid_request_error'],
    ['context_length_exceeded', 400, 'invalid_request_error'],
    ['invalid_api_key', 401, 'authentication_error'],
    ['insufficient_quota', 402, 'billing_error'],
    ['subscription_required', 402, 'billing_error'],
    ['gateway_not_enabled', 403, 'permission_error'],
    ['model_not_found', 404, 'not_found_error'],
    ['method_not_allowed', 405, 'invalid_request_error'],
    ['request_timeout', 408, 'invalid_request_error'],
    ['request_too_large', 413, 'request_too_large'],
    ['rate_limit_exceeded', 429, 'rate_limit_error'],
    ['internal_error', 500, 'api_error'],
    ['upstream_error', 502, 'api_error'],
    ['overloaded', 503, 'overloaded_error'],
    ['upstream_timeout', 504, 'timeout_error'],
  ])('%s has the status %i and the type %s', (code, status, type) => {
    const response = errorResponse(new AppError(code, 'Words.'), messages)
    expect(response.status).toBe(status)
    expect(response.body).toEqual({ type: 'error', error: { type, message: 'Words.' }, request_id: 'req_1' })
    expect(response.headers).toMatchObject({ 'request-id': 'req_1' })
  })

  test('names the field in its message, once', () => {
    const messageOf = (message: string) =>
      errorResponse(new AppError('invalid_request', message, { param: 'tools.0.name' }), messages).body.error.message
    expect(messageOf('must be a string.')).toBe('tools.0.name: must be a string.')
    expect(messageOf('`tools.0.name` must be a string.')).toBe('`tools.0.name` must be a string.')
  })

  test('lets SDKs continue without a thread', () => {
    const { body } = errorResponse(
      new AppError('unsupported_parameter', '`thread`: no.', { param: 'thread' }),
      messages,
    )
    expect(body).toMatchObject({ error: { details: { error_code: 'thread_unsupported_request' } } })
  })

  test('keeps retry-after', () => {
    const error = new AppError('rate_limit_exceeded', 'Words.', { retryAfterSeconds: 3 })
    expect(errorResponse(error, messages).headers).toMatchObject({ 'retry-after': '3' })
  })
})

test('other paths have the error body of the compatible API', () => {
  for (const url of ['/v1/gateway/models', '/v2/gateway/responses', '/v2/gateway/anthropics/v1/messages']) {
    const { body, headers } = errorResponse(new AppError('invalid_request', 'Words.'), { url, requestId: 'req_1' })
    expect(body).toEqual({ error: { message: 'Words.', type: 'invalid_request_error', param: null, code: null } })
    expect(headers).toEqual({})
  }
})
