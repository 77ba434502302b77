import { lookUp } from '../../../platform/kernel/index.ts'
import {
  classOfUnknownRefusal,
  isCapacityShortage,
  isContextOverflow,
  isContextOverflowCode,
  isExhaustedAccount,
} from '../error-words.ts'
import type { ProviderError, ProviderErrorClass } from '../port.ts'
import { boundWait, errorClassOfStatus, failure, retryAfterOfHeaders } from '../wire-failure.ts'
import { asMessage, asName, asObject, asString, type JsonObject, parseJson } from '../wire-json.ts'
import type { Redact } from '../redactor.ts'

export interface WireError {
  status: number
  headers: Record<string, string>
  body: string
  /** Parts of an answer had been received: the call may have been billed. */
  afterFirstByte?: boolean
}

/** Content of an error, in any of the family's forms. */
interface ErrorWords {
  message: string
  type: string
  code: string
  param: string | null
  /** Status in the body, if the HTTP status is 200. */
  status: number | null
}

/** Maps an error answer, or an error inside a 2xx body (status 200), to a ProviderError. */
export function mapError(error: WireError, redact: Redact): ProviderError {
  const words = readWords(error.body)
  const status = error.status >= 400 ? error.status : words.status
  return failure(classify(status, words, error.body), redact(words.message) || fallbackMessage(error.status), {
    status: error.status,
    code: words.code === '' ? null : redact(words.code).slice(0, 100),
    param: words.param === null ? null : redact(words.param).slice(0, 200),
    retryAfterSeconds: retryAfterOfHeaders(error.headers) ?? waitInWords(error.headers, words.message),
    afterFirstByte: error.afterFirstByte ?? false,
  })
}

function fallbackMessage(status: number): string {
  return status >= 400 ? `The provider answered ${status}.` : 'The provider answered with an error.'
}

/**
 * Forms of the family: `{error:{message,type,param,code}}` (OpenAI), the same in a list (Gemini's compatible host), `{error:"…"}` (Ollama,
 * xAI), flat `{message,type,code}` (Mistral, vLLM), `{detail}` as text or list (Mistral, FastAPI), or plain text.
 */
function readWords(body: string): ErrorWords {
  const parsed = parseJson(body)
  const outer = asObject(Array.isArray(parsed) ? parsed[0] : parsed)
  const inner = typeof outer.error === 'object' ? asObject(outer.error) : outer
  const message =
    messageOf(inner) || messageOf(outer) || asString(outer.error) || (parsed === undefined ? plainText(body) : '')
  const code = inner.code ?? outer.code ?? asObject(inner.innererror).code
  return {
    message: asMessage(withDetail(message, inner)),
    type: asMessage(inner.type ?? outer.type),
    code: typeof code === 'number' ? String(code) : asMessage(code),
    param: asName(inner.param ?? outer.param),
    status: statusOf(inner.status_code ?? inner.status ?? code) ?? statusOf(outer.status_code),
  }
}

function messageOf(object: JsonObject): string {
  for (const value of [object.message, object.detail, object.msg, object.error_message]) {
    if (typeof value === 'string' && value !== '') return value
    const details = Array.isArray(value) ? value : asObject(value).detail
    if (Array.isArray(details) && details.length > 0) return details.map(describeDetail).join('; ')
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return JSON.stringify(value)
  }
  return ''
}

/** One finding of a validator: location and message. The quoted input is omitted, because it may be the prompt. */
function describeDetail(detail: unknown): string {
  if (typeof detail === 'string') return detail
  const { loc, msg, message } = asObject(detail)
  const place = Array.isArray(loc) ? `${loc.join('.')}: ` : ''
  return `${place}${asString(msg) || asString(message)}`
}

/** OpenRouter wraps the message of the provider behind it. */
function withDetail(message: string, inner: JsonObject): string {
  const raw = asObject(inner.metadata).raw
  if (typeof raw !== 'string' || raw === '' || message.includes(raw)) return message
  const behind = readWordsOnce(raw)
  return behind === '' ? message : `${message}: ${behind}`
}

function readWordsOnce(raw: string): string {
  const parsed = parseJson(raw)
  if (parsed === undefined) return plainText(raw)
  const outer = asObject(parsed)
  return messageOf(asObject(outer.error)) || messageOf(outer) || asString(outer.error)
}

/** Only the title of an HTML page is short enough for a message. */
function plainText(body: string): string {
  const text = body.trim()
  if (!text.startsWith('<')) return text.slice(0, 500)
  return (/<title>([^<]{1,200})<\/title>/i.exec(text)?.[1] ?? '').trim()
}

function statusOf(value: unknown): number | null {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : null
}

const quotaCodes =
  /^(insufficient_quota|exceeded_current_quota_error|account_(suspended|deactivated|disabled)|billing_not_active|billing_hard_limit_reached|insufficient_credits|insufficient_balance|insufficient_user_quota|spend_limit_exceeded|access_terminated|arrearage|payment_required)$/i
