import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { DatabaseError } from '../database/index.ts'
import { AppError, type ErrorCode, withDeadline } from '../kernel/index.ts'
import { errorClasses, errorHeaders, errorResponse, renderErrorBody, toAppError } from './error-renderer.ts'

const page = readFileSync(path.join(import.meta.dirname, '../../../docs/use/errors.md'), 'utf8')
const documented = [
  ...page.matchAll(/^- `([a-z_]+)` \((\d{3}), `([a-z_]+)`\): ([\s\S]+?)\s\*\*Do:\*\*\s([\s\S]+?)(?=\n- |\n\n)/gm),
]

describe('docs/use/errors.md', () => {
  it('lists every error code once, with status and type', () => {
    const inCode = Object.entries(errorClasses).map(([code, { status, type }]) => `${code} ${status} ${type}`)
    expect(documented.map(([, code, status, type]) => `${code} ${status} ${type}`).sort()).toEqual(inCode.sort())
  })

  it('describes the cause and the remedy of each code', () => {
    for (const [, code, , , when, remedy] of documented) {
      expect(when!.trim().length, code).toBeGreaterThan(10)
      expect(remedy!.trim(), code).not.toBe('')
    }
  })
})

describe('the error renderer', () => {
  it('returns 503 with retry-after while the database is unavailable, and 500 for permanent errors', () => {
    const lost = toAppError(
      new Error('load failed', { cause: new DatabaseError('57P01', 'terminated by administrator') }),
    )
    expect(lost).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
    expect(lost.message).not.toContain('administrator')
    for (const code of ['08006', '53300', '55P03', '57P03', '57014', '53100']) {
      expect(toAppError(new DatabaseError(code, 'x')).code, code).toBe('overloaded')
    }
    expect(toAppError(new DatabaseError('23505', 'duplicate key')).code).toBe('internal_error')
  })

  it('returns 503 with retry-after where a statement is not answered in time', async () => {
    const late = await withDeadline(0, () => new Promise<never>(() => {})).catch((error: unknown) => error)
    for (const error of [late, new Error('no lease could be opened', { cause: late })]) {
      expect(toAppError(error)).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
    }
  })

  it('has the code in the body, except for invalid_request, whose type is sufficient', () => {
    for (const code of Object.keys(errorClasses) as ErrorCode[]) {
      const { error } = renderErrorBody(new AppError(code, 'Words.', { param: 'field' }))
      expect(error.code).toBe(code === 'invalid_request' ? null : code)
      expect(error).toMatchObject({ message: 'Words.', param: 'field' })
    }
  })

  it('has retry-after in whole seconds with every 503, and with other errors only if they set it', () => {
    for (const code of Object.keys(errorClasses) as ErrorCode[]) {
      const expected = errorClasses[code].status === 503 ? { 'retry-after': '1' } : {}
      expect(errorHeaders(new AppError(code, 'Words.'))).toEqual(expected)
      expect(errorHeaders(new AppError(code, 'Words.', { retryAfterSeconds: 2.1 }))).toEqual({ 'retry-after': '3' })
    }
  })

  it('exposes nothing of an unknown error', () => {
    const error = toAppError(new Error('password=hunter2 at /srv/portico'))
    expect(error.code).toBe('internal_error')
    expect(JSON.stringify(renderErrorBody(error))).not.toMatch(/hunter2|srv/)
  })
})

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
