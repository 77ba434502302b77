import type { TokenUsage } from '../port.ts'
import { clampedUsage, stateUsage } from '../stated-usage.ts'
import { asCount, asObject } from '../wire-json.ts'

/**
 * Maps usage of Cohere: `tokens` counts what the model read and wrote, including `cached_tokens`. `billed_units` excludes the provider's
 * preamble: it decides the cost but is not comparable with other providers' counts. Null if `tokens` is missing.
 */
export function mapUsage(wire: unknown): TokenUsage | null {
  const usage = asObject(wire)
  const tokens = asObject(usage.tokens)
  const promptTokens = asCount(tokens.input_tokens)
  const completionTokens = asCount(tokens.output_tokens)
  if (promptTokens === undefined && completionTokens === undefined) return null
  const billed = asObject(usage.billed_units)
  const inputTokens = asCount(billed.input_tokens)
  const outputTokens = asCount(billed.output_tokens)
  const cached = asCount(usage.cached_tokens) ?? 0
  const reasoning =
    asCount(tokens.reasoning_tokens) ?? asCount(usage.reasoning_tokens) ?? asCount(billed.reasoning_tokens) ?? 0
  const prompt = promptTokens ?? 0
  const isBilled = inputTokens !== undefined && outputTokens !== undefined
  return stateUsage(clampedUsage({ prompt, completionTokens: completionTokens ?? 0, cached, written: 0, reasoning }), {
    raw: usage,
    isCorrected: cached > prompt || reasoning > (completionTokens ?? 0),
    billedUnits: isBilled ? { inputTokens, outputTokens } : null,
  })
}
