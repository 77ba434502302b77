import type { DocumentWarning } from '../contract/documents.ts'
import type { Database, Queryable } from '../database/index.ts'
import type { JobQueue } from '../jobs/index.ts'
import { createUuid, type DocumentId, type OrganisationId, type SpaceId } from '../kernel/index.ts'
import type { DocumentFailureCode, DocumentProgress, DocumentStatus } from './document.ts'

/** The job that ingestion works on; its payload names the `documentId`. */
export const processDocumentJob = 'process-document'

/** The job that makes a renamed document found by its new name; its payload names the `documentId`. */
export const renameDocumentJob = 'rename-document'

export const processingKey = (id: string) => `${processDocumentJob}:${id}`

/** Within the transaction that makes the document `processing`. */
export async function enqueueProcessing(
  jobs: JobQueue,
  transaction: Queryable,
  { id, organisationId, spaceId }: Pick<ProcessingRow, 'id' | 'organisationId' | 'spaceId'>,
): Promise<void> {
  await jobs.enqueue(transaction, {
    kind: processDocumentJob,
    key: processingKey(id),
    payload: { documentId: id, organisationId, spaceId },
    fairnessKeys: { organisationId, spaceId },
  })
}

/** Within the transaction that renames a searchable document, or makes a renamed one searchable. */
export async function enqueueRename(jobs: JobQueue, transaction: Queryable, documentId: string): Promise<void> {
  // A key of its own: one that came while the former rename's job ends must not be dropped.
  const key = `${renameDocumentJob}:${documentId}:${createUuid()}`
  await jobs.enqueue(transaction, { kind: renameDocumentJob, key, payload: { documentId } })
}

export interface ProcessingRow {
  id: DocumentId
  organisationId: OrganisationId
  spaceId: SpaceId
  name: string
  status: DocumentStatus
  format: string
  blobKey: string
  sizeBytes: bigint
  createdAt: Date
}

/** SQL of the way from `processing` to `ready` or `failed`. */
export function createProcessingStore({
  database,
  jobs,
  removeFromIndex,
}: {
  database: Database
  jobs: JobQueue
  removeFromIndex: (transaction: Queryable, documentId: DocumentId) => Promise<void>
}) {
  return {
    async loadForProcessing(id: string): Promise<ProcessingRow | undefined> {
      const [row] = await database.query<ProcessingRow>(
        `select id, organisation_id as "organisationId", space_id as "spaceId", name, status, format, blob_key as "blobKey",
           size_bytes as "sizeBytes", created_at as "createdAt"
         from documents where id = $1`,
        [id],
      )
      return row
    },

    /**
     * Holds the row until the transaction ends, so that a delete and the publishing come one after the other, taking their
     * locks in the same order. False: it is gone, or no longer processing.
     */
    async lockProcessing(transaction: Queryable, id: string): Promise<boolean> {
      const rows = await transaction.query(
        `select 1 from documents where id = $1 and status = 'processing' for update`,
        [id],
      )
      return rows.length === 1
    },

    /** Progress for people; a document that is no longer processing is left alone. */
    async saveProgress(id: string, progress: DocumentProgress): Promise<void> {
      await database.execute(
        `update documents set stage = $2, parts_done = $3, parts_total = $4 where id = $1 and status = 'processing'`,
        [id, progress.stage, progress.partsDone, progress.partsTotal],
      )
    },

    /**
     * Within the transaction that makes the chunks searchable, after lockProcessing. `name`: the one that they were indexed
     * under; a rename that came meanwhile is made up for.
     */
    async markReady(
      transaction: Queryable,
      id: string,
      result: { name: string; chunkCount: number; warnings: readonly DocumentWarning[] },
    ): Promise<void> {
      const [row] = await transaction.query<{ name: string }>(
        `update documents set status = 'ready', stage = 'done', error_code = null, error_message = null, chunk_count = $2,
           warnings = $3::json, updated_at = now()
         where id = $1 returning name`,
        [id, result.chunkCount, warningsJson(result.warnings)],
      )
      if (row && row.name !== result.name) await enqueueRename(jobs, transaction, id)
    },

    /** Ends the processing with a reason; chunks of it, if any, go in the same transaction. False: it had ended already. */
    markFailed(
      id: string,
      {
        code,
        message,
        warnings = [],
      }: { code: DocumentFailureCode; message: string; warnings?: readonly DocumentWarning[] },
    ): Promise<boolean> {
      return database.transaction(async (transaction) => {
        const touched = await transaction.execute(
          `update documents set status = 'failed', stage = 'failed', error_code = $2, error_message = $3,
             warnings = $4::json, updated_at = now()
           where id = $1 and status = 'processing'`,
          [id, code, message, warningsJson(warnings)],
        )
        if (touched === 1) await removeFromIndex(transaction, id as DocumentId)
        return touched === 1
      })
    },
  }
}

function warningsJson(warnings: readonly DocumentWarning[]): string | null {
  return warnings.length === 0 ? null : JSON.stringify(warnings)
}
