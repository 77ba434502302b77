import type { Clock, Log } from '../../platform/kernel/index.ts'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import { firstOrganisation, removeEntries } from './retention.store.ts'

/** Longest time of one run, which the timer repeats every second: the removal takes a quarter of the time at most. */
const runMs = 250
const dayMs = 86_400_000

export interface RetentionDeps {
  database: OwnedDatabase
  clock: Clock
  log: Log
  /** Entries of calls that began more than this many whole days (UTC) ago are removed; undefined: none are. */
  keepEntriesDays: number | undefined
  /** Called after each transaction that removed some. */
  onRemoved?(entries: number): void
}

/**
 * Removes old entries of the ledger in small transactions, once a day. Every instance takes part; one at a time removes. A transaction
 * that is lost is repeated, and where an instance ends, the next one continues.
 */
export class Retention {
  private readonly deps: RetentionDeps
  /** All entries before this time are removed. */
  private doneMs = Number.NEGATIVE_INFINITY
  private next = firstOrganisation

  constructor(deps: RetentionDeps) {
    this.deps = deps
  }

  /** What the timer does every second. */
  async run(): Promise<void> {
    const { clock, database, log, keepEntriesDays, onRemoved } = this.deps
    if (keepEntriesDays === undefined) return
    const beforeMs = (Math.floor(clock.now() / dayMs) - keepEntriesDays) * dayMs
    const startMs = clock.monotonicMs()
    while (beforeMs > this.doneMs && clock.monotonicMs() - startMs < runMs) {
      const { removed, next, locked } = await removeEntries(database, new Date(beforeMs), this.next)
      if (!locked) return
      if (removed > 0) onRemoved?.(removed)
      if (next === undefined) {
        this.doneMs = beforeMs
        log.debug({ before: new Date(beforeMs).toISOString() }, 'older entries of the ledger are removed')
      }
      this.next = next ?? firstOrganisation
    }
  }
}
