import type { StatedUsage, TokenCounts } from '../kernel/index.ts'
import type { CostBasis } from './port.ts'
import { costOf, type PriceSchedule } from './prices.ts'

/** A stated cost first, then billed units times prices; neither: tokens times prices. */
export function statedCost(
  stated: StatedUsage | undefined,
  schedule: PriceSchedule,
): { statedAttoUsd: bigint | null; costBasis: CostBasis } {
  if (stated?.costAttoUsd !== undefined && stated.costAttoUsd !== null && stated.costAttoUsd >= 0n)
    return { statedAttoUsd: stated.costAttoUsd, costBasis: 'stated' }
  if (!stated?.billedUnits) return { statedAttoUsd: null, costBasis: 'tokens' }
  const { inputTokens, outputTokens } = stated.billedUnits
  const units: TokenCounts = {
    promptTokens: inputTokens,
    completionTokens: outputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  }
  return { statedAttoUsd: costOf(units, schedule, 0).baseAttoUsd, costBasis: 'billed_units' }
}

/** A usage object has some 500 characters; a larger one is left out. */
const maximumRawCharacters = 4_096

/** PostgreSQL takes neither NUL nor halves of surrogate pairs inside JSON. */
export function storableUsage(raw: Record<string, unknown> | null): Record<string, unknown> | null {
  const text = raw === null ? '' : JSON.stringify(raw)
  return text === '' || text.length > maximumRawCharacters || /\\u(?:0000|d[89a-f])/.test(text) ? null : raw
}
