import type { Database, Queryable } from '../database/index.ts'
import type { DocumentId, OrganisationId, SpaceId } from '../kernel/index.ts'
import type { JobQueue } from '../jobs/index.ts'
import type { Document, DocumentFailureCode, DocumentProgress, DocumentStatus, NewDocument } from './document.ts'

export interface DocumentStoreDependencies {
  database: Database
  jobs: JobQueue
  /** Removes a document's chunks, vectors and lexical entries within the transaction. */
  removeFromIndex: (transaction: Queryable, documentId: DocumentId) => Promise<void>
}

/** Kinds of the jobs that documents cause; ingestion and the blob sweeper work on them. */
export const processDocumentJob = 'process-document'
export const deleteBlobJob = 'delete-blob'

export type InsertOutcome =
  | { kind: 'inserted' }
  | { kind: 'repeated'; documentId: DocumentId; documentName: string }
  | { kind: 'key_reused' }

export type DocumentStore = ReturnType<typeof createDocumentStore>

/** SQL of documents. Every read and write names the organisation: another one's id is a document that does not exist. */
export function createDocumentStore({ database, jobs, removeFromIndex }: DocumentStoreDependencies) {
  async function enqueueBlobRemoval(transaction: Queryable, blobKey: string) {
    await jobs.enqueue(transaction, { kind: deleteBlobJob, key: `${deleteBlobJob}:${blobKey}`, payload: { blobKey } })
  }

  async function removeRows(transaction: Queryable, rows: { id: string; blob_key: string }[]) {
    for (const { id, blob_key: blobKey } of rows) {
      await jobs.cancel(transaction, processingKey(id))
      await removeFromIndex(transaction, id as DocumentId)
      await enqueueBlobRemoval(transaction, blobKey)
    }
  }

  return {
    /** The row and the job that processes it, in one transaction; an upload key makes a repetition find its first document. */
    insert(document: NewDocument): Promise<InsertOutcome> {
      return database.transaction(async (transaction) => {
        const repeated = await claimUploadKey(transaction, document)
        if (repeated) return repeated
        await transaction.execute(
          `insert into documents (id, organisation_id, space_id, name, metadata, source_url, format, mime_type, size_bytes, content_sha256, blob_key)
           values ($1, $2, $3, $4, $5::json, $6, $7, $8, $9, $10, $11)`,
          [
            document.id,
            document.organisationId,
            document.spaceId,
            document.name,
            document.metadata === null ? null : JSON.stringify(document.metadata),
            document.sourceUrl,
            document.format,
            document.mimeType,
            document.sizeBytes,
            document.contentSha256,
            document.blobKey,
          ],
        )
        await jobs.enqueue(transaction, {
          kind: processDocumentJob,
          key: processingKey(document.id),
          payload: { documentId: document.id, organisationId: document.organisationId, spaceId: document.spaceId },
          fairnessKeys: { organisationId: document.organisationId, spaceId: document.spaceId },
        })
        return { kind: 'inserted' }
      })
    },

    async load(organisationId: OrganisationId, id: string): Promise<Document | undefined> {
      const [row] = await database.query<DocumentRow>(
        `select ${columns} from documents where id = $1 and organisation_id = $2`,
        [id, organisationId],
      )
      return row && toDocument(row)
    },

    /** An older document of the Space with the same bytes. */
    async findSameContent(
      organisationId: OrganisationId,
      spaceId: SpaceId,
      sha256: Uint8Array,
      exceptId: DocumentId,
    ): Promise<string | undefined> {
      const [row] = await database.query<{ id: string }>(
        `select id from documents where organisation_id = $1 and space_id = $2 and content_sha256 = $3 and id <> $4
         order by created_at, id limit 1`,
        [organisationId, spaceId, sha256, exceptId],
      )
      return row?.id
    },

    /** Newest first, id as tie-break. */
    async list(organisationId: OrganisationId, spaceId: SpaceId, page: { limit: number; offset: number }) {
      const [counted] = await database.query<{ total: bigint }>(
        'select count(*) as total from documents where organisation_id = $1 and space_id = $2',
        [organisationId, spaceId],
      )
      const rows = await database.query<DocumentRow>(
        `select ${columns} from documents where organisation_id = $1 and space_id = $2
         order by created_at desc, id desc limit $3 offset $4`,
        [organisationId, spaceId, page.limit, page.offset],
      )
      return { total: Number(counted?.total ?? 0), items: rows.map(toDocument) }
    },

    async update(
      organisationId: OrganisationId,
      id: string,
      change: { name?: string; metadata?: { value: Record<string, unknown> | null; sourceUrl: string | null } },
    ): Promise<Document | undefined> {
      const [row] = await database.query<DocumentRow>(
        `update documents set
           name = coalesce($3, name),
           metadata = case when $4 then $5::json else metadata end,
           source_url = case when $4 then $6 else source_url end,
           updated_at = now()
         where id = $1 and organisation_id = $2 returning ${columns}`,
        [
          id,
          organisationId,
          change.name ?? null,
          change.metadata !== undefined,
          change.metadata?.value ? JSON.stringify(change.metadata.value) : null,
          change.metadata?.sourceUrl ?? null,
        ],
      )
      return row && toDocument(row)
    },

    /** Row, chunks, vectors and lexical entries in one transaction, with the job that removes the blob. False: there was none. */
    remove(organisationId: OrganisationId, id: string): Promise<boolean> {
      return database.transaction(async (transaction) => {
        const rows = await transaction.query<{ id: string; blob_key: string }>(
          'delete from documents where id = $1 and organisation_id = $2 returning id, blob_key',
          [id, organisationId],
        )
        await removeRows(transaction, rows)
        return rows.length > 0
      })
    },

    /** Removes up to `limit` documents of a Space that is being deleted; returns how many. */
    removeOfSpace(organisationId: OrganisationId, spaceId: SpaceId, limit: number): Promise<number> {
      return database.transaction(async (transaction) => {
        const rows = await transaction.query<{ id: string; blob_key: string }>(
          `delete from documents where id in
             (select id from documents where organisation_id = $1 and space_id = $2 order by id limit $3)
           returning id, blob_key`,
          [organisationId, spaceId, limit],
        )
        await removeRows(transaction, rows)
        return rows.length
      })
    },

    async loadForProcessing(id: string): Promise<ProcessingRow | undefined> {
      const [row] = await database.query<ProcessingRow>(
        `select id, organisation_id as "organisationId", space_id as "spaceId", name, status, format, blob_key as "blobKey",
           size_bytes as "sizeBytes", created_at as "createdAt"
         from documents where id = $1`,
        [id],
      )
      return row
    },

    /** Progress for people; a document that is no longer processing is left alone. */
    async saveProgress(id: string, progress: DocumentProgress): Promise<void> {
      await database.execute(
        `update documents set stage = $2, parts_done = $3, parts_total = $4 where id = $1 and status = 'processing'`,
        [id, progress.stage, progress.partsDone, progress.partsTotal],
      )
    },

    /** Within the transaction that makes the chunks searchable. False: the document has been deleted meanwhile. */
    async markReady(
      transaction: Queryable,
      id: string,
      result: { chunkCount: number; warnings: unknown[] },
    ): Promise<boolean> {
      const touched = await transaction.execute(
        `update documents set status = 'ready', stage = 'done', error_code = null, error_message = null, chunk_count = $2,
           warnings = $3::json, updated_at = now()
         where id = $1 and status = 'processing'`,
        [id, result.chunkCount, result.warnings.length === 0 ? null : JSON.stringify(result.warnings)],
      )
      return touched === 1
    },

    /** Ends the processing with a reason; chunks of it, if any, go in the same transaction. */
    markFailed(id: string, code: DocumentFailureCode, message: string): Promise<boolean> {
      return database.transaction(async (transaction) => {
        const touched = await transaction.execute(
          `update documents set status = 'failed', stage = 'failed', error_code = $2, error_message = $3, updated_at = now()
           where id = $1 and status = 'processing'`,
          [id, code, message],
        )
        if (touched === 1) await removeFromIndex(transaction, id as DocumentId)
        return touched === 1
      })
    },

    async loadProgress(organisationId: OrganisationId, spaceId: SpaceId, limit: number) {
      return database.query<DocumentProgressRow>(
        `select id, name, status, stage, parts_done as "partsDone", parts_total as "partsTotal", error_code as "errorCode",
           error_message as "errorMessage", warnings, size_bytes as "sizeBytes", chunk_count as "chunkCount",
           created_at as "createdAt", updated_at as "updatedAt"
         from documents where organisation_id = $1 and space_id = $2 order by updated_at desc, id desc limit $3`,
        [organisationId, spaceId, limit],
      )
    },

    /** Of these blob keys, those that no document names. */
    async findOrphanBlobs(keys: string[]): Promise<string[]> {
      const rows = await database.query<{ key: string }>(
        'select key from unnest($1::text[]) as key where not exists (select 1 from documents where blob_key = key)',
        [keys],
      )
      return rows.map((row) => row.key)
    },

    /** Documents that are processing although no job will ever work on them: must be none. */
    async findStuck(): Promise<string[]> {
      const rows = await database.query<{ id: string }>(
        `select id from documents where status = 'processing' order by id limit 10000`,
      )
      const stuck: string[] = []
      for (const { id } of rows) if (!(await jobs.exists(processingKey(id)))) stuck.push(id)
      return stuck
    },

    async loadBlobKeys(): Promise<Map<string, string>> {
      const rows = await database.query<{ id: string; key: string }>('select id, blob_key as key from documents')
      return new Map(rows.map((row) => [row.key, row.id]))
    },

    pruneUploadKeys(): Promise<number> {
      return database.execute(`delete from upload_keys where created_at < now() - interval '1 day'`)
    },
  }
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

export interface DocumentProgressRow {
  id: string
  name: string
  status: DocumentStatus
  stage: string
  partsDone: number | null
  partsTotal: number | null
  errorCode: string | null
  errorMessage: string | null
  warnings: unknown
  sizeBytes: bigint
  chunkCount: number | null
  createdAt: Date
  updatedAt: Date
}

const processingKey = (id: string) => `${processDocumentJob}:${id}`

/** Undefined: the key is new (or none was given) and now belongs to this upload. */
async function claimUploadKey(transaction: Queryable, document: NewDocument): Promise<InsertOutcome | undefined> {
  if (document.uploadKey === null) return undefined
  const claimed = await transaction.execute(
    `insert into upload_keys (organisation_id, key, document_id, space_id, fingerprint, document_name) values ($1, $2, $3, $4, $5, $6)
     on conflict (organisation_id, key) do nothing`,
    [document.organisationId, document.uploadKey, document.id, document.spaceId, document.fingerprint, document.name],
  )
  if (claimed === 1) return undefined
  const [known] = await transaction.query<{ document_id: DocumentId; document_name: string; same: boolean }>(
    `select document_id, document_name, fingerprint = $3 and space_id = $4 as same from upload_keys where organisation_id = $1 and key = $2`,
    [document.organisationId, document.uploadKey, document.fingerprint, document.spaceId],
  )
  if (!known?.same) return { kind: 'key_reused' }
  return { kind: 'repeated', documentId: known.document_id, documentName: known.document_name }
}

const columns = `id, organisation_id, space_id, name, status, metadata, error_code, error_message, size_bytes, mime_type, created_at, updated_at`

interface DocumentRow {
  id: DocumentId
  organisation_id: OrganisationId
  space_id: SpaceId
  name: string
  status: DocumentStatus
  metadata: Record<string, unknown> | null
  error_code: DocumentFailureCode | null
  error_message: string | null
  size_bytes: bigint
  mime_type: string
  created_at: Date
  updated_at: Date
}

function toDocument(row: DocumentRow): Document {
  return {
    id: row.id,
    organisationId: row.organisation_id,
    spaceId: row.space_id,
    name: row.name,
    status: row.status,
    metadata: row.metadata,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    sizeBytes: Number(row.size_bytes),
    mimeType: row.mime_type,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
