import type { TokenUsage } from '../port.ts'
import { asCount, asObject } from '../wire-json.ts'

/**
 * Usage of Cohere in our words: `tokens` counts what the model read and wrote, `cached_tokens` is part of it;
 * `billed_units` leaves out the provider's own preamble and is not what the others count. Null where `tokens` is missing.
 */
export function mapUsage(wire: unknown): TokenUsage | null {
  const usage = asObject(wire)
  const tokens = asObject(usage.tokens)
  const promptTokens = asCount(tokens.input_tokens)
  const completionTokens = asCount(tokens.output_tokens)
  if (promptTokens === undefined && completionTokens === undefined) return null
  return {
    promptTokens: promptTokens ?? 0,
    completionTokens: completionTokens ?? 0,
    cachedTokens: Math.min(promptTokens ?? 0, asCount(usage.cached_tokens) ?? 0),
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  }
}
