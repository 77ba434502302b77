import type { TokenUsage } from '../port.ts'
import { stateUsage } from '../stated-usage.ts'
import { asCount, asObject, asObjects } from '../wire-json.ts'

/**
 * Maps usage of Converse: `inputTokens` excludes cache reads and writes, so both are added. (Each cache count has two names for the same
 * number.) `cacheDetails` divides the writes by how long they are kept: docs.aws.amazon.com/bedrock/latest/APIReference/
 * API_runtime_TokenUsage.html, read 2026-11. Null if neither side was counted.
 */
export function mapUsage(wire: unknown): TokenUsage | null {
  const usage = asObject(wire)
  const inputTokens = asCount(usage.inputTokens)
  const outputTokens = asCount(usage.outputTokens)
  if (inputTokens === undefined && outputTokens === undefined) return null
  const cachedTokens = asCount(usage.cacheReadInputTokens) ?? asCount(usage.cacheReadInputTokenCount) ?? 0
  const cacheWriteTokens = asCount(usage.cacheWriteInputTokens) ?? asCount(usage.cacheWriteInputTokenCount) ?? 0
  const kept = asObjects(usage.cacheDetails).filter(({ ttl }) => ttl === '1h')
  const details = kept.reduce((sum, { inputTokens: tokens }) => sum + (asCount(tokens) ?? 0), 0)
  const hourTokens = Math.min(cacheWriteTokens, details)
  const counted = {
    promptTokens: (inputTokens ?? 0) + cachedTokens + cacheWriteTokens,
    completionTokens: outputTokens ?? 0,
    cachedTokens,
    cacheWriteTokens,
    ...(hourTokens > 0 && { cacheWriteHourTokens: hourTokens }),
    // Converse counts reasoning as output, without a separate count.
    reasoningTokens: 0,
  }
  return stateUsage(counted, { raw: usage, isCorrected: hourTokens > 0 })
}
