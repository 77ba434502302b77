import { lookUp } from '../../../platform/kernel/index.ts'
import { classOfUnknownRefusal, isCapacityShortage, isContextOverflow } from '../error-words.ts'
import type { ProviderError, ProviderErrorClass } from '../port.ts'
import { boundWait, errorClassOfStatus, failure, retryAfterOfHeaders } from '../wire-failure.ts'
import { asCount, asMessage, asName, asObject, asObjects, asString, type JsonObject } from '../wire-json.ts'
import type { Redact } from '../redactor.ts'

/** The names of google.rpc.Code. */
const classes: Readonly<Record<string, ProviderErrorClass>> = {
  INVALID_ARGUMENT: 'invalid_request',
  OUT_OF_RANGE: 'invalid_request',
  FAILED_PRECONDITION: 'invalid_request',
  UNAUTHENTICATED: 'authentication',
  PERMISSION_DENIED: 'authentication',
  NOT_FOUND: 'model_not_found',
  RESOURCE_EXHAUSTED: 'rate_limit',
  DEADLINE_EXCEEDED: 'timeout',
  UNAVAILABLE: 'overloaded',
  INTERNAL: 'server_error',
  UNKNOWN: 'server_error',
  ABORTED: 'server_error',
  CANCELLED: 'server_error',
}

/** Maps an error body of Google's APIs, or an error object inside a stream (status 200), to a ProviderError. */
export function mapError(
  answer: { status: number; headers: Record<string, string>; body: string; afterFirstByte?: boolean },
  redact: Redact,
): ProviderError {
  const error = errorOf(answer.body)
  const status = answer.status === 200 ? (asCount(error.code) ?? 200) : answer.status
  const details = asObjects(error.details)
  const message = asMessage(error.message)
  const errorClass = classify(status, asString(error.status), message, details)
  return failure(errorClass, redact(message) || `Google answered ${answer.status}.`, {
    status: answer.status,
    code: reasonOf(details) ?? asName(error.status),
    retryAfterSeconds: retryDelay(details) ?? retryAfterOfHeaders(answer.headers),
    afterFirstByte: answer.afterFirstByte ?? false,
  })
}

/** Without `alt=sse` an error is the only member of an array. */
function errorOf(body: string): JsonObject {
  try {
    const value: unknown = JSON.parse(body)
    return asObject(asObject(Array.isArray(value) ? value[0] : value).error)
  } catch {
    return {}
  }
}

function classify(status: number, word: string, message: string, details: JsonObject[]): ProviderErrorClass {
  const reason = reasonOf(details) ?? ''
  // A wrong or expired key is a 400 INVALID_ARGUMENT; only the reason identifies it.
  if (/^API_KEY_|^CONSUMER_(SUSPENDED|INVALID)$|^SERVICE_DISABLED$/.test(reason)) return 'authentication'
  if (reason === 'BILLING_DISABLED' || /billing (account|is|has)|prepay|credits? (are|is) depleted/i.test(message)) {
    return 'quota'
  }
  const known = lookUp(classes, word) ?? (status >= 400 ? errorClassOfStatus(status) : 'server_error')
  if (known === 'rate_limit' && isAccountLimit(details)) return 'quota'
  if (known === 'rate_limit' && isCapacityShortage(message)) return 'overloaded'
  if (known === 'invalid_request') {
    if (isContextOverflow(message)) return 'context_length'
    return /location is not supported/i.test(message) ? 'authentication' : classOfUnknownRefusal(message)
  }
  return known
}

/** A daily quota is not restored after a short wait. */
function isAccountLimit(details: JsonObject[]): boolean {
  const violations = details.flatMap((detail) => asObjects(detail.violations))
  return violations.length > 0 && violations.every((violation) => /PerDay/i.test(asString(violation.quotaId)))
}

function reasonOf(details: JsonObject[]): string | null {
  return asName(details.find((detail) => asString(detail['@type']).endsWith('google.rpc.ErrorInfo'))?.reason)
}

/** `retryDelay` is a protobuf duration: `34.4s`. */
function retryDelay(details: JsonObject[]): number | null {
  const info = details.find((detail) => asString(detail['@type']).endsWith('google.rpc.RetryInfo'))
  const match = /^(\d+(?:\.\d+)?)s$/.exec(asString(info?.retryDelay))
  return match ? boundWait(Number(match[1])) : null
}
