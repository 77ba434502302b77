import type { ToolUses } from '../../../platform/kernel/index.ts'
import type { TokenUsage } from '../port.ts'
import { stateUsage } from '../stated-usage.ts'
import { asCount, asObject } from '../wire-json.ts'

/**
 * Maps `usageMetadata`. Thoughts are not part of `candidatesTokenCount` and are output; the prompt of a tool is not part of
 * `promptTokenCount` and is input; cached content is part of `promptTokenCount`. Null if nothing was counted (Vertex sends `usageMetadata`
 * with only the traffic type on all chunks but the last). `toolUses`: what Google's tools did.
 */
export function mapUsage(usageMetadata: unknown, toolUses: ToolUses = {}): TokenUsage | null {
  const usage = asObject(usageMetadata)
  const prompt = asCount(usage.promptTokenCount)
  const candidates = asCount(usage.candidatesTokenCount)
  const thoughts = asCount(usage.thoughtsTokenCount)
  if (prompt === undefined && candidates === undefined && thoughts === undefined) return null
  const promptTokens = (prompt ?? 0) + (asCount(usage.toolUsePromptTokenCount) ?? 0)
  const counted = {
    promptTokens,
    completionTokens: (candidates ?? 0) + (thoughts ?? 0),
    cachedTokens: Math.min(promptTokens, asCount(usage.cachedContentTokenCount) ?? 0),
    cacheWriteTokens: 0,
    reasoningTokens: thoughts ?? 0,
  }
  if (Object.keys(toolUses).length === 0) return counted
  return stateUsage({ ...counted, toolUses }, { raw: usage, isCorrected: true })
}
