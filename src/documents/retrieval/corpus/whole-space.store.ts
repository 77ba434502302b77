import type { Database } from '../../../platform/database/index.ts'
import type { SpaceScope } from '../engine.ts'
import { isStretch, passageColumns, type StoredPassage } from './passages.store.ts'

/** How large a Space may be whose chunks are all loaded. */
export interface SpaceSize {
  documents: number
  /** Of the extracted texts, in Unicode code points. */
  characters: number
}

/** All passages of a Space in reading order, the documents by name; empty where the Space is empty or larger than `maximum`. */
export async function loadWholeSpace(
  database: Database,
  scope: SpaceScope,
  maximum: SpaceSize,
  signal: AbortSignal,
): Promise<StoredPassage[]> {
  const documentIds = await listSmallSpace(database, scope, maximum, signal)
  if (documentIds.length === 0) return []
  // A lateral subquery: for a join, the planner would read all chunks of all Spaces.
  return database.for(scope.organisationId).query<StoredPassage>(
    `select ${passageColumns}
     from indexed_documents i join documents d on d.id = i.document_id
       cross join lateral (select * from chunks c where c.document_id = i.document_id and ${isStretch} offset 0) c
     where i.document_id = any($3::uuid[]) and i.organisation_id = $1 and i.space_id = $2 and i.searchable
     order by d.name_key, d.id, c.chunk_index`,
    [scope.organisationId, scope.spaceId, documentIds],
    { signal, prepared: true },
  )
}

/**
 * The searchable documents of a Space; none where it is larger than `maximum`. Each question asks it, so it reads one row of each document, of
 * no more documents than `maximum`: a large Space costs no more than a small one.
 */
async function listSmallSpace(
  database: Database,
  { organisationId, spaceId }: SpaceScope,
  maximum: SpaceSize,
  signal: AbortSignal,
): Promise<string[]> {
  const [row] = await database.for(organisationId).query<{ ids: string[] | null; characters: number }>(
    `select array_agg(own.document_id) as ids, coalesce(sum(
         (select l.character_to from chunks l where l.document_id = own.document_id order by l.character_from desc limit 1)
       ), 0)::float8 as characters
     from indexed_documents own
     where own.organisation_id = $1 and own.space_id = $2 and own.searchable and not exists (
       select from indexed_documents more
       where more.organisation_id = $1 and more.space_id = $2 and more.searchable offset $3::int)`,
    [organisationId, spaceId, maximum.documents],
    { signal, prepared: true },
  )
  return row!.characters > maximum.characters ? [] : (row!.ids ?? [])
}
