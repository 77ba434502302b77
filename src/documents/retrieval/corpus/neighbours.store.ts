import type { Database, SqlValue } from '../../../platform/database/index.ts'
import type { ReadScope } from '../engine.ts'
import { andMatches } from './filter-condition.store.ts'
import { isOfSearchable, isStretch, joinDocument, passageColumns, type StoredPassage } from './passages.store.ts'

/** The chunks right before and after this one in its document, in no order. */
export function loadNeighbours(
  database: Database,
  scope: ReadScope,
  chunkId: string,
  signal: AbortSignal,
): Promise<StoredPassage[]> {
  const values: SqlValue[] = [scope.spaceId, scope.organisationId, chunkId]
  const matches = andMatches(scope, values)
  return database.for(scope.organisationId).query<StoredPassage>(
    `select ${passageColumns}
     from chunks own join chunks c on c.document_id = own.document_id
         and c.chunk_index in (own.chunk_index - 1, own.chunk_index + 1)
       ${joinDocument}
     where own.space_id = $1 and own.organisation_id = $2 and own.id = $3 and ${isStretch} and ${isOfSearchable} ${matches}`,
    values,
    { signal, prepared: true },
  )
}
