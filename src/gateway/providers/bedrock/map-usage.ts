import type { TokenUsage } from '../port.ts'
import { asCount, asObject } from '../wire-json.ts'

/**
 * Maps usage of Converse: `inputTokens` excludes cache reads and writes, so both are added. (Each cache count has two names for the same
 * number.) Null if neither side was counted.
 */
export function mapUsage(wire: unknown): TokenUsage | null {
  const usage = asObject(wire)
  const inputTokens = asCount(usage.inputTokens)
  const outputTokens = asCount(usage.outputTokens)
  if (inputTokens === undefined && outputTokens === undefined) return null
  const cachedTokens = asCount(usage.cacheReadInputTokens) ?? asCount(usage.cacheReadInputTokenCount) ?? 0
  const cacheWriteTokens = asCount(usage.cacheWriteInputTokens) ?? asCount(usage.cacheWriteInputTokenCount) ?? 0
  return {
    promptTokens: (inputTokens ?? 0) + cachedTokens + cacheWriteTokens,
    completionTokens: outputTokens ?? 0,
    cachedTokens,
    cacheWriteTokens,
    // Converse counts reasoning as output, without a separate count.
    reasoningTokens: 0,
  }
}
