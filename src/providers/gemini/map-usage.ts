import type { TokenUsage } from '../port.ts'
import { asCount, asObject } from '../wire-json.ts'

/**
 * `usageMetadata` in our words. Thoughts stand outside `candidatesTokenCount` and are output; the prompt that a tool caused
 * stands outside `promptTokenCount` and is input; cached content is part of `promptTokenCount`. Null where nothing was
 * counted (Vertex sends `usageMetadata` with the traffic type alone on all chunks but the last).
 */
export function mapUsage(usageMetadata: unknown): TokenUsage | null {
  const usage = asObject(usageMetadata)
  const prompt = asCount(usage.promptTokenCount)
  const candidates = asCount(usage.candidatesTokenCount)
  const thoughts = asCount(usage.thoughtsTokenCount)
  if (prompt === undefined && candidates === undefined && thoughts === undefined) return null
  const promptTokens = (prompt ?? 0) + (asCount(usage.toolUsePromptTokenCount) ?? 0)
  return {
    promptTokens,
    completionTokens: (candidates ?? 0) + (thoughts ?? 0),
    cachedTokens: Math.min(promptTokens, asCount(usage.cachedContentTokenCount) ?? 0),
    cacheWriteTokens: 0,
    reasoningTokens: thoughts ?? 0,
  }
}
