import type { DocumentWarning } from '../contract/documents.ts'
import type { Database } from '../database/index.ts'
import type { DocumentFailureCode, DocumentStatus, ProcessingStage } from './document.ts'

/** A document as people who look after it see it: how far it is, and why it failed. */
export interface DocumentProgressRow {
  id: string
  organisationId: string
  spaceId: string
  name: string
  status: DocumentStatus
  stage: ProcessingStage
  partsDone: number | null
  partsTotal: number | null
  errorCode: DocumentFailureCode | null
  errorMessage: string | null
  warnings: DocumentWarning[] | null
  sizeBytes: bigint
  mimeType: string
  chunkCount: number | null
  createdAt: Date
  updatedAt: Date
}

export interface DocumentChange {
  spaceId: string
  documentId: string
}

/** Told by a trigger on `documents` (migration 0011): `<space> <document>`. */
const changesChannel = 'portico_documents'

const columns = `id, organisation_id as "organisationId", space_id as "spaceId", name, status, stage,
  parts_done as "partsDone", parts_total as "partsTotal", error_code as "errorCode", error_message as "errorMessage",
  warnings, size_bytes as "sizeBytes", mime_type as "mimeType", chunk_count as "chunkCount", created_at as "createdAt",
  updated_at as "updatedAt"`

/** SQL of what the operator sees of documents; organisation and Space stand in every key. */
export function createProgressStore(database: Database) {
  return {
    /** Newest first; `total` counts those with the status asked for, `counts` all of the Space. */
    async loadProgressPage(
      organisationId: string,
      spaceId: string,
      { status, limit, offset }: { status: DocumentStatus | undefined; limit: number; offset: number },
    ) {
      const counted = await database.query<{ status: DocumentStatus; documents: number }>(
        `select status, count(*)::int as documents from documents where organisation_id = $1 and space_id = $2 group by status`,
        [organisationId, spaceId],
      )
      const counts = { processing: 0, ready: 0, failed: 0 }
      for (const row of counted) counts[row.status] = row.documents
      const items = await database.query<DocumentProgressRow>(
        `select ${columns} from documents
         where organisation_id = $1 and space_id = $2 and ($3::text is null or status = $3)
         order by created_at desc, id desc limit $4 offset $5`,
        [organisationId, spaceId, status ?? null, limit, offset],
      )
      const total = status === undefined ? counts.processing + counts.ready + counts.failed : counts[status]
      return { total, counts, items }
    },

    /** Those of the ids that still exist in the Space, in no order. */
    loadProgressOf(organisationId: string, spaceId: string, ids: readonly string[]): Promise<DocumentProgressRow[]> {
      return database.query<DocumentProgressRow>(
        `select ${columns} from documents where organisation_id = $1 and space_id = $2 and id = any($3::uuid[])`,
        [organisationId, spaceId, [...ids]],
      )
    },

    /** Calls back after each committed change of a document of any Space; `onMissed` when some may have been missed. */
    async listenChanges(
      onChange: (change: DocumentChange) => void,
      onMissed: () => void,
    ): Promise<() => Promise<void>> {
      const stop = await database.listen(changesChannel, (payload) => {
        const [spaceId, documentId] = payload.split(' ')
        if (spaceId !== undefined && documentId !== undefined) onChange({ spaceId, documentId })
      })
      database.onReconnect(onMissed)
      return stop
    },
  }
}
