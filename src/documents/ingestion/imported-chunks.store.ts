import type { OwnedDatabase } from '../../platform/database/index.ts'
import { type IndexedChunk, indexedChunkColumns } from '../retrieval/index.ts'

/** Chunks of a document in their order, from chunk `from`. */
export function loadStoredChunks(database: OwnedDatabase, documentId: string, from: number, limit: number) {
  return database.query<IndexedChunk>(
    `select ${indexedChunkColumns} from chunks where document_id = $1 and chunk_index >= $2 order by chunk_index limit $3`,
    [documentId, from, limit],
    { background: true },
  )
}
