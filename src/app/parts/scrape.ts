import {
  createCostCheck,
  type LedgerObserver,
  type LedgerService,
  loadBudgetsLeft,
} from '../../gateway/billing/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Metrics } from '../../platform/http/index.ts'
import { loadQueueDepths } from '../../platform/jobs/index.ts'
import { type Clock, describeError, type Log, picoUsdPerUsd, roles, sharedOwner } from '../../platform/kernel/index.ts'
import type { LiveCatalogue } from '../../gateway/models/index.ts'
import type { Router } from '../../gateway/routing/index.ts'

/** More frequent scrapes read the same values. */
const minimumAgeMs = 5_000
/** A database that does not answer within this time keeps the gauges at their last values. */
const scrapeTimeoutMs = 2_000
/** Most series of one metric, so that the monitoring system is not overloaded. */
const maximumOrganisations = 500

const circuitValues = { closed: 0, half_open: 1, open: 2 } as const

/** Returns a function that updates the gauges: remaining budgets, instances, depth of the job queues, circuits. It never rejects. */
export function createScrape({
  control,
  corpus,
  ledger,
  catalogue,
  router,
  metrics,
  clock,
  log,
}: {
  control: Database
  /** null: this process has nothing to do with documents. */
  corpus: Database | null
  ledger: Pick<LedgerService, 'loadLiveInstances'>
  catalogue: Pick<LiveCatalogue, 'built'>
  router: Pick<Router, 'health'>
  metrics: Metrics
  clock: Clock
  log: Log
}): () => Promise<void> {
  let readAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  async function read(): Promise<void> {
    const [budgets, depths, instances] = await Promise.all([
      loadBudgetsLeft(control.for(sharedOwner), {
        nowMs: clock.now(),
        limit: maximumOrganisations,
        timeoutMs: scrapeTimeoutMs,
      }),
      corpus ? loadQueueDepths(corpus.for(sharedOwner), scrapeTimeoutMs) : [],
      ledger.loadLiveInstances(),
    ])
    metrics.budgetLeftUsd.reset()
    for (const { organisationId, leftPicoUsd } of budgets)
      metrics.budgetLeftUsd.set({ organisation: organisationId }, Number(leftPicoUsd) / Number(picoUsdPerUsd))
    for (const role of roles) {
      metrics.instances.set({ role }, instances.filter((instance) => (instance.role ?? 'all') === role).length)
    }
    metrics.jobs.reset()
    for (const { kind, state, count } of depths) metrics.jobs.set({ kind, state }, count)
  }

  function readCircuits(): void {
    metrics.circuitState.reset()
    for (const model of catalogue.built().models.values()) {
      for (const { id } of model.deployments)
        metrics.circuitState.set({ deployment: id }, circuitValues[router.health(id).circuit])
    }
  }

  return async () => {
    readCircuits()
    if (clock.monotonicMs() - readAtMs < minimumAgeMs) return
    reading ??= read()
      .then(() => void (readAtMs = clock.monotonicMs()))
      .catch((error: unknown) => log.warn({ error: describeError(error) }, 'gauges could not be read'))
      .finally(() => (reading = undefined))
    await reading
  }
}

/** Counts usage and cost for plots, and compares stated costs. */
export function observeLedger(metrics: Metrics, log: Log, clock: Clock): LedgerObserver {
  const costs = createCostCheck({ clock, log })
  return {
    settled: metrics.billed,
    costStated(receipt, compared) {
      metrics.statedCosts.inc({ deployment: receipt.deploymentId ?? '', result: costs.check(receipt, compared) })
    },
    removed: (entries) => metrics.removedEntries.inc(entries),
    thresholdReached: ({ percent }) => metrics.budgetThresholds.inc({ threshold: String(percent) }),
  }
}
