import type { StatedUsage, TokenCounts } from '../../platform/kernel/index.ts'
import type { CostBasis } from './port.ts'
import { costOf, hourWriteSurcharge, type PriceSchedule } from './prices.ts'

/** Both costs of a call whose provider states one, in attoUsd without markup. */
export interface ComparedCosts {
  statedAttoUsd: bigint
  /** Tokens times prices. */
  computedAttoUsd: bigint
}

/** An undocumented cost beyond this factor of tokens times prices is in another unit, or the zero of a proxy without a price for the model. */
const plausibleFactor = 10n

/** A stated cost first, then billed units times prices, then writes that are kept for an hour; none of them: tokens times prices. `compared` is null without a stated cost. */
export function statedCost(
  usage: TokenCounts,
  stated: StatedUsage | undefined,
  schedule: PriceSchedule,
): { statedAttoUsd: bigint | null; costBasis: CostBasis; compared: ComparedCosts | null } {
  const statedAttoUsd = stated?.costAttoUsd ?? -1n
  if (statedAttoUsd >= 0n) {
    const computedAttoUsd = costOf(usage, schedule, 0).baseAttoUsd + hourWriteSurcharge(usage, schedule)
    const compared = { statedAttoUsd, computedAttoUsd }
    return stated?.costIsDocumented || isPlausible(compared)
      ? { statedAttoUsd, costBasis: 'stated', compared }
      : { statedAttoUsd: null, costBasis: 'tokens', compared }
  }
  const surcharge = hourWriteSurcharge(usage, schedule)
  if (!stated?.billedUnits) {
    if (surcharge === 0n) return { statedAttoUsd: null, costBasis: 'tokens', compared: null }
    // The classes of tokens have one price of writes: the counts of the provider's usage explain the cost.
    const cost = costOf(usage, schedule, 0).baseAttoUsd + surcharge
    return { statedAttoUsd: cost, costBasis: 'billed_units', compared: null }
  }
  const { inputTokens, outputTokens } = stated.billedUnits
  const units: TokenCounts = {
    promptTokens: inputTokens,
    completionTokens: outputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  }
  return { statedAttoUsd: costOf(units, schedule, 0).baseAttoUsd, costBasis: 'billed_units', compared: null }
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
