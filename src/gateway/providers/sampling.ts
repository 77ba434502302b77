import type { ModelTraits } from './model-traits/index.ts'
import type { ProviderCall, ProviderRequest } from './port.ts'

/** Public names of request fields, for `x-adjusted-params`. */
export const publicNames = {
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
  parallelToolCalls: 'parallel_tool_calls',
  verbosity: 'verbosity',
  topK: 'top_k',
  logitBias: 'logit_bias',
  logprobs: 'logprobs',
  topLogprobs: 'top_logprobs',
  choices: 'n',
} as const satisfies Partial<Record<keyof ProviderRequest, string>>

type AdjustableField = keyof typeof publicNames
export const publicFieldNames = Object.keys(publicNames) as AdjustableField[]

/** Fields that only APIs in the form of OpenAI's have a place for. */
export const fieldsOfOpenAi = ['verbosity', 'logitBias', 'logprobs', 'topLogprobs', 'choices'] as const

/** Collects the fields that an adapter changed; each name once, in order. */
export class Adjustments {
  readonly #names: string[] = []

  note(field: AdjustableField): void {
    this.noteName(publicNames[field])
  }

  /** Notes those of `fields` that the request contains: the wire has no place for them. */
  drop(request: ProviderRequest, ...fields: AdjustableField[]): void {
    for (const field of fields) if (asksForSomething(request, field)) this.note(field)
  }

  /** A field without a name in the list above. */
  noteName(name: string): void {
    if (!this.#names.includes(name)) this.#names.push(name)
  }

  names(): string[] {
    return [...this.#names]
  }
}

/** A penalty of 0, `service_tier: auto` and the like are the defaults. */
function asksForSomething(request: ProviderRequest, field: AdjustableField): boolean {
  if (field === 'serviceTier') return request.serviceTier !== undefined && request.serviceTier !== 'auto'
  if (field === 'presencePenalty' || field === 'frequencyPenalty') return Boolean(request[field])
  if (field === 'parallelToolCalls') return request.parallelToolCalls === false
  if (field === 'logprobs') return request.logprobs === true
  if (field === 'choices') return (request.choices ?? 1) > 1
  return request[field] !== undefined
}

/**
 * temperature and top_p as the model accepts them. `factor` maps our 0..2 to the provider's range. A model that rejects them, or accepts
 * one value only, gets neither; a value that equals its default is not reported.
 */
export function mapSampling(
  { model, request }: ProviderCall,
  { factor, traits, maximumTopP = 1 }: { factor: number; traits: ModelTraits; maximumTopP?: number },
  adjustments: Adjustments,
): { temperature?: number; topP?: number } {
  const sampling: { temperature?: number; topP?: number } = {}
  const { topP } = request
  const scale = request.temperatureIsExact ? 1 : factor
  const temperature = request.temperature === undefined ? undefined : scaleTemperature(request.temperature, scale)
  if (!model.acceptsTemperature) {
    adjustments.drop(request, 'temperature', 'topP')
    return {}
  }
  const fixed = { temperature: traits.fixedTemperature, topP: traits.fixedTopP }
  if (temperature !== undefined && fixed.temperature !== undefined) {
    // If the model's default is 1, a client that sends 1 gets 1, whatever the factor.
    if (temperature !== fixed.temperature && request.temperature !== fixed.temperature) adjustments.note('temperature')
  } else if (temperature !== undefined) {
    sampling.temperature = temperature
    if (temperature !== request.temperature) adjustments.note('temperature')
  }
  if (topP === undefined) return sampling
  if (fixed.topP !== undefined) {
    if (topP !== fixed.topP) adjustments.note('topP')
  } else if (traits.temperatureOrTopP && sampling.temperature !== undefined) {
    // Without it, all tokens remain candidates.
    if (topP !== 1) adjustments.note('topP')
  } else {
    sampling.topP = Math.min(topP, maximumTopP)
    if (sampling.topP !== topP) adjustments.note('topP')
  }
  return sampling
}

/** Keeps the shortest decimal: 1.4 * 0.5 is 0.7 on the wire, never 0.7000000000000001. */
function scaleTemperature(temperature: number, factor: number): number {
  return factor === 1 ? temperature : Number((temperature * factor).toPrecision(12))
}
