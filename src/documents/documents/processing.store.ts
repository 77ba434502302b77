import type { DocumentWarning } from '../../contract/documents.ts'
import type { Database, Queryable } from '../../platform/database/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import { createUuid, type DocumentId } from '../../platform/kernel/index.ts'
import type { DocumentFailureCode, DocumentProgress, DocumentStatus, NewDocument } from './document.ts'
import type { RemoveRows } from './remove-rows.ts'
import { deleteRows, lockVersions, publicId, replaceFormer } from './replacement.store.ts'

/** The job that updates the index after a rename. Its payload has the `documentId`. */
export const renameDocumentJob = 'rename-document'

/** Call it within the transaction that renames a searchable document or makes a renamed one searchable. */
export async function enqueueRename(jobs: JobQueue, transaction: Queryable, documentId: string): Promise<void> {
  // A unique key: a rename during the end of the former job must not be dropped.
  const key = `${renameDocumentJob}:${documentId}:${createUuid()}`
  await jobs.enqueue(transaction, { kind: renameDocumentJob, key, payload: { documentId } })
}

export interface ProcessingRow extends Pick<
  NewDocument,
  'id' | 'organisationId' | 'spaceId' | 'name' | 'mimeType' | 'apiVersion' | 'blobKey'
> {
  status: DocumentStatus
  format: string
  sizeBytes: bigint
  createdAt: Date
}

type Place = Pick<NewDocument, 'id' | 'organisationId'>

interface ProcessingDependencies {
  database: Database
  jobs: JobQueue
  removeRows: RemoveRows
  removeFromIndex: (transaction: Queryable, documentId: DocumentId) => Promise<void>
}

/** SQL of the transitions from `processing` to `ready` or `failed`. */
export function createProcessingStore({ database, jobs, removeRows, removeFromIndex }: ProcessingDependencies) {
  return {
    /** `owner`: the organisation of the job. */
    async loadForProcessing(owner: string, id: string): Promise<ProcessingRow | undefined> {
      const [row] = await database.for(owner).query<ProcessingRow>(
        `select id, organisation_id as "organisationId", space_id as "spaceId", name, status, format, mime_type as "mimeType",
           api_version as "apiVersion", blob_key as "blobKey", size_bytes as "sizeBytes", created_at as "createdAt"
         from documents where id = $1`,
        [id],
      )
      return row
    },

    /**
     * Locks the row until the transaction ends. A delete and the publishing then run one after the other and take their locks in
     * the same order. False: the row was removed or is no longer processing.
     */
    async lockProcessing(transaction: Queryable, id: string): Promise<boolean> {
      const [row] = await transaction.query<{ documentId: string }>(
        `select ${publicId('d')} as "documentId" from documents d where id = $1`,
        [id],
      )
      const versions = row ? await lockVersions(transaction, row.documentId) : []
      return versions.some((version) => version.id === id && version.status === 'processing')
    },

    /** Saves progress for display. Does nothing if the document is no longer processing. */
    async saveProgress({ id, organisationId }: Place, progress: DocumentProgress): Promise<void> {
      await database
        .for(organisationId)
        .execute(
          `update documents set stage = $2, parts_done = $3, parts_total = $4 where id = $1 and status = 'processing'`,
          [id, progress.stage, progress.partsDone, progress.partsTotal],
        )
    },

    /**
     * Call it within the transaction that makes the chunks searchable, after lockProcessing. `name` is the name that the chunks were
     * indexed with; if the document was renamed since, a rename job is enqueued.
     */
    async markReady(
      transaction: Queryable,
      id: string,
      result: { name: string; chunkCount: number; pageCount: number | null; warnings: readonly DocumentWarning[] },
    ): Promise<void> {
      await replaceFormer(transaction, removeRows, id)
      const [row] = await transaction.query<{ name: string }>(
        `update documents set status = 'ready', stage = 'done', error_code = null, error_message = null, chunk_count = $2,
           warnings = $3::json, page_count = $4, updated_at = now()
         where id = $1 returning name`,
        [id, result.chunkCount, warningsJson(result.warnings), result.pageCount],
      )
      if (row && row.name !== result.name) await enqueueRename(jobs, transaction, id)
    },

    /**
     * Ends the processing with an error and removes its chunks in the same transaction. A failed replacement is removed as a whole, and
     * the served document gets a warning. False: the processing had ended already.
     */
    markFailed(owner: string, id: string, failure: ProcessingFailure): Promise<boolean> {
      return database
        .for(owner)
        .transaction((transaction) => markFailed(transaction, { removeRows, removeFromIndex }, id, failure))
    },
  }
}

interface ProcessingFailure {
  code: DocumentFailureCode
  message: string
  warnings?: readonly DocumentWarning[]
}

async function markFailed(
  transaction: Queryable,
  { removeRows, removeFromIndex }: Pick<ProcessingDependencies, 'removeRows' | 'removeFromIndex'>,
  id: string,
  { code, message, warnings = [] }: ProcessingFailure,
): Promise<boolean> {
  const [row] = await transaction.query<{ documentId: string; isCurrent: boolean }>(
    `select ${publicId('d')} as "documentId", is_current as "isCurrent" from documents d where id = $1`,
    [id],
  )
  if (row && !row.isCurrent) return failReplacement(transaction, removeRows, { id, ...row, code, message })
  const touched = await transaction.execute(
    `update documents set status = 'failed', stage = 'failed', error_code = $2, error_message = $3,
       warnings = $4::json, updated_at = now()
     where id = $1 and status = 'processing'`,
    [id, code, message, warningsJson(warnings)],
  )
  if (touched === 1) await removeFromIndex(transaction, id as DocumentId)
  return touched === 1
}

/** Removes the new content and adds a warning to the document that is still served. */
async function failReplacement(
  transaction: Queryable,
  removeRows: RemoveRows,
  { id, documentId, code, message }: { id: string; documentId: string; code: DocumentFailureCode; message: string },
): Promise<boolean> {
  const versions = await lockVersions(transaction, documentId)
  const failed = versions.find((version) => version.id === id)
  if (!failed) return false
  await deleteRows(transaction, removeRows, [failed])
  const [current] = await transaction.query<{ id: string; warnings: DocumentWarning[] | null }>(
    `select id, warnings from documents d where ${publicId('d')} = $1 and is_current`,
    [documentId],
  )
  if (!current) return true
  const warnings = (current.warnings ?? []).filter((warning) => warning.code !== 'replacement_failed')
  warnings.push({
    code: 'replacement_failed',
    message: `The new content could not be processed (${code}), and the former content is still served. ${message}`,
  })
  await transaction.execute('update documents set warnings = $2::json, updated_at = now() where id = $1', [
    current.id,
    warningsJson(warnings),
  ])
  return true
}

function warningsJson(warnings: readonly DocumentWarning[]): string | null {
  return warnings.length === 0 ? null : JSON.stringify(warnings)
}
