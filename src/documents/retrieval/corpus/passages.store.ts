import type { Database, SqlValue } from '../../../platform/database/index.ts'
import type { DocumentId } from '../../../platform/kernel/index.ts'
import type { ReadScope } from '../engine.ts'
import { andMatches } from './filter-condition.store.ts'

/** A chunk of a searchable document. */
export interface StoredPassage {
  chunkId: string
  documentId: DocumentId
  documentName: string
  /** The document's metadata.url where it has one. */
  url: string | null
  text: string
  headingPath: string[]
  tableHeader: string | null
  chunkIndex: number
  pageFrom: number | null
  pageTo: number | null
  /** Where each page after `pageFrom` begins in the extracted text; null if that is not known. */
  pageStarts: number[] | null
  /** Range in the extracted text, in Unicode code points. */
  characterFrom: number
  characterTo: number
  rowFrom: number | null
  rowTo: number | null
}

/** Of the tables `chunks c` and `documents d`. */
export const passageColumns = `c.id as "chunkId", coalesce(d.public_id, d.id) as "documentId", d.name as "documentName",
  d.source_url as url, c.content as text, c.heading_path as "headingPath", c.table_header as "tableHeader",
  c.chunk_index as "chunkIndex", c.page_from as "pageFrom", c.page_to as "pageTo", c.page_starts as "pageStarts",
  c.character_from as "characterFrom", c.character_to as "characterTo", c.row_from as "rowFrom", c.row_to as "rowTo"`

/** A stretch of the extracted text. Chunks with some columns of a wide table are not: they repeat cells, and are shorter than the range of their rows. */
export const isStretch = 'char_length(c.content) = c.character_to - c.character_from'

/** The document of `chunks c`, looked up by its key: for a plain join, a planner that expects many chunks reads all documents. */
export const joinDocument = 'cross join lateral (select * from documents where id = c.document_id offset 0) d'
/** Its document is searchable; looked up by its key as well. */
export const isOfSearchable = '(select i.searchable from indexed_documents i where i.document_id = c.document_id)'

/** The chunks of these ids in no order, without those that were deleted, are not searchable or do not match. */
export function loadPassages(
  database: Database,
  scope: ReadScope,
  chunkIds: readonly string[],
  signal: AbortSignal,
): Promise<StoredPassage[]> {
  const values: SqlValue[] = [scope.spaceId, scope.organisationId, [...chunkIds]]
  const matches = andMatches(scope, values)
  return database.for(scope.organisationId).query(
    `select ${passageColumns}
     from chunks c ${joinDocument}
     where c.space_id = $1 and c.organisation_id = $2 and c.id = any($3::uuid[]) and ${isOfSearchable} ${matches}`,
    values,
    { signal, prepared: true },
  )
}

export interface Passage extends StoredPassage {
  /** Fused score, higher is better; comparable within one search only. */
  score: number
  /** Where the reranker has compared it with the question: it decides the order then. */
  rerankScore?: number
}
