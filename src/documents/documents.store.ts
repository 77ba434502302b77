import type { DocumentWarning } from '../contract/documents.ts'
import type { Database, Queryable } from '../database/index.ts'
import type { DocumentId, OrganisationId, SpaceId } from '../kernel/index.ts'
import type { JobQueue } from '../jobs/index.ts'
import { blobRemovalKey, deleteBlobJob } from './blob-removal.ts'
import type { Document, DocumentFailureCode, DocumentStatus, NewDocument } from './document.ts'
import type { Metadata } from './document-metadata.ts'
import { createHousekeepingStore } from './housekeeping.store.ts'
import { createProcessingStore, enqueueProcessing, enqueueRename, processingKey } from './processing.store.ts'
import { createProgressStore } from './progress.store.ts'

export interface DocumentStoreDependencies {
  database: Database
  jobs: JobQueue
  /** Removes a document's chunks, vectors and lexical entries within the transaction. */
  removeFromIndex: (transaction: Queryable, documentId: DocumentId) => Promise<void>
}

export type InsertOutcome =
  | { kind: 'inserted' }
  | { kind: 'repeated'; documentId: DocumentId; documentName: string }
  | { kind: 'key_reused' }

export type DocumentStore = ReturnType<typeof createDocumentStore>

/** SQL of documents. Every read and write names the organisation: another one's id is a document that does not exist. */
export function createDocumentStore({ database, jobs, removeFromIndex }: DocumentStoreDependencies) {
  async function enqueueBlobRemoval(transaction: Queryable, blobKey: string) {
    await jobs.enqueue(transaction, { kind: deleteBlobJob, key: blobRemovalKey(blobKey), payload: { blobKey } })
  }

  async function removeRows(transaction: Queryable, rows: { id: string; blob_key: string }[]) {
    for (const { id, blob_key: blobKey } of rows) {
      await jobs.cancel(transaction, processingKey(id))
      await removeFromIndex(transaction, id as DocumentId)
      await enqueueBlobRemoval(transaction, blobKey)
    }
  }

  return {
    ...createProcessingStore({ database, jobs, removeFromIndex }),
    ...createProgressStore(database),
    ...createHousekeepingStore({ database, jobs }),

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
            document.metadata?.json ?? null,
            document.metadata?.sourceUrl ?? null,
            document.format,
            document.mimeType,
            document.sizeBytes,
            document.contentSha256,
            document.blobKey,
          ],
        )
        await enqueueProcessing(jobs, transaction, document)
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
      change: { name: string | undefined; metadata: Metadata | null | undefined },
    ): Promise<Document | undefined> {
      return database.transaction(async (transaction) => {
        const [former] = await transaction.query<{ name: string }>(
          'select name from documents where id = $1 and organisation_id = $2 for no key update',
          [id, organisationId],
        )
        if (!former) return undefined
        const [row] = await transaction.query<DocumentRow>(
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
            change.metadata?.json ?? null,
            change.metadata?.sourceUrl ?? null,
          ],
        )
        if (row!.name !== former.name && row!.status === 'ready') await enqueueRename(jobs, transaction, id)
        return toDocument(row!)
      })
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
  }
}

/** Undefined: the key is new (or none was given) and now belongs to this upload. */
async function claimUploadKey(transaction: Queryable, document: NewDocument): Promise<InsertOutcome | undefined> {
  if (document.uploadKey === null) return undefined
  const claimed = await transaction.execute(
    `insert into upload_keys (organisation_id, key, document_id, space_id, fingerprint, document_name) values ($1, $2, $3, $4, $5, $6)
     on conflict (organisation_id, key) do update set document_id = excluded.document_id, space_id = excluded.space_id,
       fingerprint = excluded.fingerprint, document_name = excluded.document_name, created_at = excluded.created_at
     where upload_keys.created_at < now() - interval '1 day'`,
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

const columns = `id, organisation_id, space_id, name, status, metadata::text as metadata, error_code, error_message, warnings, size_bytes, mime_type, created_at, updated_at`

interface DocumentRow {
  id: DocumentId
  organisation_id: OrganisationId
  space_id: SpaceId
  name: string
  status: DocumentStatus
  metadata: string | null
  error_code: DocumentFailureCode | null
  error_message: string | null
  warnings: DocumentWarning[] | null
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
    metadataJson: row.metadata,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    warnings: row.warnings ?? [],
    sizeBytes: Number(row.size_bytes),
    mimeType: row.mime_type,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
