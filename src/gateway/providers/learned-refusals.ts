import { isObject } from '../../platform/kernel/index.ts'
import { findRefusal, type Refusal } from './find-refusal.ts'
import type { ProviderCall } from './port.ts'
import type { WireRequest } from './wire-adapter.ts'
import { asObject, type JsonObject } from './wire-json.ts'

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
