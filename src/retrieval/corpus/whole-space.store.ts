import type { Database } from '../../database/index.ts'
import type { SpaceScope } from '../engine.ts'
import { isStretch, passageColumns, type StoredPassage } from './passages.store.ts'

/** How large a Space may be whose chunks are all loaded. */
export interface SpaceSize {
  documents: number
  /** Of the extracted texts, in Unicode code points. */
  characters: number
}

/**
 * All passages of a Space in reading order, the documents by name; empty where the Space is empty or larger than `maximum`. The size is read from
 * one row of each document, of no more documents than `maximum`, so that a large Space costs no more than a small one.
 */
export function loadWholeSpace(
  database: Database,
  { organisationId, spaceId }: SpaceScope,
  maximum: SpaceSize,
  signal: AbortSignal,
): Promise<StoredPassage[]> {
  return database.query<StoredPassage>(
    `with own as materialized (
       select document_id from indexed_documents
       where organisation_id = $1 and space_id = $2 and searchable limit $3::int + 1
     ), size as materialized (
       select case when (select count(*) from own) <= $3::int then (
         select sum((select l.character_to from chunks l where l.document_id = own.document_id
           order by l.character_from desc limit 1)) from own) end as characters
     )
     select ${passageColumns}
     from own join chunks c on c.document_id = own.document_id join documents d on d.id = c.document_id
     where (select characters from size) <= $4::int and ${isStretch}
     order by d.name_key, d.id, c.chunk_index`,
    [organisationId, spaceId, maximum.documents, maximum.characters],
    { signal },
  )
}
