/**
 * The one error type of the domain and its closed list of codes. Domain code throws an AppError and does not use HTTP;
 * src/platform/http/error-renderer.ts decides status, headers and log level from the code.
 */

/** Every code that may leave the service. A new one needs a row in src/platform/http/error-renderer.ts (the compiler reports a missing one). */
export type ErrorCode =
  // the request itself
  | 'invalid_request'
  | 'unsupported_parameter'
  | 'context_length_exceeded'
  | 'content_filter'
  | 'request_too_large'
  | 'unsupported_file_type'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'conflict'
  | 'golden_questions_not_passed'
  | 'range_not_satisfiable'
  // the caller
  | 'invalid_api_key'
  | 'invalid_operator_token'
  | 'not_signed_in'
  | 'invalid_visit'
  | 'password_required'
  | 'forbidden_role'
  | 'cross_site_request'
  | 'proof_of_work_required'
  | 'origin_not_allowed'
  | 'site_paused'
  | 'gateway_not_enabled'
  | 'subscription_required'
  | 'insufficient_quota'
  | 'rate_limit_exceeded'
  // the target of the request
  | 'model_not_found'
  | 'organisation_not_found'
  | 'space_not_found'
  | 'endpoint_not_found'
  | 'document_not_found'
  | 'not_found'
  | 'unknown_endpoint'
  | 'method_not_allowed'
  | 'misdirected_request'
  // failures of this service and of the provider
  | 'upstream_error'
  | 'upstream_timeout'
  | 'overloaded'
  | 'shutting_down'
  | 'request_timeout'
  | 'client_closed'
  | 'internal_error'

export interface RateLimitState {
  /** Of which limit: it names the `x-ratelimit-*` headers. */
  unit: 'requests' | 'tokens'
  limit: number
  remaining: number
  /** Until all of the limit is free again. */
  resetSeconds: number
}

export interface AppErrorOptions {
  /** The request field that is wrong, in dotted form (`messages.0.content`). */
  param?: string
  /** For the log only: may contain hosts, paths and causes, but never a secret or a prompt. */
  internal?: string
  /** Seconds after which the same request may succeed; becomes `retry-after`. */
  retryAfterSeconds?: number
  /** A limit of ours that was reached; becomes the `x-ratelimit-*` headers of the compatible API. */
  rateLimit?: RateLimitState
  cause?: unknown
}

/** An error whose `message` may be shown to the client unchanged. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly param: string | null
  readonly internal: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly rateLimit: RateLimitState | undefined

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.param = options.param ?? null
    this.internal = options.internal
    this.retryAfterSeconds = options.retryAfterSeconds
    this.rateLimit = options.rateLimit
  }
}

/** `invalid_request` about one field, in dotted form (`messages.0.content`). */
export function invalidField(param: string, message: string): AppError {
  return new AppError('invalid_request', message, { param })
}

export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code)
}

/** The text of whatever was thrown, for logs. Of an AppError the code: its message is for the client and may quote the client. */
export function describeError(error: unknown): string {
  if (error instanceof AppError) return error.internal === undefined ? error.code : `${error.code}: ${error.internal}`
  return error instanceof Error ? error.message : String(error)
}

/** A lost or overloaded database is 503: the same request may succeed in a moment. Undefined for other errors. See DatabaseError.isUnavailable. */
export function unavailableError(error: unknown): AppError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ((current as { isUnavailable?: unknown }).isUnavailable === true) {
      return new AppError('overloaded', 'The database does not answer at the moment. Try again shortly.', {
        internal: describeError(error),
        cause: error,
        retryAfterSeconds: 1,
      })
    }
  }
  return undefined
}
