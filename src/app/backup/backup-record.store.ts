import type { OwnedDatabase } from '../../platform/database/index.ts'
import { type Actor, recordAdminChange } from '../../tenants/operators/index.ts'

/** Records in the admin log who took a copy of all data. */
export function createBackupRecord(database: OwnedDatabase, now: () => number): (actor: Actor) => Promise<void> {
  return (actor) =>
    database.transaction((transaction) =>
      recordAdminChange(transaction, {
        actor,
        atMs: now(),
        action: 'backup.created',
        subjectType: 'backup',
        subjectId: 'all',
        organisationId: null,
      }),
    )
}
