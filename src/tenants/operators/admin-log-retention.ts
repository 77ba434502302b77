import type { Database } from '../../platform/database/index.ts'
import { type Clock, describeError, type Log, repeatWork, sharedOwner } from '../../platform/kernel/index.ts'
import { removeOldEntries } from './admin-log.store.ts'

/** How often every instance looks for old entries. */
const everyMs = 600_000
const dayMs = 86_400_000

export interface AdminLogRetentionDependencies {
  database: Database
  /** Entries that are more than this many days old are removed; undefined: none are. */
  keepDays: number | undefined
  clock: Clock
  log: Log
}

/** Removes old entries of the admin log in small transactions, by one instance at a time. */
export function openAdminLogRetention({ database, keepDays, clock, log }: AdminLogRetentionDependencies) {
  return repeatWork({
    clock,
    everyMs,
    /** Resolves when nothing old is left, or another instance removes it. */
    async work(signal) {
      if (keepDays === undefined) return
      const before = new Date(clock.now() - keepDays * dayMs)
      while (!signal.aborted && (await removeOldEntries(database.for(sharedOwner), before))) continue
    },
    onFailed: (error) =>
      log.warn({ reason: describeError(error) }, 'old entries of the admin log could not be removed'),
  })
}
