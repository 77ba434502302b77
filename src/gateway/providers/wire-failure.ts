import { type FailureFields, ProviderError, type ProviderErrorClass } from './port.ts'

/** Classes whose call may succeed later or at another deployment. */
const retryableClasses: ReadonlySet<ProviderErrorClass> = new Set([
  'rate_limit',
  'overloaded',
  'server_error',
  'connection',
  'timeout',
  'share_exhausted',
  'capacity',
])

/** A ProviderError whose `retryable` follows from its class, and is false once bytes of an answer were received. */
export function failure(errorClass: ProviderErrorClass, message: string, fields: FailureFields = {}): ProviderError {
  const retryable = retryableClasses.has(errorClass) && fields.afterFirstByte !== true
  return new ProviderError(errorClass, message, { ...fields, retryable })
}

/** The class of a status; adapters inspect the provider's message first. */
export function errorClassOfStatus(status: number): ProviderErrorClass {
  if (status === 401 || status === 403) return 'authentication'
  if (status === 402) return 'quota'
  if (status === 404) return 'model_not_found'
  if (status === 408 || status === 504) return 'timeout'
  if (status === 429) return 'rate_limit'
  if (status === 503 || status === 529) return 'overloaded'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

/** Upper bound on a provider's retry-after, in seconds: a day. */
const maximumRetryAfterSeconds = 86_400

/** The wait in `retry-after-ms` or `retry-after` (seconds or an HTTP date, RFC 9110 10.2.3), else null. */
export function retryAfterOfHeaders(headers: Record<string, string>, nowMs: number = Date.now()): number | null {
  const milliseconds = Number(headers['retry-after-ms'] || Number.NaN)
  if (milliseconds > 0) return boundWait(milliseconds / 1000)
  const value = headers['retry-after']?.trim()
  // Azure sends 0 milliseconds together with a whole second; the second is correct.
  if (!value) return milliseconds === 0 ? 0 : null
  if (/^\d+(\.\d+)?$/.test(value)) return boundWait(Number(value))
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : boundWait((date - nowMs) / 1000)
}

export function boundWait(seconds: number): number {
  return Math.min(maximumRetryAfterSeconds, Math.max(0, seconds))
}

/** The stream stopped before the answer's end. */
export function truncatedStream(answerHadBegun: boolean): ProviderError {
  return failure('connection', 'The provider closed the stream before the end of its answer.', {
    afterFirstByte: answerHadBegun,
  })
}

/** A 2xx body, or a part of a stream, that violates the wire format. */
export function unreadableAnswer(what: string, afterFirstByte: boolean): ProviderError {
  return failure('connection', `The provider sent ${what} that could not be read.`, { afterFirstByte })
}
