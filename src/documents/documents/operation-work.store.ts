import type { Queryable } from '../../platform/database/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import type { OrganisationId } from '../../platform/kernel/index.ts'
import type { DocumentWork } from './document-operations.ts'
import { changeMetadataOf } from './metadata-batch.store.ts'
import { parseMetadataChange } from './metadata-change.ts'
import { enqueueProcessing, type ProcessedRow, processingKey } from './processing-job.ts'
import type { RemovedRow, RemoveRows } from './remove-rows.ts'
import { deleteRows, publicId } from './replacement.store.ts'

interface HandledOperation {
  organisationId: OrganisationId
  kind: DocumentWork['kind']
  /** What writeMetadataChange returned; null for other kinds. */
  metadataChange: string | null
}

/** Does the work of an operation with some documents. `skipped`: documents that could not be changed. */
export async function handleDocuments(
  transaction: Queryable,
  { jobs, removeRows }: { jobs: JobQueue; removeRows: RemoveRows },
  { kind, organisationId, metadataChange }: HandledOperation,
  ids: readonly string[],
): Promise<{ skipped: number }> {
  switch (kind) {
    case 'delete':
      await removeDocuments(transaction, removeRows, ids)
      return { skipped: 0 }
    case 'retry':
      await retryDocuments(transaction, jobs, organisationId, ids)
      return { skipped: 0 }
    case 'metadata':
      return changeMetadataOf(transaction, ids, parseMetadataChange(metadataChange ?? '{}'))
  }
}

/** With their replacements in progress. */
async function removeDocuments(transaction: Queryable, removeRows: RemoveRows, ids: readonly string[]): Promise<void> {
  const rows = await transaction.query<RemovedRow>(
    `select id, blob_key as "blobKey" from documents d where ${publicId('d')} = any($1::uuid[]) order by id for update`,
    [[...ids]],
  )
  await deleteRows(transaction, removeRows, rows)
}

/** Puts failed documents back into the queue; returns their former failure codes. The stored files of failed documents are kept. */
export async function retryDocuments(
  transaction: Queryable,
  jobs: JobQueue,
  organisationId: OrganisationId,
  ids: readonly string[],
): Promise<{ failure: string | null }[]> {
  const rows = await transaction.query<ProcessedRow & { failure: string | null }>(
    `select error_code as failure, id, organisation_id as "organisationId", space_id as "spaceId", format, size_bytes as "sizeBytes" from documents d
     where ${publicId('d')} = any($2::uuid[]) and organisation_id = $1 and is_current and status = 'failed'
     order by id for update`,
    [organisationId, [...ids]],
  )
  await transaction.execute(
    `update documents set status = 'processing', stage = 'queued', error_code = null, error_message = null, warnings = null,
       parts_done = null, parts_total = null, chunk_count = null, page_count = null, updated_at = now()
     where id = any($1::uuid[])`,
    [rows.map(({ id }) => id)],
  )
  for (const row of rows) {
    // The job that failed may still be about to end, and a second one with its key would be dropped.
    await jobs.cancel(transaction, processingKey(row.id))
    await enqueueProcessing(jobs, transaction, row)
  }
  return rows
}
