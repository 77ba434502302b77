import type { Database, SqlValue } from '../../../platform/database/index.ts'
import type { ReadScope } from '../engine.ts'
import { andMatches, andMatching } from './filter-condition.store.ts'
import { isStretch, passageColumns, type StoredPassage } from './passages.store.ts'

/** How large a Space may be whose chunks are all loaded. */
export interface SpaceSize {
  documents: number
  /** Of the extracted texts, in Unicode code points. */
  characters: number
}

/** All passages of the scope in reading order, the documents by name; empty where the Space is empty or larger than `maximum`. */
export async function loadWholeSpace(
  database: Database,
  scope: ReadScope,
  maximum: SpaceSize,
  signal: AbortSignal,
): Promise<StoredPassage[]> {
  const documentIds = await listSmallSpace(database, scope, maximum, signal)
  if (documentIds.length === 0) return []
  const values: SqlValue[] = [scope.organisationId, scope.spaceId, documentIds]
  const matches = andMatches(scope, values)
  // A lateral subquery: for a join, the planner would read all chunks of all Spaces.
  return database.for(scope.organisationId).query<StoredPassage>(
    `select ${passageColumns}
     from indexed_documents i join documents d on d.id = i.document_id
       cross join lateral (select * from chunks c where c.document_id = i.document_id and ${isStretch} offset 0) c
     where i.document_id = any($3::uuid[]) and i.organisation_id = $1 and i.space_id = $2 and i.searchable ${matches}
     order by d.name_key, d.id, c.chunk_index`,
    values,
    { signal, prepared: true },
  )
}

/**
 * The searchable documents of the scope; none where it is larger than `maximum`. Each question asks it, so it reads one row of each document, of
 * no more documents than `maximum`: a large Space costs no more than a small one.
 */
async function listSmallSpace(
  database: Database,
  scope: ReadScope,
  maximum: SpaceSize,
  signal: AbortSignal,
): Promise<string[]> {
  const values: SqlValue[] = [scope.organisationId, scope.spaceId, maximum.documents]
  const matches = andMatching(scope, values)
  const [row] = await database.for(scope.organisationId).query<{ ids: string[] | null; characters: number }>(
    `select array_agg(own.document_id) as ids, coalesce(sum(
         (select l.character_to from chunks l where l.document_id = own.document_id order by l.character_from desc limit 1)
       ), 0)::float8 as characters
     from indexed_documents own
     where own.organisation_id = $1 and own.space_id = $2 and own.searchable ${matches('own.document_id')} and not exists (
       select from indexed_documents more
       where more.organisation_id = $1 and more.space_id = $2 and more.searchable ${matches('more.document_id')} offset $3::int)`,
    values,
    { signal, prepared: true },
  )
  return row!.characters > maximum.characters ? [] : (row!.ids ?? [])
}
