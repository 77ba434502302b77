import type { TokenUsage } from '../port.ts'
import { clampedUsage, statedCostOf, stateUsage } from '../stated-usage.ts'
import { asCount, asObject } from '../wire-json.ts'
import type { Flavour } from './flavours.ts'

type UsageOptions = Pick<Flavour, 'reasoningOutsideCompletion' | 'documentsCost'>

/**
 * Maps the family's usage. Null if nothing was counted: a host that sends zeros for an answer has not counted. Cached tokens have four
 * places: OpenAI's details, DeepSeek's hit count, Mistral's and Together's top level.
 */
export function mapUsage(wire: unknown, options: UsageOptions): TokenUsage | null {
  const usage = asObject(wire)
  const promptTokens = asCount(usage.prompt_tokens)
  const total = asCount(usage.total_tokens)
  let completionTokens = asCount(usage.completion_tokens)
  if (promptTokens === undefined && completionTokens === undefined) return null
  const prompt = promptTokens ?? 0
  completionTokens ??= Math.max(0, (total ?? prompt) - prompt)
  const stated = completionTokens
  if (prompt === 0 && completionTokens === 0) return null

  const promptDetails = asObject(usage.prompt_tokens_details ?? usage.prompt_token_details)
  const completionDetails = asObject(usage.completion_tokens_details)
  const reasoning = asCount(completionDetails.reasoning_tokens) ?? asCount(usage.reasoning_tokens) ?? 0
  if (reasoningIsOutside({ prompt, completionTokens, reasoning, total }, options)) completionTokens += reasoning
  const cached =
    asCount(promptDetails.cached_tokens) ??
    asCount(usage.prompt_cache_hit_tokens) ??
    asCount(usage.cached_tokens) ??
    asCount(usage.num_cached_tokens) ??
    0
  const written =
    asCount(promptDetails.cache_write_tokens) ??
    asCount(promptDetails.cache_creation_tokens) ??
    asCount(usage.cache_creation_input_tokens) ??
    0
  const counted = clampedUsage({ prompt, completionTokens, cached, written, reasoning })
  return stateUsage(counted, {
    raw: usage,
    isCorrected: cached + written > prompt || counted.completionTokens !== stated,
    costAttoUsd: statedCostOf(usage),
    costIsDocumented: options.documentsCost,
  })
}

/** The total decides if there is one; xAI excludes reasoning from the completion. More reasoning than completion is always outside. */
function reasoningIsOutside(
  count: { prompt: number; completionTokens: number; reasoning: number; total: number | undefined },
  { reasoningOutsideCompletion }: UsageOptions,
): boolean {
  if (count.reasoning === 0) return false
  if (reasoningOutsideCompletion === 'always') return true
  const withoutReasoning = count.prompt + count.completionTokens
  if (count.total === withoutReasoning + count.reasoning) return true
  if (count.total === withoutReasoning) return false
  return reasoningOutsideCompletion === 'by_total'
}
