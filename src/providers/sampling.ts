import type { ProviderCall, ProviderRequest, ProviderSettings } from './port.ts'

/** Names of request fields in the compatible API's words, for `x-adjusted-params`. */
const publicNames = {
  temperature: 'temperature',
  topP: 'top_p',
  stop: 'stop',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  reasoningEffort: 'reasoning_effort',
  user: 'user',
  metadata: 'metadata',
  serviceTier: 'service_tier',
  toolChoice: 'tool_choice',
} as const satisfies Partial<Record<keyof ProviderRequest, string>>

type AdjustableField = keyof typeof publicNames

/** Collects what an adapter changed; each name once, in order. */
export interface Adjustments {
  note(field: AdjustableField): void
  /** Notes those of `fields` that the request carries: the wire has no place for them. */
  drop(request: ProviderRequest, ...fields: AdjustableField[]): void
  /** A field that has no name in the list above. */
  noteName(name: string): void
  names(): string[]
}

export function createAdjustments(): Adjustments {
  const names = new Set<string>()
  return {
    note: (field) => void names.add(publicNames[field]),
    drop(request, ...fields) {
      for (const field of fields) {
        if (asksForSomething(request, field)) names.add(publicNames[field])
      }
    },
    noteName: (name) => void names.add(name),
    names: () => [...names],
  }
}

/** A penalty of 0 and `service_tier: auto` ask for what happens anyway. */
function asksForSomething(request: ProviderRequest, field: AdjustableField): boolean {
  if (field === 'serviceTier') return request.serviceTier !== undefined && request.serviceTier !== 'auto'
  if (field === 'presencePenalty' || field === 'frequencyPenalty') return Boolean(request[field])
  return request[field] !== undefined
}

/** The call without the fields that the operator declared as refused by this host (`quirks.rejects`, in public names). */
export function withoutRejected(
  call: ProviderCall,
  settings: ProviderSettings,
  adjustments: Adjustments,
): ProviderCall {
  const rejects = settings.quirks?.rejects ?? []
  if (rejects.length === 0) return call
  const request = { ...call.request }
  for (const field of Object.keys(publicNames) as AdjustableField[]) {
    if (!rejects.includes(publicNames[field])) continue
    adjustments.drop(request, field)
    delete request[field]
  }
  return { ...call, request }
}

/**
 * temperature and top_p as the wire takes them. `factor` maps our 0..2 to the provider's range; `together: false` where the
 * provider rejects both at once (temperature wins). A model that rejects them gets neither.
 */
export function mapSampling(
  call: ProviderCall,
  options: { factor: number; together: boolean; maximumTopP?: number },
  adjustments: Adjustments,
): { temperature?: number; topP?: number } {
  const { temperature, topP } = call.request
  if (!call.model.acceptsTemperature) {
    adjustments.drop(call.request, 'temperature', 'topP')
    return {}
  }
  const sampling: { temperature?: number; topP?: number } = {}
  if (temperature !== undefined) {
    sampling.temperature = scaleTemperature(temperature, options.factor)
    if (sampling.temperature !== temperature) adjustments.note('temperature')
  }
  if (topP === undefined) return sampling
  if (temperature !== undefined && !options.together) {
    adjustments.note('topP')
    return sampling
  }
  sampling.topP = options.maximumTopP === undefined ? topP : Math.min(topP, options.maximumTopP)
  if (sampling.topP !== topP) adjustments.note('topP')
  return sampling
}

/** Keeps the shortest decimal: 1.4 * 0.5 is 0.7 on the wire, never 0.7000000000000001. */
function scaleTemperature(temperature: number, factor: number): number {
  return factor === 1 ? temperature : Number((temperature * factor).toPrecision(12))
}
