import type { StatedUsage, TokenCounts } from '../../platform/kernel/index.ts'
import type { CostBasis } from './port.ts'
import { costOf, costOfUses, hourWriteSurcharge, type PricedUses, type PriceSchedule } from './prices.ts'

/** Both costs of a call whose provider states one, in attoUsd without markup. */
export interface ComparedCosts {
  statedAttoUsd: bigint
  /** Tokens times prices. */
  computedAttoUsd: bigint
}

/** An undocumented cost beyond this factor of tokens times prices is in another unit, or the zero of a proxy without a price for the model. */
const plausibleFactor = 10n

/**
 * A stated cost first, then billed units times prices, then writes that are kept for an hour and uses of tools; none of them: tokens times
 * prices. `compared` is null without a stated cost.
 */
export function statedCost(
  usage: TokenCounts,
  stated: StatedUsage | undefined,
  schedule: PriceSchedule,
  priced: readonly PricedUses[] = [],
): { statedAttoUsd: bigint | null; costBasis: CostBasis; compared: ComparedCosts | null } {
  const beyondTokens = hourWriteSurcharge(usage, schedule) + costOfUses(priced)
  const statedAttoUsd = stated?.costAttoUsd ?? -1n
  const computedAttoUsd = costOf(usage, schedule, 0).baseAttoUsd + beyondTokens
  const compared = statedAttoUsd >= 0n ? { statedAttoUsd, computedAttoUsd } : null
  if (compared && (stated?.costIsDocumented || isPlausible(compared)))
    return { statedAttoUsd, costBasis: 'stated', compared }
  if (compared || !stated?.billedUnits) {
    if (beyondTokens === 0n) return { statedAttoUsd: null, costBasis: 'tokens', compared }
    // The classes of tokens have one price of writes: the counts of the provider's usage explain the cost.
    return { statedAttoUsd: computedAttoUsd, costBasis: 'billed_units', compared }
  }
  const { inputTokens, outputTokens } = stated.billedUnits
  const units: TokenCounts = {
    promptTokens: inputTokens,
    completionTokens: outputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  }
  const unitsCost = costOf(units, schedule, 0).baseAttoUsd + costOfUses(priced)
  return { statedAttoUsd: unitsCost, costBasis: 'billed_units', compared: null }
}

function isPlausible({ statedAttoUsd, computedAttoUsd }: ComparedCosts): boolean {
  return statedAttoUsd * plausibleFactor >= computedAttoUsd && statedAttoUsd <= computedAttoUsd * plausibleFactor
}

/** A usage object has some 500 characters; a larger one is left out. */
const maximumRawCharacters = 4_096

/** PostgreSQL takes neither NUL nor halves of surrogate pairs inside JSON. */
export function storableUsage(raw: Record<string, unknown> | null): Record<string, unknown> | null {
  const text = raw === null ? '' : JSON.stringify(raw)
  return text === '' || text.length > maximumRawCharacters || /\\u(?:0000|d[89a-f])/.test(text) ? null : raw
}
