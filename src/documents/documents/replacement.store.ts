import type { Queryable } from '../../platform/database/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import type { DocumentId } from '../../platform/kernel/index.ts'
import type { DocumentStatus, NewDocument } from './document.ts'
import { enqueueProcessing } from './processing-job.ts'
import type { RemovedRow, RemoveRows } from './remove-rows.ts'

/** Id of the document for clients; see migration 0031. */
export const publicId = (table: string) => `coalesce(${table}.public_id, ${table}.id)`

interface Version extends RemovedRow {
  isCurrent: boolean
  status: DocumentStatus
  metadata: string | null
  sourceUrl: string | null
  path: string | null
  createdAt: Date
}

/** Serialises uploads that search for a document of the same name, so that two concurrent ones cannot both find none. */
export async function lockName(
  transaction: Queryable,
  { spaceId, name }: Pick<NewDocument, 'spaceId' | 'name'>,
): Promise<void> {
  await transaction.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`document ${spaceId} ${name}`])
}

/** The newest document of this name in the Space. */
export async function findByName(
  transaction: Queryable,
  { organisationId, spaceId, name }: Pick<NewDocument, 'organisationId' | 'spaceId' | 'name'>,
): Promise<DocumentId | undefined> {
  const [row] = await transaction.query<{ id: DocumentId }>(
    `select ${publicId('d')} as id from documents d
     where organisation_id = $1 and space_id = $2 and name = $3 and is_current
     order by created_at desc, id desc limit 1`,
    [organisationId, spaceId, name],
  )
  return row?.id
}

/** True if the document is in the Space of the upload. */
export async function isInSpace(
  transaction: Queryable,
  { organisationId, spaceId }: Pick<NewDocument, 'organisationId' | 'spaceId'>,
  documentId: DocumentId,
): Promise<boolean> {
  const rows = await transaction.query(
    `select 1 from documents d where ${publicId('d')} = $1 and organisation_id = $2 and space_id = $3 and is_current`,
    [documentId, organisationId, spaceId],
  )
  return rows.length > 0
}

/** Locks all rows of a document, always in the same order. */
export async function lockVersions(transaction: Queryable, documentId: string): Promise<Version[]> {
  return transaction.query<Version>(
    `select id, blob_key as "blobKey", is_current as "isCurrent", status, metadata::text as metadata,
       source_url as "sourceUrl", path, created_at as "createdAt"
     from documents d where ${publicId('d')} = $1 order by id for update`,
    [documentId],
  )
}

/**
 * Adds the new content of an existing document. A ready document is served until the new content is ready. An earlier replacement that
 * is not ready, and a document that was never ready, are removed at once. False: the document no longer exists.
 */
export async function insertReplacement(
  transaction: Queryable,
  { jobs, removeRows }: { jobs: JobQueue; removeRows: RemoveRows },
  document: NewDocument & { keepsNamesakes?: boolean },
  documentId: DocumentId,
): Promise<boolean> {
  const versions = await lockVersions(transaction, documentId)
  const current = versions.find((version) => version.isCurrent)
  if (!current) return false
  const isServed = current.status === 'ready'
  const replaced = versions.filter((version) => !version.isCurrent || !isServed)
  await deleteRows(transaction, removeRows, replaced)
  await insertRow(transaction, {
    ...document,
    metadata:
      document.metadata ??
      (current.metadata === null ? null : { json: current.metadata, sourceUrl: current.sourceUrl, path: current.path }),
    version: { publicId: documentId, isCurrent: !isServed, createdAt: current.createdAt },
  })
  await enqueueProcessing(jobs, transaction, document)
  return true
}

/** Call it within the transaction that makes `rowId` ready. Removes the former content, and older documents of the same name unless they stay. */
export async function replaceFormer(transaction: Queryable, removeRows: RemoveRows, rowId: string): Promise<void> {
  const [row] = await transaction.query<{ documentId: string; isCurrent: boolean }>(
    `select ${publicId('d')} as "documentId", is_current as "isCurrent" from documents d where id = $1`,
    [rowId],
  )
  if (!row || row.isCurrent) return
  // Older by their time-ordered ids: a later upload that keeps duplicates stays.
  const former = await transaction.query<RemovedRow>(
    `select d.id, d.blob_key as "blobKey" from documents d, documents n
     where n.id = $1 and d.id <> n.id and (${publicId('d')} = ${publicId('n')} or
       not n.keeps_namesakes and d.organisation_id = n.organisation_id and d.space_id = n.space_id and d.name = n.name and d.id < n.id)
     order by d.id for update of d`,
    [rowId],
  )
  await deleteRows(transaction, removeRows, former)
  await transaction.execute('update documents set is_current = true where id = $1', [rowId])
}

export async function deleteRows(
  transaction: Queryable,
  removeRows: RemoveRows,
  rows: readonly RemovedRow[],
): Promise<void> {
  if (rows.length === 0) return
  await transaction.execute('delete from documents where id = any($1::uuid[])', [rows.map(({ id }) => id)])
  await removeRows(transaction, rows)
}

/** `version`: null for a separate document. */
export async function insertRow(
  transaction: Queryable,
  document: NewDocument & {
    version: { publicId: DocumentId; isCurrent: boolean; createdAt: Date } | null
    keepsNamesakes?: boolean
  },
): Promise<void> {
  await transaction.execute(
    `insert into documents (id, organisation_id, space_id, name, metadata, source_url, format, mime_type, size_bytes,
       content_sha256, blob_key, public_id, is_current, created_at, path, keeps_namesakes, api_version)
     values ($1, $2, $3, $4, $5::json, $6, $7, $8, $9, $10, $11, $12, $13, coalesce($14, now()), $15, $16, $17)`,
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
      document.version?.publicId ?? null,
      document.version?.isCurrent ?? true,
      document.version?.createdAt ?? null,
      document.metadata?.path ?? null,
      document.keepsNamesakes ?? false,
      document.apiVersion,
    ],
  )
}
