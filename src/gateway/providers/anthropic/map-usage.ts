import type { HostedToolKind } from '../../../platform/kernel/index.ts'
import type { TokenUsage } from '../port.ts'
import { statedCostOf, stateUsage } from '../stated-usage.ts'
import { asCount, asObject, asObjects, type JsonObject } from '../wire-json.ts'
import { readToolUses } from './hosted-uses.ts'

/**
 * Maps usage of the Messages API: `input_tokens` excludes cache reads and writes, so both are added. Null if neither side was counted.
 *
 * With compaction the top level counts only the last round; `iterations` lists every billed one, so those are summed. (Rounds of other
 * kinds belong to another model or repeat the top level.)
 */
export function mapUsage(wire: unknown, hosted: Iterable<HostedToolKind> = []): TokenUsage | null {
  const usage = asObject(wire)
  const rounds = asObjects(usage.iterations).filter((round) => round.type === 'message' || round.type === 'compaction')
  const compacted = rounds.some((round) => round.type === 'compaction')
  const inputTokens = compacted ? sumOf(rounds, 'input_tokens') : asCount(usage.input_tokens)
  const outputTokens = compacted ? sumOf(rounds, 'output_tokens') : asCount(usage.output_tokens)
  if (inputTokens === undefined && outputTokens === undefined) return null
  const cachedTokens = cacheCount(usage, rounds, compacted, 'cache_read_input_tokens')
  const cacheWriteTokens = cacheCount(usage, rounds, compacted, 'cache_creation_input_tokens')
  const hourTokens = Math.min(cacheWriteTokens, asCount(asObject(usage.cache_creation).ephemeral_1h_input_tokens) ?? 0)
  const completionTokens = outputTokens ?? 0
  const uses = readToolUses(usage, hosted)
  const counted = {
    promptTokens: (inputTokens ?? 0) + cachedTokens + cacheWriteTokens,
    completionTokens,
    cachedTokens,
    cacheWriteTokens,
    ...(hourTokens > 0 && { cacheWriteHourTokens: hourTokens }),
    reasoningTokens: Math.min(completionTokens, asCount(asObject(usage.output_tokens_details).thinking_tokens) ?? 0),
    ...uses,
  }
  // Anthropic states no cost; gateways with its API do. The receipt shows how long writes are kept.
  return stateUsage(counted, {
    raw: usage,
    isCorrected: hourTokens > 0 || uses.toolUses !== undefined,
    costAttoUsd: statedCostOf(usage),
  })
}

/** Counts of `message_delta` are cumulative: present ones replace those of `message_start`. */
export function replaceUsage(earlier: JsonObject, later: JsonObject): JsonObject {
  const present = Object.entries(later).filter(([, value]) => value !== null && value !== undefined)
  return { ...earlier, ...Object.fromEntries(present) }
}

/** Rounds may lack the cache counts; then only the top level has them. */
function cacheCount(usage: JsonObject, rounds: JsonObject[], compacted: boolean, field: string): number {
  const total = asCount(usage[field]) ?? 0
  return compacted ? Math.max(total, sumOf(rounds, field)) : total
}

function sumOf(rounds: JsonObject[], field: string): number {
  return rounds.reduce((sum, round) => sum + (asCount(round[field]) ?? 0), 0)
}
