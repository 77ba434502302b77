import { lookUp } from '../../../platform/kernel/index.ts'
import { classOfUnknownRefusal, isCapacityShortage, isContextOverflow } from '../error-words.ts'
import type { ProviderError, ProviderErrorClass } from '../port.ts'
import { errorClassOfStatus, failure, retryAfterOfHeaders } from '../wire-failure.ts'
import { asMessage, asName, asString, type JsonObject, parseJsonObject } from '../wire-json.ts'
import type { Redact } from '../redactor.ts'

/** Names of AWS exceptions in lower case: HTTP answers use `ThrottlingException`, streams `throttlingException`. */
const classes: Readonly<Record<string, ProviderErrorClass>> = {
  validationexception: 'invalid_request',
  serializationexception: 'invalid_request',
  accessdeniedexception: 'authentication',
  unrecognizedclientexception: 'authentication',
  expiredtokenexception: 'authentication',
  invalidsignatureexception: 'authentication',
  incompletesignatureexception: 'authentication',
  missingauthenticationtokenexception: 'authentication',
  notauthorizedexception: 'authentication',
  resourcenotfoundexception: 'model_not_found',
  throttlingexception: 'rate_limit',
  toomanyrequestsexception: 'rate_limit',
  servicequotaexceededexception: 'quota',
  modelnotreadyexception: 'overloaded',
  serviceunavailableexception: 'overloaded',
  modeltimeoutexception: 'timeout',
  modelerrorexception: 'server_error',
  modelstreamerrorexception: 'server_error',
  internalserverexception: 'server_error',
  internalfailure: 'server_error',
}

/** A non-2xx answer of Bedrock; the kind of error is in a header, in older services in the body. */
export function mapError(
  answer: { status: number; headers: Record<string, string>; body: string },
  redact: Redact,
): ProviderError {
  const body = parseJsonObject(answer.body) ?? {}
  const type = answer.headers['x-amzn-errortype'] || asString(body.__type) || asString(body.code)
  return toFailure(type, body, redact, {
    status: answer.status,
    retryAfterSeconds: retryAfterOfHeaders(answer.headers),
    afterFirstByte: false,
  })
}

/** An exception frame inside a stream. */
export function mapStreamException(
  type: string,
  body: JsonObject,
  redact: Redact,
  afterFirstByte: boolean,
): ProviderError {
  return toFailure(type, body, redact, { status: 200, retryAfterSeconds: null, afterFirstByte })
}

function toFailure(
  wireType: string,
  body: JsonObject,
  redact: Redact,
  fields: { status: number; retryAfterSeconds: number | null; afterFirstByte: boolean },
): ProviderError {
  const type = plainType(wireType)
  const message = asMessage(body.message) || asMessage(body.Message)
  const text = redact(message) || `Bedrock answered ${type || fields.status}.`
  return failure(classify(type, fields.status, message), text, { ...fields, code: asName(type) })
}

/** `ValidationException:http://…` and `com.amazon…#ValidationException` are both ValidationException. */
function plainType(type: string): string {
  return (type.split(':')[0] ?? '').split('#').at(-1)?.trim() ?? ''
}

function classify(type: string, status: number, message: string): ProviderErrorClass {
  const known = lookUp(classes, type.toLowerCase()) ?? (status >= 400 ? errorClassOfStatus(status) : 'server_error')
  if (known === 'invalid_request') {
    if (/model identifier is invalid|model id.*(isn't|is not) supported|on-demand throughput/i.test(message)) {
      return 'model_not_found'
    }
    return isContextOverflow(message) ? 'context_length' : classOfUnknownRefusal(message)
  }
  // Some models report it as a failure of the model: "The model returned the following errors: …".
  if (known === 'server_error' && isContextOverflow(message)) return 'context_length'
  // A daily quota is not restored after a short wait.
  if (known === 'rate_limit' && /per day/i.test(message)) return 'quota'
  if (known === 'rate_limit' && isCapacityShortage(message)) return 'overloaded'
  if (known === 'authentication' && /payment/i.test(message)) return 'quota'
  return known
}
