import { asName, asObject, asObjects, asString, type JsonObject, parseJsonObject } from './wire-json.ts'

/** What a host refuses, with the host's name of the field. */
export type Refusal =
  | { kind: 'field'; field: string }
  /** The field has another name for this model. */
  | { kind: 'renamed'; field: string; name: string }
  /** Requests with tools must carry this value. */
  | { kind: 'with_tools'; field: string; value: string }
  /** Tools cannot be called in a stream. */
  | { kind: 'streamed_tools' }

/** Longest error text that is inspected. */
const maximumTextLength = 1_000
const name = String.raw`[\`'"]?([A-Za-z_][\w.]{0,100})[\`'"]?`

/**
 * Phrases of hosts for a field, parameter or value that a model does not accept. Sources, read 2026-11-21: OpenAI and Azure
 * (github.com/BerriAI/litellm/pull/34569), Groq (console.groq.com/docs/errors), Anthropic (platform.claude.com/docs/en/api/errors), Gemini
 * (ai.google.dev/gemini-api/docs/troubleshooting), Bedrock (docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html), xAI
 * (github.com/lobehub/lobehub/issues/13332), Moonshot (github.com/anomalyco/opencode/issues/10811).
 */
const patterns: readonly RegExp[] = [
  /unsupported (?:parameter|value|argument|field): ['"`]?([\w.[\]]{1,100})/i,
  /unknown (?:parameter|name|field|argument):? ['"`]([\w.[\]]{1,100})/i,
  /unrecognized request arguments? supplied: ([\w.[\]]{1,100})/i,
  /property ['"`]([\w.[\]]{1,100})['"`] is (?:unsupported|not supported)/i,
  /([\w.[\]]{1,100}): extra inputs are not permitted/i,
  /extraneous key \[([\w.]{1,100})\]/i,
  /(?:argument|parameter) not supported on this model: ([\w.]{1,100})/i,
  new RegExp(
    String.raw`(?:does not|doesn't|do not) (?:support|accept|allow) (?:the )?(?:parameter|param|argument|field|option)s?:? ${name}`,
    'i',
  ),
  new RegExp(
    String.raw`(?:parameter|param|argument|field) ${name} (?:is|are) (?:not supported|unsupported|not allowed|not permitted)`,
    'i',
  ),
  /['"`]([\w.[\]]{1,100})['"`] (?:is|are) (?:not supported|unsupported|not allowed|not permitted|not available|deprecated)/i,
  /['"`]([\w.[\]]{1,100})['"`] does not support/i,
  /^invalid ([\w.]{1,100}): only /i,
  /\b(reasoning_effort|service_tier|temperature|top_p|top_k|seed|stop|metadata|user) (?:is|are) (?:not supported|unsupported|not allowed)/i,
  /(?:only )?one of ['"`](\w+)['"`] (?:and|or) ['"`]\w+['"`]|['"`]\w+['"`] and ['"`](\w+)['"`] cannot both be specified/i,
]

/** The field that an error's body reports as not accepted; null for any other error. */
export function findRefusal(body: string): Refusal | null {
  const parsed = parseJsonObject(body)
  const error = asObject(parsed?.error)
  const text = textOf(parsed, error, body).slice(0, maximumTextLength)
  if (/tool use in streaming|streaming mode.*tools?\b|tools?\b.*not supported.*stream/i.test(text))
    return { kind: 'streamed_tools' }
  const withTools = /tools.*set (\w+) to ['"`](\w+)['"`]/i.exec(text)
  if (withTools) return { kind: 'with_tools', field: withTools[1]!, value: withTools[2]! }
  const field = fieldOfDetail(parsed) ?? fieldOfText(text) ?? fieldOfParam(error, text)
  if (field === null) return null
  const renamed = /\buse ['"`](max_(?:completion_)?tokens)['"`] instead/i.exec(text)
  return renamed ? { kind: 'renamed', field, name: renamed[1]! } : { kind: 'field', field }
}

function textOf(parsed: JsonObject | undefined, error: JsonObject, body: string): string {
  if (!parsed) return body
  const texts = [error.message, parsed.message, parsed.error, parsed.detail, parsed.Message]
  return texts.map(asString).find((text) => text !== '') ?? ''
}

/** Validation errors of pydantic: Mistral, vLLM, FastAPI. */
function fieldOfDetail(parsed: JsonObject | undefined): string | null {
  const detail = parsed?.detail ?? asObject(parsed?.message).detail
  for (const { loc, type } of asObjects(detail)) {
    if (!Array.isArray(loc) || /missing|too_short/.test(asString(type))) continue
    const path = loc.filter((step) => step !== 'body').map(String)
    if (path.length > 0) return path.join('.')
  }
  return null
}

function fieldOfText(text: string): string | null {
  for (const pattern of patterns) {
    const match = pattern.exec(text)
    const found = match && (match[1] ?? match[2])
    // A sentence may end after a name.
    if (found) return found.replace(/\.$/, '')
  }
  // Gemini's message contains neither.
  if (/thinking\w* (?:level |budget |config )?(?:is )?not supported/i.test(text)) return 'thinkingConfig'
  return null
}

/** OpenAI puts the field into `param`. */
function fieldOfParam(error: JsonObject, text: string): string | null {
  const reported = `${asString(error.code)} ${text}`
  return /unsupported|not supported|unrecognized|unknown_parameter|not permitted|not allowed/i.test(reported)
    ? asName(error.param)
    : null
}
