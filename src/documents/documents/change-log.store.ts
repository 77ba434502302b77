import type { AdminAction } from '../../contract/admin-log.ts'
import type { Database, Queryable } from '../../platform/database/index.ts'
import type { Job, JobQueue } from '../../platform/jobs/index.ts'
import { createUuid, type OrganisationId, toStorable } from '../../platform/kernel/index.ts'
import { type NewAdminLogEntry, recordAdminChange } from '../../tenants/operators/index.ts'
import type { ChangeAuthor } from './change-author.ts'

/**
 * Documents are in the corpus database and the admin log is in the control database, so no transaction has both. A job is committed
 * with the change and writes the entry, also after a crash.
 */
export const adminLogEntryJob = 'admin-log-entry'

interface DocumentChange {
  action: AdminAction
  subjectType: 'document' | 'space'
  subjectId: string
  organisationId: OrganisationId
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/** Call it within the transaction of the change. */
export async function enqueueEntry(
  jobs: JobQueue,
  transaction: Queryable,
  author: ChangeAuthor | undefined,
  change: DocumentChange,
): Promise<void> {
  if (!author) return
  const id = createUuid(author.atMs)
  const entry: NewAdminLogEntry = { id, ...author, ...toStorable(change) }
  await jobs.enqueue(transaction, {
    kind: adminLogEntryJob,
    key: `${adminLogEntryJob}:${id}`,
    payload: { entry },
    fairnessKeys: { organisationId: change.organisationId, spaceId: '' },
  })
}

/** Writes the entry of a job. A repeated job changes nothing. */
export function createEntryWriter(control: Database) {
  return (job: Job): Promise<void> =>
    recordAdminChange(control.for(job.organisationId), job.payload.entry as NewAdminLogEntry)
}
