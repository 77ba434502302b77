import { mapEffort } from '../accept-call.ts'
import type { ModelTraits } from '../model-traits/index.ts'
import type { ProviderCall, ProviderSettings } from '../port.ts'
import { type Adjustments, mapSampling } from '../sampling.ts'
import { asObject, type JsonObject } from '../wire-json.ts'

/** The API refuses a smaller budget for thinking. */
const leastThinkingTokens = 1_024

/**
 * The body for a prompt in the API's own form, which is sent as it is. Model, cap, sampling, effort and user are those of the call: the
 * catalogue, the budget and the model's traits decide them.
 */
export function toNativeBody(
  call: ProviderCall,
  options: { stream: boolean },
  { settings, traits }: { settings: ProviderSettings; traits: ModelTraits },
  adjustments: Adjustments,
): JsonObject {
  const { request, model } = call
  const { thinking, output_config: output, ...prompt } = request.native!.body
  const { temperature, topP } = mapSampling(
    call,
    { factor: settings.quirks?.temperatureFactor ?? 1, traits },
    adjustments,
  )
  const cap = request.maxOutputTokens ?? model.maxOutputTokens
  const effort = mapEffort(call, traits, adjustments)
  const { effort: _, ...otherOutput } = asObject(output)
  const outputConfig = { ...otherOutput, ...(effort !== undefined && { effort }) }
  return {
    model: model.id,
    max_tokens: cap,
    ...prompt,
    ...(thinking !== undefined && { thinking: fitThinking(asObject(thinking), cap, adjustments) }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(request.topK !== undefined && { top_k: request.topK }),
    ...(request.stop !== undefined && { stop_sequences: request.stop }),
    ...(request.user !== undefined && { metadata: { user_id: request.user } }),
    ...(request.serviceTier !== undefined && { service_tier: request.serviceTier }),
    ...(options.stream && { stream: true }),
  }
}

/** A cap that the budget has lowered must still exceed the tokens for thinking. */
export function fitThinking(thinking: JsonObject, cap: number, adjustments: Adjustments): JsonObject {
  const { budget_tokens: budget } = thinking
  if (typeof budget !== 'number' || budget < cap) return thinking
  adjustments.noteName('thinking')
  return cap > leastThinkingTokens ? { ...thinking, budget_tokens: cap - 1 } : { type: 'disabled' }
}
