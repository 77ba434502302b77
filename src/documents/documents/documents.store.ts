import type { OnDuplicate } from '../../contract/documents.ts'
import { countRows, type Database, type Queryable } from '../../platform/database/index.ts'
import type { DocumentId, OrganisationId, SpaceId } from '../../platform/kernel/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import { changedFields } from '../../tenants/operators/index.ts'
import type { ChangeAuthor } from './change-author.ts'
import { enqueueEntry } from './change-log.store.ts'
import type { Document, DocumentRow, DocumentStatus, NewDocument } from './document.ts'
import { noReplacedDocument } from './document-members.ts'
import type { Metadata } from './document-metadata.ts'
import { createListStore } from './document-list.store.ts'
import { createHousekeepingStore } from './housekeeping.store.ts'
import { createImportStore } from './import.store.ts'
import { saveMetadata } from './metadata-batch.store.ts'
import { createOperationsStore } from './operations.store.ts'
import { enqueueProcessing } from './processing-job.ts'
import { loadPlacesInQueue } from './queue-places.ts'
import { createProcessingStore, enqueueRename } from './processing.store.ts'
import { createProgressStore } from './progress.store.ts'
import { createRowRemoval, type RemovedRow, type RemoveRows } from './remove-rows.ts'
import {
  deleteRows,
  findByName,
  insertReplacement,
  insertRow,
  isInSpace,
  lockName,
  publicId,
} from './replacement.store.ts'
import { loadSpaceTotals } from './space-totals.store.ts'

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
  /** A document of this name exists already. */
  | { kind: 'skipped'; document: Document }
  /** The upload is the new content of this document. */
  | { kind: 'replaced'; documentId: DocumentId }

/** What to do with a document of the same name, or the document whose content is replaced. */
export type UploadTarget = OnDuplicate | { replaces: DocumentId }

export type DocumentStore = ReturnType<typeof createDocumentStore>

/** SQL of documents. Every read and write is limited to an organisation, so the id of another one's document is not found. */
export function createDocumentStore({ database, jobs, removeFromIndex }: DocumentStoreDependencies) {
  const removeRows = createRowRemoval({ jobs, removeFromIndex })

  return {
    ...createProcessingStore({ database, jobs, removeRows, removeFromIndex }),
    ...createReads(database),
    ...createListStore(database),
    ...createOperationsStore({ database, jobs, removeRows }),
    ...createProgressStore(database),
    ...createHousekeepingStore({ database, jobs }),
    ...createImportStore({ database, jobs, removeFromIndex }),
    loadSpaceTotals: (organisationId: string, spaceIds: readonly string[]) =>
      loadSpaceTotals(database.for(organisationId), organisationId, spaceIds),

    /** Stores the row and its job in one transaction. A repeated upload key returns the first document. */
    insert(document: NewDocument, onDuplicate: UploadTarget = 'keep', author?: ChangeAuthor): Promise<InsertOutcome> {
      return database.for(document.organisationId).transaction(async (transaction) => {
        const outcome = await insertDocument(transaction, { jobs, removeRows }, document, onDuplicate)
        await recordInsert(transaction, jobs, author, document, outcome)
        return outcome
      })
    },

    update(
      organisationId: OrganisationId,
      id: string,
      change: DocumentUpdate,
      author?: ChangeAuthor,
    ): Promise<Document | undefined> {
      return database.for(organisationId).transaction(async (transaction) => {
        const before = author && (await lockDocument(transaction, organisationId, id))
        const after = await updateDocument(transaction, jobs, { organisationId, id }, change)
        const changed = before && after && changedFields(loggedFields(before), loggedFields(after))
        if (changed) {
          const subject = { subjectType: 'document', subjectId: id, organisationId } as const
          await enqueueEntry(jobs, transaction, author, { action: 'document.updated', ...subject, ...changed })
        }
        return after
      })
    },

    /** Removes row, chunks, vectors and lexical entries and enqueues the removal of the blob, in one transaction. False: not found. */
    remove(organisationId: OrganisationId, id: string, author?: ChangeAuthor): Promise<boolean> {
      return database.for(organisationId).transaction(async (transaction) => {
        const rows = await transaction.query<RemovedRow & { name: string; spaceId: string; isCurrent: boolean }>(
          `select id, blob_key as "blobKey", name, space_id as "spaceId", is_current as "isCurrent" from documents d where ${publicId('d')} = $1 and organisation_id = $2
           order by id for update`,
          [id, organisationId],
        )
        await deleteRows(transaction, removeRows, rows)
        const removed = rows.find((row) => row.isCurrent)
        if (removed) {
          const { name, spaceId } = removed
          const subject = { subjectType: 'document', subjectId: id, organisationId } as const
          const entry = { action: 'document.removed', ...subject, before: { name, spaceId }, after: null } as const
          await enqueueEntry(jobs, transaction, author, entry)
        }
        return rows.length > 0
      })
    },

    /** Removes up to `limit` documents of a Space that is being deleted; returns how many. */
    removeOfSpace(organisationId: OrganisationId, spaceId: SpaceId, limit: number): Promise<number> {
      return database.for(organisationId).transaction(async (transaction) => {
        const rows = await transaction.query<RemovedRow>(
          `delete from documents where id in
             (select id from documents where organisation_id = $1 and space_id = $2 order by id limit $3)
           returning id, blob_key as "blobKey"`,
          [organisationId, spaceId, limit],
        )
        await removeRows(transaction, rows)
        return rows.length
      })
    },
  }
}

