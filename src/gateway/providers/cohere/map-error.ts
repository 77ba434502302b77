import { classOfUnknownRefusal, isCapacityShortage, isContextOverflow } from '../error-words.ts'
import type { ProviderError, ProviderErrorClass } from '../port.ts'
import { errorClassOfStatus, failure, retryAfterOfHeaders } from '../wire-failure.ts'
import { asMessage, asString, parseJsonObject } from '../wire-json.ts'
import type { Redact } from '../redactor.ts'

/** Cohere's errors are flat: `{"message"}`. The status decides the class; for 400 and 429 the message does. */
export function mapError(
  answer: { status: number; headers: Record<string, string>; body: string },
  redact: Redact,
): ProviderError {
  const body = parseJsonObject(answer.body) ?? {}
  const message = asMessage(body.message) || asMessage(body.error)
  return failure(classify(answer.status, message), redact(message) || `Cohere answered ${answer.status}.`, {
    status: answer.status,
    retryAfterSeconds: retryAfterOfHeaders(answer.headers),
  })
}

/** The failure of an answer that ends with an error inside HTTP 200; null for every other finish reason. */
export function failureOfFinish(finishReason: string | null, detail: unknown, redact: Redact): ProviderError | null {
  if (finishReason === null || !/^(ERROR(?!_TOXIC)|TIMEOUT|USER_CANCEL)/.test(finishReason)) return null
  const errorClass = finishReason === 'TIMEOUT' ? 'timeout' : 'server_error'
  const message = redact(asString(detail)) || `Cohere ended the answer with ${finishReason}.`
  return failure(errorClass, message, { status: 200, code: finishReason, afterFirstByte: true })
}

function classify(status: number, message: string): ProviderErrorClass {
  // 498 is Cohere's status for a blocked key.
  if (status === 498) return 'authentication'
  if (status === 499) return 'cancelled'
  if (status === 429 && /trial|per month|monthly|billing|spend/i.test(message)) return 'quota'
  if (status === 429 && isCapacityShortage(message)) return 'overloaded'
  const known = errorClassOfStatus(status)
  if (known !== 'invalid_request') return known
  if (isContextOverflow(message)) return 'context_length'
  if (/model .*(not found|does not exist)/i.test(message)) return 'model_not_found'
  return classOfUnknownRefusal(message)
}
