import type { TokenUsage } from '../port.ts'
import { clampedUsage, dollarsToAtto, stateUsage } from '../stated-usage.ts'
import { asCount, asObject, type JsonObject } from '../wire-json.ts'
import type { Flavour } from './flavours.ts'

type UsageOptions = Pick<Flavour, 'reasoningOutsideCompletion' | 'statedCost'>

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
  const counted = { prompt, completionTokens, cached, written, reasoning }
  return stateUsage(clampedUsage(counted), {
    raw: usage,
    isClamped: cached + written > prompt || reasoning > completionTokens,
    costAttoUsd: statedCost(usage, options.statedCost),
  })
}

/**
 * The cost that the host states, in attoUsd; null if it states none.
 * OpenRouter: `cost` in dollars; for customers' own keys (BYOK) it is OpenRouter's fee, and the host's price is a separate field
 * (openrouter.ai/docs/use-cases/usage-accounting, 2026-11). Perplexity: `cost.total_cost` in dollars, including search fees
 * (docs.perplexity.ai/api-reference/chat-completions-post, 2026-11). xAI: `cost_in_usd_ticks` of 1e-10 dollars (docs.x.ai, 2026-11).
 */
function statedCost(usage: JsonObject, host: Flavour['statedCost']): bigint | null {
  switch (host) {
    case 'openrouter': {
      const own = usage.is_byok === true ? asObject(usage.cost_details).upstream_inference_cost : 0
      return typeof usage.cost === 'number' ? dollarsToAtto(usage.cost + (typeof own === 'number' ? own : 0)) : null
    }
    case 'perplexity':
      return dollarsToAtto(asObject(usage.cost).total_cost)
    case 'xai': {
      const ticks = asCount(usage.cost_in_usd_ticks)
      return ticks === undefined ? null : BigInt(ticks) * 100_000_000n
    }
    case null:
      return null
  }
}

/** The total decides if there is one; xAI excludes reasoning from the completion. */
function reasoningIsOutside(
  count: { prompt: number; completionTokens: number; reasoning: number; total: number | undefined },
  { reasoningOutsideCompletion }: UsageOptions,
): boolean {
  if (count.reasoning === 0) return false
  if (reasoningOutsideCompletion === 'always') return true
  const withoutReasoning = count.prompt + count.completionTokens
  if (count.total === withoutReasoning + count.reasoning) return true
  if (count.total === withoutReasoning) return false
  return reasoningOutsideCompletion === 'by_total' || count.reasoning > count.completionTokens
}
