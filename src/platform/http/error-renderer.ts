import type { FastifyError } from 'fastify'
import type { ErrorBody } from '../../contract/errors.ts'
import type { MessagesErrorBody } from '../../contract/gateway-v2-messages.ts'
import { AppError, describeError, type ErrorCode, type RateLimitState, unavailableError } from '../kernel/index.ts'

interface ErrorClass {
  status: number
  type: string
  /** `code` in the body; null if `type` is sufficient. */
  code: string | null
}

const invalidRequest = 'invalid_request_error'

/**
 * Status, `type` and `code` of every error. A new ErrorCode does not compile without a row here, and fails a test without a row in
 * docs/use/errors.md.
 */
export const errorClasses: Record<ErrorCode, ErrorClass> = {
  invalid_request: { status: 400, type: invalidRequest, code: null },
  unsupported_parameter: { status: 400, type: invalidRequest, code: 'unsupported_parameter' },
  context_length_exceeded: { status: 400, type: invalidRequest, code: 'context_length_exceeded' },
  content_filter: { status: 400, type: invalidRequest, code: 'content_filter' },
  request_too_large: { status: 413, type: invalidRequest, code: 'request_too_large' },
  unsupported_file_type: { status: 415, type: invalidRequest, code: 'unsupported_file_type' },
  unsupported_media_type: { status: 415, type: invalidRequest, code: 'unsupported_media_type' },
  idempotency_key_reused: { status: 409, type: invalidRequest, code: 'idempotency_key_reused' },
  conflict: { status: 409, type: invalidRequest, code: 'conflict' },
  golden_questions_not_passed: { status: 409, type: invalidRequest, code: 'golden_questions_not_passed' },
  range_not_satisfiable: { status: 416, type: invalidRequest, code: 'range_not_satisfiable' },
  invalid_api_key: { status: 401, type: 'authentication_error', code: 'invalid_api_key' },
  invalid_operator_token: { status: 401, type: 'authentication_error', code: 'invalid_operator_token' },
  not_signed_in: { status: 401, type: 'authentication_error', code: 'not_signed_in' },
  invalid_visit: { status: 401, type: 'authentication_error', code: 'invalid_visit' },
  password_required: { status: 401, type: 'authentication_error', code: 'password_required' },
  forbidden_role: { status: 403, type: 'permission_error', code: 'forbidden_role' },
  cross_site_request: { status: 403, type: 'permission_error', code: 'cross_site_request' },
  proof_of_work_required: { status: 403, type: 'permission_error', code: 'proof_of_work_required' },
  origin_not_allowed: { status: 403, type: 'permission_error', code: 'origin_not_allowed' },
  site_paused: { status: 403, type: 'permission_error', code: 'site_paused' },
  gateway_not_enabled: { status: 403, type: 'permission_error', code: 'gateway_not_enabled' },
  subscription_required: { status: 402, type: 'billing_error', code: 'subscription_required' },
  insufficient_quota: { status: 402, type: 'insufficient_quota', code: 'insufficient_quota' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  model_not_found: { status: 404, type: invalidRequest, code: 'model_not_found' },
  organisation_not_found: { status: 404, type: invalidRequest, code: 'organisation_not_found' },
  space_not_found: { status: 404, type: invalidRequest, code: 'space_not_found' },
  endpoint_not_found: { status: 404, type: invalidRequest, code: 'endpoint_not_found' },
  document_not_found: { status: 404, type: invalidRequest, code: 'document_not_found' },
  not_found: { status: 404, type: invalidRequest, code: 'not_found' },
  unknown_endpoint: { status: 404, type: invalidRequest, code: 'unknown_endpoint' },
  method_not_allowed: { status: 405, type: invalidRequest, code: 'method_not_allowed' },
  misdirected_request: { status: 421, type: invalidRequest, code: 'misdirected_request' },
  upstream_error: { status: 502, type: 'api_error', code: 'upstream_error' },
  upstream_timeout: { status: 504, type: 'api_error', code: 'upstream_timeout' },
  overloaded: { status: 503, type: 'api_error', code: 'overloaded' },
  shutting_down: { status: 503, type: 'api_error', code: 'shutting_down' },
  request_timeout: { status: 408, type: invalidRequest, code: 'request_timeout' },
  // For the log only; 499 is the status that nginx logs.
  client_closed: { status: 499, type: 'api_error', code: 'client_closed' },
  internal_error: { status: 500, type: 'api_error', code: 'internal_error' },
}

export function statusOf(code: ErrorCode): number {
  return errorClasses[code].status
}

/** The response body of an error. */
export function renderErrorBody(error: AppError): ErrorBody {
  const { type, code } = errorClasses[error.code]
  return { error: { message: error.message, type, param: error.param, code } }
}

/** Headers of an error. A 503 always has `retry-after`, so that SDKs back off. */
export function errorHeaders(error: AppError): Record<string, string> {
  const seconds = error.retryAfterSeconds ?? (statusOf(error.code) === 503 ? 1 : undefined)
  return {
    ...(seconds === undefined ? {} : { 'retry-after': String(Math.max(0, Math.ceil(seconds))) }),
    ...(error.rateLimit ? rateLimitHeaders(error.rateLimit) : {}),
  }
}

/** The rate limit headers of the compatible API: one triple for requests, one for tokens. */
export function rateLimitHeaders({ unit, limit, remaining, resetSeconds }: RateLimitState): Record<string, string> {
  return {
    [`x-ratelimit-limit-${unit}`]: String(limit),
    [`x-ratelimit-remaining-${unit}`]: String(remaining),
    [`x-ratelimit-reset-${unit}`]: `${resetSeconds}s`,
  }
}

/** Anything thrown during a request as an AppError. Unknown errors become internal_error without their text. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  return (
    fromFastify(error) ??
    unavailableError(error) ??
    new AppError('internal_error', 'Something went wrong on our side.', {
      internal: describeError(error),
      cause: error,
    })
  )
}

function fromFastify(error: unknown): AppError | undefined {
  const { code, statusCode, status, message } = (error ?? {}) as Partial<FastifyError> & { status?: number }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new AppError('request_too_large', 'The request body is larger than this server accepts.')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new AppError('unsupported_media_type', 'Send the body as application/json.', { param: 'content-type' })
  }
  if (code === 'FST_ERR_CTP_EMPTY_JSON_BODY')
    return new AppError('invalid_request', 'The body is empty, a JSON object is expected.')
  if (code === 'FST_ERR_CTP_INVALID_JSON_BODY' || (statusCode === 400 && error instanceof SyntaxError)) {
    return new AppError('invalid_request', 'The body is not valid JSON.')
  }
  if (statusCode === 400) return new AppError('invalid_request', message ?? 'The request is not valid.')
  // Only errors of @fastify/static have both. Its messages name no remedy.
  if (statusCode === status && statusCode !== undefined && statusCode < 500) return fromStaticFiles(statusCode)
  return undefined
}

function fromStaticFiles(status: number): AppError {
  if (status === 416) return new AppError('range_not_satisfiable', 'The file does not have this range.')
  if (status === 412)
    return new AppError(
      'invalid_request',
      'The file is not the one of the headers `if-match` or `if-unmodified-since`.',
    )
  return new AppError('not_found', 'There is no such file.')
}

/** Paths whose clients are SDKs of the Messages API. */
const messagesPrefix = '/v2/gateway/anthropic/'

/** Types of the Messages API by status. Statuses that it does not document are client errors below 500 and `api_error` above. */
const messagesTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** Status, headers and body of an error, in the shape of the API that `url` belongs to. */
export function errorResponse(error: AppError, { url, requestId }: { url: string; requestId: string }) {
  const isMessages = url.startsWith(messagesPrefix)
  return {
    status: statusOf(error.code),
    // SDKs of the Messages API read the id of a failed request from this header.
    headers: { ...errorHeaders(error), ...(isMessages && { 'request-id': requestId }) },
    body: isMessages ? renderMessagesError(error, requestId) : renderErrorBody(error),
  }
}

/** SDKs that get it send the whole conversation instead: their tool runners use threads unless the server refuses them. */
const noThreads = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }

/** The body of an error in the Messages API. The message names the field: the API has no place for `param`. */
export function renderMessagesError(error: AppError, requestId: string): MessagesErrorBody {
  const status = statusOf(error.code)
  const type = messagesTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  const isNamed = error.param === null || error.message.includes(error.param)
  const message = isNamed ? error.message : `${error.param}: ${error.message}`
  const details = error.code === 'unsupported_parameter' && error.param === 'thread' ? { details: noThreads } : {}
  return { type: 'error', error: { type, message, ...details }, request_id: requestId }
}
