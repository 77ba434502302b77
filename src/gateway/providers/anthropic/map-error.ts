import { lookUp } from '../../../platform/kernel/index.ts'
import { classOfUnknownRefusal, isCapacityShortage, isContextOverflow } from '../error-words.ts'
import type { ProviderError, ProviderErrorClass } from '../port.ts'
import { errorClassOfStatus, failure, retryAfterOfHeaders } from '../wire-failure.ts'
import { asMessage, asName, asObject, asString, parseJsonObject } from '../wire-json.ts'
import type { Redact } from '../redactor.ts'

const classes: Readonly<Record<string, ProviderErrorClass>> = {
  authentication_error: 'authentication',
  permission_error: 'authentication',
  billing_error: 'quota',
  not_found_error: 'model_not_found',
  invalid_request_error: 'invalid_request',
  request_too_large: 'context_length',
  rate_limit_error: 'rate_limit',
  timeout_error: 'timeout',
  api_error: 'server_error',
  overloaded_error: 'overloaded',
}

/** Maps an error body of the Messages API, or an `error` event inside a stream (status 200), to a ProviderError. */
export function mapError(
  error: { status: number; headers: Record<string, string>; body: string; afterFirstByte?: boolean },
  redact: Redact,
): ProviderError {
  const detail = asObject(parseJsonObject(error.body)?.error)
  const type = asString(detail.type)
  const message = asMessage(detail.message)
  return failure(classify(error.status, type, message), redact(message) || `Anthropic answered ${error.status}.`, {
    status: error.status,
    code: asName(detail.type),
    retryAfterSeconds: retryAfterOfHeaders(error.headers),
    afterFirstByte: error.afterFirstByte ?? false,
  })
}

function classify(status: number, type: string, message: string): ProviderErrorClass {
  const known = lookUp(classes, type) ?? (status >= 400 ? errorClassOfStatus(status) : 'server_error')
  // All of them are plain invalid requests; only the message distinguishes them.
  if (known === 'invalid_request') {
    if (/usage limits?\b/i.test(message)) return 'quota'
    return isContextOverflow(message) ? 'context_length' : classOfUnknownRefusal(message)
  }
  if (known === 'rate_limit' && isCapacityShortage(message)) return 'overloaded'
  return known
}
