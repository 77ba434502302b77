import type { OwnedDatabase } from '../../platform/database/index.ts'

/** Entries that one transaction removes. Few on the embedded engine, whose one connection is occupied meanwhile. */
export const entriesPerRound = { embedded: 200, postgres: 2_000 }
/** Any number that no other advisory lock of the database has. */
const lockKey = 7_041_994_291n

/** Removes the oldest entries of before that time. False: none are left, or another instance removes some now. */
export function removeOldEntries(database: OwnedDatabase, before: Date): Promise<boolean> {
  const most = entriesPerRound[database.engine]
  return database.transaction(
    async (transaction) => {
      const [lock] = await transaction.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [
        lockKey,
      ])
      if (!lock!.locked) return false
      const removed = await transaction.execute(
        `DELETE FROM admin_log WHERE id IN (
           SELECT id FROM admin_log WHERE at < $1 ORDER BY at, id LIMIT $2::int8)`,
        [before, most],
      )
      return removed === most
    },
    { timeoutMs: 60_000, background: true },
  )
}
