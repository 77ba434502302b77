import type { Database } from '../../database/index.ts'
import type { SpaceScope } from '../engine.ts'
import { isStretch, passageColumns, type StoredPassage } from './passages.store.ts'

/** The chunks right before and after each of these in their documents, in no order. Some may be among the given ones. */
export function loadNeighbours(
  database: Database,
  scope: SpaceScope,
  chunkIds: readonly string[],
  signal: AbortSignal,
): Promise<StoredPassage[]> {
  return database.query<StoredPassage>(
    `select distinct on (c.id) ${passageColumns}
     from chunks own join chunks c on c.document_id = own.document_id
         and c.chunk_index in (own.chunk_index - 1, own.chunk_index + 1)
       join indexed_documents i on i.document_id = c.document_id and i.searchable
       join documents d on d.id = c.document_id
     where own.space_id = $1 and own.organisation_id = $2 and own.id = any($3::uuid[]) and ${isStretch}`,
    [scope.spaceId, scope.organisationId, [...chunkIds]],
    { signal },
  )
}