const modelWords =
  /(model|deployment)\b[^.]{0,120}?\b(does not exist|doesn'?t exist|not exist|not found|is not available|has been (deprecated|decommissioned|removed)|not a valid model)|(invalid|unknown|no such) model|not a valid model|no endpoints found|unable to access model/i
const modelCodes =
  /^(model_not_found|invalid_model|unknown_model|model_decommissioned|deploymentnotfound|model_not_supported)$/i
const filterWords =
  /content management polic|content[ _]polic|content exists risk|flagged (as|by|for)|requires moderation|usage guidelines|safety[_ ]check|responsibleaipolicy|data_inspection_failed|safety system/i
const filterCodes =
  /^(content_filter|content_policy_violation|responsibleaipolicyviolation|data_inspection_failed|moderation_blocked)$/i
const keyWords =
  /(incorrect|invalid|missing|no|expired) api[ _-]?key|api[ _-]?key (is )?(invalid|not valid|incorrect|missing|expired)/i
/** The host's message first, then the status, then the type. */
function classify(status: number | null, words: ErrorWords, body: string): ProviderErrorClass {
  const known = classOfWords(status, words)
  if (known !== 'invalid_request') return known
  // In a form that is not read, any text of the body may be the message.
  const message = words.message || plainWords(body.slice(0, 2_000).replace(/[{}[\]"]/g, ' '))
  return classOfUnknownRefusal(`${message} ${plainWords(words.code)} ${plainWords(words.type)}`)
}

/** `account_suspended` and `AccountSuspended` as words. */
const plainWords = (name: string) => name.replace(/_/g, ' ').replace(/([a-z])(?=[A-Z])/g, '$1 ')

function classOfWords(status: number | null, { message, type, code }: ErrorWords): ProviderErrorClass {
  const client = status === null || status < 500
  if (client) {
    if (status === 402 || quotaCodes.test(code) || quotaCodes.test(type) || isExhaustedAccount(message)) return 'quota'
    if (filterCodes.test(code) || filterCodes.test(type) || filterWords.test(message)) return 'content_filter'
    if (isContextOverflowCode(code) || isContextOverflowCode(type)) return 'context_length'
    if (status === 413 || isRequestTooLarge(status, message)) return 'context_length'
    if (status === 429 && isCapacityShortage(message)) return 'overloaded'
    if (status !== 429 && (status === null || status < 401 || status === 422)) {
      if (isContextOverflow(message)) return 'context_length'
      if (modelCodes.test(code) || modelCodes.test(type) || modelWords.test(message)) return 'model_not_found'
      if (keyWords.test(message)) return 'authentication'
    }
    if (/^rate_limit(_exceeded|_error)?$|^ratelimitreached$/i.test(code) || /^rate_limit/i.test(type))
      return 'rate_limit'
    // Groq: the flexible tier is full.
    if (status === 498) return 'overloaded'
  }
  if (status === null) return classOfType(type || code)
  // llama.cpp answers 500 if the prompt does not fit.
  if (status === 500 && isContextOverflow(message)) return 'context_length'
  if (status >= 500 && isCapacityShortage(message)) return 'overloaded'
  return errorClassOfStatus(status)
}

/** A 429 that no wait resolves: OpenAI's "Request too large for gpt-4o … on tokens per min". */
function isRequestTooLarge(status: number | null, message: string): boolean {
  return status === 429 && /request too large/i.test(message)
}

/** Errors inside a 200 have only a type. */
function classOfType(type: string): ProviderErrorClass {
  if (/auth|permission|api_key/i.test(type)) return 'authentication'
  if (/not_?found/i.test(type)) return 'model_not_found'
  if (/rate_?limit|too_?many/i.test(type)) return 'rate_limit'
  if (/overload|unavailable|capacity/i.test(type)) return 'overloaded'
  if (/timeout/i.test(type)) return 'timeout'
  if (/invalid|bad_?request|validation|tool_use_failed|json_validate/i.test(type)) return 'invalid_request'
  return 'server_error'
}

/** OpenAI sends the reset in a separate header, and Groq in the text: `6s`, `1m2.5s`, `120ms`. */
function waitInWords(headers: Record<string, string>, message: string): number | null {
  const inText = /try again in ((?:\d+(?:\.\d+)?(?:h|ms|m|s))+)/i.exec(message)?.[1]
  if (inText) return parseWait(inText)
  if (headers['x-ratelimit-remaining-requests'] === '0') return parseWait(headers['x-ratelimit-reset-requests'])
  if (headers['x-ratelimit-remaining-tokens'] === '0') return parseWait(headers['x-ratelimit-reset-tokens'])
  return null
}

const unitSeconds: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 }

function parseWait(text: string | undefined): number | null {
  const parts = [...(text ?? '').matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g)]
  if (parts.length === 0) return null
  return boundWait(parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (lookUp(unitSeconds, unit!) ?? 0), 0))
}
