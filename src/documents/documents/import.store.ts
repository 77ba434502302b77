import type { DocumentWarning } from '../../contract/documents.ts'
import type { Database, Queryable } from '../../platform/database/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import type { DocumentId, OrganisationId, SpaceId } from '../../platform/kernel/index.ts'
import type { NewDocument } from './document.ts'
import { enqueueProcessing, type ProcessedRow } from './processing-job.ts'
import { insertRow } from './replacement.store.ts'

/** Documents of one transaction. */
const documentsPerBatch = 100

interface ImportStoreDependencies {
  database: Database
  jobs: JobQueue
  removeFromIndex: (transaction: Queryable, documentId: DocumentId) => Promise<void>
}

/**
 * SQL of documents that the import of a Space adds. Until its end they have the stage `importing`, in which nobody processes them: their Space
 * does not exist yet.
 */
export function createImportStore({ database, jobs, removeFromIndex }: ImportStoreDependencies) {
  return {
    insertImported: (document: Omit<NewDocument, 'uploadKey' | 'fingerprint'>): Promise<void> =>
      database.for(document.organisationId).transaction(async (transaction) => {
        await insertRow(transaction, { ...document, version: null, uploadKey: null, fingerprint: new Uint8Array() })
        await transaction.execute(`update documents set stage = 'importing' where id = $1`, [document.id])
      }),

    /** Enqueues the processing of the documents of the Space that have no chunks from an archive. */
    async processImported(organisationId: OrganisationId, spaceId: SpaceId): Promise<void> {
      for (let enqueued = documentsPerBatch; enqueued === documentsPerBatch;) {
        enqueued = await database.for(organisationId).transaction(async (transaction) => {
          const rows = await transaction.query<ProcessedRow>(
            `update documents set stage = 'queued' where id in (
               select id from documents where organisation_id = $1 and space_id = $2 and status = 'processing'
                 and stage = 'importing' order by id limit ${documentsPerBatch} for update)
             returning id, organisation_id as "organisationId", space_id as "spaceId", format, size_bytes as "sizeBytes"`,
            [organisationId, spaceId],
          )
          for (const row of rows) await enqueueProcessing(jobs, transaction, row)
          return rows.length
        })
      }
    },

    /** Sets the warnings of a ready document. */
    saveImportedWarnings: (
      { id, organisationId: owner }: Pick<NewDocument, 'id' | 'organisationId'>,
      change: (present: readonly DocumentWarning[]) => DocumentWarning[],
    ): Promise<void> =>
      database.for(owner).transaction(async (transaction) => {
        const [row] = await transaction.query<{ warnings: DocumentWarning[] | null }>(
          `select warnings from documents where id = $1 and status = 'ready' for no key update`,
          [id],
        )
        if (!row) return
        const warnings = change(row.warnings ?? [])
        await transaction.execute('update documents set warnings = $2::json where id = $1', [
          id,
          warnings.length === 0 ? null : JSON.stringify(warnings),
        ])
      }),

    /** Removes a ready document from the index and processes its file as one that was uploaded. */
    reprocessImported: (owner: string, id: DocumentId): Promise<void> =>
      database.for(owner).transaction(async (transaction) => {
        const [row] = await transaction.query<ProcessedRow>(
          `update documents set status = 'processing', stage = 'queued', chunk_count = null, page_count = null, updated_at = now()
           where id = $1 and status = 'ready'
           returning id, organisation_id as "organisationId", space_id as "spaceId", format, size_bytes as "sizeBytes"`,
          [id],
        )
        if (!row) return
        await removeFromIndex(transaction, id)
        await enqueueProcessing(jobs, transaction, row)
      }),
  }
}