function createReads(database: Database) {
  return {
    async load(organisationId: OrganisationId, id: string): Promise<Document | undefined> {
      const [row] = await database
        .for(organisationId)
        .query<ClientRow>(`${selectDocuments} and ${publicId('d')} = $1 and d.organisation_id = $2`, [
          id,
          organisationId,
        ])
      return row && toDocument(row)
    },

    /** The rows of a document, the content that replaces it included, and the keys of their blobs. */
    loadVersions: (organisationId: OrganisationId, id: string) =>
      database.for(organisationId).query<{ id: string; blobKey: string; at: Date }>(
        `select id, blob_key as "blobKey", created_at as at from documents d
         where ${publicId('d')} = $1 and organisation_id = $2`,
        [id, organisationId],
      ),

    /** An older document of the Space with the same bytes. */
    async findSameContent(
      organisationId: OrganisationId,
      spaceId: SpaceId,
      sha256: Uint8Array,
      exceptId: DocumentId,
    ): Promise<string | undefined> {
      const [row] = await database.for(organisationId).query<{ id: string }>(
        `select ${publicId('d')} as id from documents d
         where organisation_id = $1 and space_id = $2 and content_sha256 = $3 and id <> $4 and is_current
         order by created_at, id limit 1`,
        [organisationId, spaceId, sha256, exceptId],
      )
      return row?.id
    },

    /** These documents of a Space, in no order. */
    async loadMany(organisationId: OrganisationId, spaceId: SpaceId, ids: readonly string[]): Promise<Document[]> {
      const rows = await database
        .for(organisationId)
        .query<ClientRow>(
          `${selectDocuments} and d.organisation_id = $1 and d.space_id = $2 and ${publicId('d')} = any($3::uuid[])`,
          [organisationId, spaceId, [...ids]],
        )
      return rows.map(toDocument)
    },
    /** The places of documents that wait for a worker, by their ids. */
    loadQueue: (organisationId: OrganisationId, documents: readonly Pick<Document, 'id' | 'rowId' | 'status'>[]) =>
      loadPlacesInQueue(database, organisationId, documents),

    /** Newest first, id as tie-break. */
    async list(organisationId: OrganisationId, spaceId: SpaceId, page: { limit: number; offset: number }) {
      const own = database.for(organisationId)
      const current = 'documents where organisation_id = $1 and space_id = $2 and is_current'
      const total = await countRows(own, current, [organisationId, spaceId])
      const rows = await own.query<ClientRow>(
        `${selectDocuments} and d.organisation_id = $1 and d.space_id = $2
         order by d.created_at desc, ${publicId('d')} desc limit $3 offset $4`,
        [organisationId, spaceId, page.limit, page.offset],
      )
      return { total, items: rows.map(toDocument) }
    },
  }
}

async function insertDocument(
  transaction: Queryable,
  { jobs, removeRows }: { jobs: JobQueue; removeRows: RemoveRows },
  document: NewDocument,
  onDuplicate: UploadTarget,
): Promise<InsertOutcome> {
  const repeated = await claimUploadKey(transaction, document)
  if (repeated) return repeated
  if (typeof onDuplicate === 'object') {
    const { replaces } = onDuplicate
    const replacement = { ...document, keepsNamesakes: true }
    const isReplaced =
      (await isInSpace(transaction, document, replaces)) &&
      (await insertReplacement(transaction, { jobs, removeRows }, replacement, replaces))
    // Also undoes the claim of the key.
    if (!isReplaced) throw noReplacedDocument()
    await moveUploadKey(transaction, document, replaces)
    return { kind: 'replaced', documentId: replaces }
  }
  if (onDuplicate !== 'keep') {
    await lockName(transaction, document)
    const existing = await findByName(transaction, document)
    if (existing && onDuplicate === 'skip') {
      const [row] = await transaction.query<ClientRow>(`${selectDocuments} and ${publicId('d')} = $1`, [existing])
      await moveUploadKey(transaction, document, existing)
      return { kind: 'skipped', document: toDocument(row!) }
    }
    if (existing && (await insertReplacement(transaction, { jobs, removeRows }, document, existing))) {
      await moveUploadKey(transaction, document, existing)
      return { kind: 'replaced', documentId: existing }
    }
  }
  await insertRow(transaction, { ...document, version: null })
  await enqueueProcessing(jobs, transaction, document)
  return { kind: 'inserted' }
}

