import { createUuid, formatPicoUsd, type Log } from '../../platform/kernel/index.ts'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import type { Lease } from './lease.ts'
import type { LedgerObserver } from './port.ts'
import { addToOutbox } from './outbox.store.ts'
import { loadRunningPeriods, type ReachedThreshold, recordReached, type ThresholdCheck } from './threshold.store.ts'

export interface ThresholdsDeps {
  database: OwnedDatabase
  /** Resolves when all earlier bills are in the database. */
  barrier(): Promise<void>
  now(): number
  log: Log
  observer: LedgerObserver
}

/** Reports once per period when 80 % and 100 % of a budget are used: log, metric and a durable event for the webhook. */
export function createThresholds({ database, barrier, now, log, observer }: ThresholdsDeps) {
  async function raise(checks: ThresholdCheck[]): Promise<void> {
    if (checks.length === 0) return
    const reached = await database.transaction(async (transaction) => {
      const found = await recordReached(transaction, checks)
      for (const threshold of found) await addToOutbox(transaction, eventOf(threshold, now()))
      return found
    })
    for (const { organisationId, period, percent } of reached) {
      log.warn({ organisationId, period, percent }, 'a budget threshold was reached')
      observer.thresholdReached?.({ organisationId, period, percent })
    }
  }

  return {
    /** Checks the leases that changed since the last check. */
    async check(leases: readonly Lease[]): Promise<void> {
      const touched = leases.filter((lease) => lease.dirty)
      const checks = touched.map((lease) => ({
        organisationId: lease.organisationId,
        period: lease.period.name,
        budgetPicoUsd: lease.budgetPicoUsd,
        refused: lease.refused,
      }))
      for (const lease of touched) lease.dirty = false
      try {
        if (checks.length > 0) await barrier()
        await raise(checks)
      } catch (error) {
        for (const lease of touched) lease.dirty = true
        throw error
      }
    },
    /** Checks every current period: at start, for events that a crash prevented. */
    checkAll: async () => raise(await loadRunningPeriods(database, now())),
  }
}

function eventOf({ organisationId, period, percent, budgetPicoUsd, settledPicoUsd }: ReachedThreshold, nowMs: number) {
  const eventId = createUuid(nowMs)
  const kind = 'budget.threshold_reached'
  const body = JSON.stringify({
    id: eventId,
    type: kind,
    createdAt: new Date(nowMs).toISOString(),
    organisationId,
    period,
    thresholdPercent: percent,
    budgetUsd: formatPicoUsd(budgetPicoUsd),
    spentUsd: formatPicoUsd(settledPicoUsd),
  })
  return { eventId, organisationId, kind, body }
}
