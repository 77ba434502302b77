import type { Database } from '../database/index.ts'
import type { IndexedChunk } from '../retrieval/index.ts'

/** Chunks of a document in their order, from chunk `from`. */
export function loadStoredChunks(database: Database, documentId: string, from: number, limit: number) {
  return database.query<IndexedChunk>(
    `select chunk_index as index, content as text, heading_path as "headingPath", table_header as "tableHeader", tokens,
       page_from as "pageFrom", page_to as "pageTo", coalesce(page_starts, '{}') as "pageStarts",
       character_from as "characterFrom", character_to as "characterTo", row_from as "rowFrom", row_to as "rowTo"
     from chunks where document_id = $1 and chunk_index >= $2 order by chunk_index limit $3`,
    [documentId, from, limit],
    { background: true },
  )
}
