import { isObject } from '../../platform/kernel/index.ts'
import type { ProviderCall } from './port.ts'
import type { WireRequest } from './wire-adapter.ts'
import { asName, asObject, asObjects, asString, type JsonObject, parseJsonObject } from './wire-json.ts'

/**
 * Fields that hosts refused, by deployment. After a 400 that names a field, the field is omitted for an hour. In memory only: after a
 * restart one call fails again.
 */
export type LearnedRefusals = ReturnType<typeof createLearnedRefusals>

const rememberedMs = 60 * 60_000
const maximumDeployments = 1_000
const maximumRefusals = 20

/** Never removed or changed: a call without them has another meaning. Caps are renamed at most. In the form of `plain`. */
const keptFields = new Set([
  'model',
  'modelid',
  'messages',
  'contents',
  'content',
  'system',
  'systeminstruction',
  'input',
  'prompt',
  'stream',
  'maxtokens',
  'maxcompletiontokens',
  'maxoutputtokens',
  'numpredict',
  'numctx',
])

/** Names on the wire (in the form of `plain`) and their public names. */
const publicNames: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  topp: 'top_p',
  p: 'top_p',
  stop: 'stop',
  stopsequences: 'stop',
  seed: 'seed',
  randomseed: 'seed',
  presencepenalty: 'presence_penalty',
  frequencypenalty: 'frequency_penalty',
  reasoningeffort: 'reasoning_effort',
  effort: 'reasoning_effort',
  outputconfig: 'reasoning_effort',
  thinking: 'reasoning_effort',
  think: 'reasoning_effort',
  thinkingconfig: 'reasoning_effort',
  thinkinglevel: 'reasoning_effort',
  thinkingbudget: 'reasoning_effort',
  user: 'user',
  userid: 'user',
  metadata: 'metadata',
  requestmetadata: 'metadata',
  servicetier: 'service_tier',
  tools: 'tools',
  toolconfig: 'tools',
  toolchoice: 'tool_choice',
  streamoptions: 'stream_options',
  cachecontrol: 'cache_control',
}

export function createLearnedRefusals({ now = Date.now }: { now?: () => number } = {}) {
  const known = new Map<string, Map<string, { refusal: Refusal; untilMs: number }>>()
  const keyOf = ({ deployment, model }: ProviderCall) => deployment ?? model.id

  function inForce(call: ProviderCall): Refusal[] {
    const refusals = known.get(keyOf(call))
    if (!refusals) return []
    for (const [key, { untilMs }] of refusals) if (untilMs <= now()) refusals.delete(key)
    return [...refusals.values()].map(({ refusal }) => refusal)
  }

  return {
    /** The call and its request without the fields that the host refuses. */
    prepare(call: ProviderCall, toRequest: (call: ProviderCall) => WireRequest): WireRequest {
      const refusals = inForce(call)
      if (refusals.length === 0) return toRequest(call)
      const unstreamed = refusals.some(({ kind }) => kind === 'streamed_tools')
      let request = toRequest(unstreamed ? withoutStreamedTools(call) : call)
      for (const refusal of refusals) request = applied(request, refusal) ?? request
      return request
    },
    /** Records the refusal that an error's body names. Null: no field of the request can be omitted, so a retry is pointless. */
    learn(call: ProviderCall, request: WireRequest, body: string): { field: string } | null {
      const refusal = findRefusal(body)
      if (!refusal) return null
      const useful = refusal.kind === 'streamed_tools' ? carriesTools(request) : applied(request, refusal) !== null
      if (!useful) return null
      const refusals = known.get(keyOf(call)) ?? new Map()
      if (refusals.size >= maximumRefusals) refusals.delete(refusals.keys().next().value!)
      refusals.set(JSON.stringify(refusal), { refusal, untilMs: now() + rememberedMs })
      known.delete(keyOf(call))
      if (known.size >= maximumDeployments) known.delete(known.keys().next().value!)
      known.set(keyOf(call), refusals)
      return { field: labelOf(refusal) }
    },
  }
}

function withoutStreamedTools(call: ProviderCall): ProviderCall {
  return { ...call, model: { ...call.model, traits: { ...call.model.traits, streamedTools: false } } }
}

const carriesTools = ({ body }: WireRequest) => ['tools', 'toolConfig'].some((field) => field in asObject(body))

/** The request without the refused field; null if it is not there or must stay. */
function applied(request: WireRequest, refusal: Refusal): WireRequest | null {
  const body = asObject(request.body)
  switch (refusal.kind) {
    case 'streamed_tools':
      return null
    case 'with_tools':
      if (!carriesTools(request) || body[refusal.field] === refusal.value || keptFields.has(plain(refusal.field)))
        return null
      return { ...request, body: { ...body, [refusal.field]: refusal.value }, adjusted: adding(request, refusal.field) }
    case 'renamed': {
      const { [refusal.field]: value, ...rest } = body
      return value === undefined ? null : { ...request, body: { ...rest, [refusal.name]: value } }
    }
    case 'field': {
      const without = leaveOut(body, refusal.field)
      return without && { ...request, body: without, adjusted: adding(request, refusal.field) }
    }
  }
}

/** A copy of the body without the field at the top level or inside an object there (`generationConfig`). */
function leaveOut(body: JsonObject, field: string): JsonObject | null {
  // An index refers to an array, and arrays contain messages and tools.
  const steps = field.split(/[.[\]]+/).filter((step) => step !== '')
  if (steps.some((step) => /^\d+$/.test(step) || keptFields.has(plain(step)))) return null
  const wanted = plain(steps.at(-1) ?? '')
  const copy = { ...body }
  let found = false
  for (const [key, value] of Object.entries(body)) {
    if (keptFields.has(plain(key))) continue
    if (plain(key) === wanted && (steps.length === 1 || !isObject(value))) {
      delete copy[key]
      found = true
    } else if (isObject(value) && key !== 'toolConfig') {
      const inner = Object.entries(value).filter(([name]) => plain(name) !== wanted)
      if (inner.length === Object.keys(value).length) continue
      found = true
      if (inner.length === 0) delete copy[key]
      else copy[key] = Object.fromEntries(inner)
    }
  }
  if (!found) return null
  // A choice without tools would be refused too.
  if (wanted === 'tools') delete copy.tool_choice
  return copy
}

/** Hosts may write `presencePenalty` for `presence_penalty`. */
const plain = (field: string) => field.toLowerCase().replaceAll('_', '')

function adding({ adjusted }: WireRequest, field: string): string[] {
  const name = publicNameOf(field)
  return name === null || adjusted.includes(name) ? adjusted : [...adjusted, name]
}

const publicNameOf = (field: string) => publicNames[plain(field.split('.').at(-1)!)] ?? null

/** One of a few values, for a metric label. */
function labelOf(refusal: Refusal): string {
  if (refusal.kind === 'streamed_tools') return 'streamed_tools'
  if (refusal.kind === 'renamed') return 'max_completion_tokens'
  return publicNameOf(refusal.field) ?? 'other'
}

/** What a host refuses, with the host's name of the field. */
type Refusal =
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
function findRefusal(body: string): Refusal | null {
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
