import type { Database } from '../database/index.ts'
import { type Clock, describeError, type Log } from '../kernel/index.ts'
import { removeOldEntries } from './admin-log-retention.store.ts'

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
  const stop = new AbortController()
  let running: Promise<void> | undefined

  async function removeAll(days: number): Promise<void> {
    const before = new Date(clock.now() - days * dayMs)
    while (!stop.signal.aborted && (await removeOldEntries(database, before))) continue
  }

  /** Resolves when nothing old is left, or another instance removes it. Never rejects. */
  function run(): Promise<void> {
    if (keepDays === undefined) return Promise.resolve()
    running ??= removeAll(keepDays)
      .catch((error: unknown) =>
        log.warn({ reason: describeError(error) }, 'old entries of the admin log could not be removed'),
      )
      .finally(() => (running = undefined))
    return running
  }

  const end = clock.every(everyMs, () => void run())
  return {
    run,
    async close(): Promise<void> {
      end()
      stop.abort(new Error('the service stops'))
      await running
    },
  }
}