async function recordInsert(
  transaction: Queryable,
  jobs: JobQueue,
  author: ChangeAuthor | undefined,
  { id, organisationId, name, spaceId }: NewDocument,
  outcome: InsertOutcome,
): Promise<void> {
  if (outcome.kind !== 'inserted' && outcome.kind !== 'replaced') return
  const subjectId = outcome.kind === 'replaced' ? outcome.documentId : id
  const subject = { subjectType: 'document', subjectId, organisationId } as const
  const entry = { action: 'document.created', ...subject, before: null, after: { name, spaceId } } as const
  await enqueueEntry(jobs, transaction, author, entry)
}

interface LoggedRow {
  name: string
  metadataJson: string | null
}

/** The fields of the admin log. The locks are those of updateDocument, in its order. */
async function lockDocument(transaction: Queryable, organisationId: OrganisationId, id: string) {
  const rows = await transaction.query<LoggedRow & { isCurrent: boolean }>(
    `select name, metadata::text as "metadataJson", is_current as "isCurrent" from documents d
     where ${publicId('d')} = $1 and organisation_id = $2 order by id for no key update`,
    [id, organisationId],
  )
  return rows.find((row) => row.isCurrent)
}

function loggedFields({ name, metadataJson }: LoggedRow) {
  return { name, metadata: metadataJson === null ? null : (JSON.parse(metadataJson) as unknown) }
}

/** Undefined keeps the stored value. */
interface DocumentUpdate {
  name: string | undefined
  metadata: Metadata | null | undefined
}

async function updateDocument(
  transaction: Queryable,
  jobs: JobQueue,
  { organisationId, id }: { organisationId: OrganisationId; id: string },
  { name, metadata }: DocumentUpdate,
): Promise<Document | undefined> {
  const former = await transaction.query<{ id: string; name: string; status: DocumentStatus }>(
    `select id, name, status from documents d where ${publicId('d')} = $1 and organisation_id = $2
     order by id for no key update`,
    [id, organisationId],
  )
  // The change also applies to a replacement that is not ready yet.
  for (const row of former) {
    await transaction.execute(`update documents set name = coalesce($2, name), updated_at = now() where id = $1`, [
      row.id,
      name ?? null,
    ])
    if (metadata !== undefined) await saveMetadata(transaction, row.id, metadata)
    const isRenamed = name !== undefined && name !== row.name
    if (isRenamed && row.status === 'ready') await enqueueRename(jobs, transaction, row.id)
  }
  const [changed] = await transaction.query<ClientRow>(
    `${selectDocuments} and ${publicId('d')} = $1 and d.organisation_id = $2`,
    [id, organisationId],
  )
  return changed && toDocument(changed)
}

/** Undefined if there is no key, or if the key is new and now belongs to this upload. */
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

/** Points the key of an upload to the existing document. */
async function moveUploadKey(transaction: Queryable, document: NewDocument, documentId: DocumentId): Promise<void> {
  await transaction.execute('update upload_keys set document_id = $3 where organisation_id = $1 and key = $2', [
    document.organisationId,
    document.uploadKey,
    documentId,
  ])
}

/** Documents as clients see them: a document with a replacement in progress is `processing`, and its content is still served. */
const selectDocuments = `select ${publicId('d')} as id, d.organisation_id as "organisationId", d.space_id as "spaceId", d.name,
    case when n.id is null then d.status else 'processing' end as status, d.metadata::text as "metadataJson",
    d.error_code as "errorCode", d.error_message as "errorMessage", d.warnings, d.size_bytes as "sizeBytes",
    split_part(d.mime_type, ';', 1) as "mimeType", d.created_at as "createdAt", d.updated_at as "updatedAt",
    coalesce(n.id, d.id) as "rowId", encode(coalesce(n.content_sha256, d.content_sha256), 'hex') as "contentSha256"
  from documents d left join documents n on ${publicId('n')} = ${publicId('d')} and not n.is_current
  where d.is_current`

type ClientRow = DocumentRow & Pick<Document, 'metadataJson' | 'contentSha256' | 'rowId'>

function toDocument({ errorCode, errorMessage, warnings, sizeBytes, ...row }: ClientRow): Document {
  return {
    ...row,
    error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' },
    warnings: warnings ?? [],
    sizeBytes: Number(sizeBytes),
  }
}
