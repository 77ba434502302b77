import type { Queryable } from '../../platform/database/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import type { DocumentId } from '../../platform/kernel/index.ts'
import { blobRemovalKey, deleteBlobJob } from './blob-removal.ts'
import { processingKey } from './processing-job.ts'

export interface RemovedRow {
  id: string
  blobKey: string
}

/** Removes the jobs, index entries and (by a job) blobs of rows that the transaction has deleted. */
export function createRowRemoval({
  jobs,
  removeFromIndex,
}: {
  jobs: JobQueue
  removeFromIndex: (transaction: Queryable, documentId: DocumentId) => Promise<void>
}) {
  return async (transaction: Queryable, rows: readonly RemovedRow[]): Promise<void> => {
    for (const { id, blobKey } of rows) {
      await jobs.cancel(transaction, processingKey(id))
      await removeFromIndex(transaction, id as DocumentId)
      await jobs.enqueue(transaction, { kind: deleteBlobJob, key: blobRemovalKey(blobKey), payload: { blobKey } })
    }
  }
}

export type RemoveRows = ReturnType<typeof createRowRemoval>
