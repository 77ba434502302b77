import type { Database } from '../database/index.ts'
import type { DocumentProgressPage, DocumentProgressRow, DocumentStatus } from './document.ts'
import { publicId } from './replacement.store.ts'

export interface DocumentChange {
  spaceId: string
  documentId: string
  /** The id of the row, which the index uses. It differs from the document's id after a replacement. */
  rowId: string
}

/** Sent by a trigger on `documents` (migration 0031): `<space> <row> <document>`. */
const changesChannel = 'portico_documents'

/** A replacement in progress counts as the processing of its document. */
const progressOf = `(select ${publicId('d')} as id, d.organisation_id as "organisationId", d.space_id as "spaceId", d.name,
    case when n.id is null then d.status else 'processing' end as status,
    coalesce(n.stage, d.stage) as stage, case when n.id is null then d.parts_done else n.parts_done end as "partsDone",
    case when n.id is null then d.parts_total else n.parts_total end as "partsTotal",
    d.error_code as "errorCode", d.error_message as "errorMessage", d.warnings, d.size_bytes as "sizeBytes",
    split_part(d.mime_type, ';', 1) as "mimeType", d.chunk_count as "chunkCount", d.created_at as "createdAt", d.updated_at as "updatedAt"
  from documents d left join documents n on ${publicId('n')} = ${publicId('d')} and not n.is_current
  where d.organisation_id = $1 and d.space_id = $2 and d.is_current) as progress`

/** SQL of the operator's view of documents. Every query names organisation and Space. */
export function createProgressStore(database: Database) {
  return {
    /** Newest first. `total` counts the documents with the requested status, `counts` all of the Space. */
    async loadProgressPage(
      organisationId: string,
      spaceId: string,
      { status, limit, offset }: { status: DocumentStatus | undefined; limit: number; offset: number },
    ): Promise<DocumentProgressPage> {
      const counted = await database.query<{ status: DocumentStatus; documents: number }>(
        `select status, count(*)::int as documents from ${progressOf} group by status`,
        [organisationId, spaceId],
      )
      const counts = { processing: 0, ready: 0, failed: 0 }
      for (const row of counted) counts[row.status] = row.documents
      const items = await database.query<DocumentProgressRow>(
        `select * from ${progressOf} where $3::text is null or status = $3
         order by "createdAt" desc, id desc limit $4 offset $5`,
        [organisationId, spaceId, status ?? null, limit, offset],
      )
      const total = status === undefined ? counts.processing + counts.ready + counts.failed : counts[status]
      return { total, counts, items }
    },

    /** The documents that still exist in the Space, in no order. */
    loadProgressOf(organisationId: string, spaceId: string, ids: readonly string[]): Promise<DocumentProgressRow[]> {
      return database.query<DocumentProgressRow>(`select * from ${progressOf} where id = any($3::uuid[])`, [
        organisationId,
        spaceId,
        [...ids],
      ])
    },

    /** Calls `onChange` after each committed change in any Space, and `onMissed` if changes may have been missed. */
    async listenChanges(
      onChange: (change: DocumentChange) => void,
      onMissed: () => void,
    ): Promise<() => Promise<void>> {
      const stop = await database.listen(changesChannel, (payload) => {
        const [spaceId, rowId, documentId = rowId] = payload.split(' ')
        if (spaceId && rowId && documentId) onChange({ spaceId, rowId, documentId })
      })
      database.onReconnect(onMissed)
      return stop
    },
  }
}
