import { createCostCheck, type LedgerObserver } from '../../gateway/billing/index.ts'
import type { Metrics } from '../../platform/http/index.ts'
import type { Clock, Log } from '../../platform/kernel/index.ts'

/** Floats are exact enough for plots. */
export const picoUsdPerUsd = 1e12

/** Counts usage and cost for plots, as floats; the ledger is exact. Compares stated costs. */
export function observeLedger(metrics: Metrics, log: Log, clock: Clock): LedgerObserver {
  const costs = createCostCheck({ clock, log })
  return {
    settled({ surface, usage, billedPicoUsd, writtenOffPicoUsd }) {
      metrics.completionTokens.inc({ surface, class: 'prompt' }, usage.promptTokens)
      metrics.completionTokens.inc({ surface, class: 'cached' }, usage.cachedTokens)
      metrics.completionTokens.inc({ surface, class: 'completion' }, usage.completionTokens)
      metrics.billedUsd.inc({ surface }, Number(billedPicoUsd) / picoUsdPerUsd)
      if (writtenOffPicoUsd > 0n) metrics.writtenOffUsd.inc(Number(writtenOffPicoUsd) / picoUsdPerUsd)
    },
    costStated(receipt, compared) {
      metrics.statedCosts.inc({ deployment: receipt.deploymentId ?? '', result: costs.check(receipt, compared) })
    },
    removed: (entries) => metrics.removedEntries.inc(entries),
    thresholdReached: ({ percent }) => metrics.budgetThresholds.inc({ threshold: String(percent) }),
  }
}
