import type { OwnedDatabase } from '../../../platform/database/index.ts'
import { vectorTable } from './embedding-versions.store.ts'

/** What the index stores of documents. */
export interface DocumentRows {
  chunks: number
  searchTerms: number
  vectors: number
}

export async function countDocumentRows(
  database: OwnedDatabase,
  documentIds: readonly string[],
): Promise<DocumentRows> {
  const count = async (table: string) => {
    const [row] = await database.query<{ count: bigint }>(
      `select count(*) as count from ${table} where document_id = any($1::uuid[])`,
      [[...documentIds]],
      { background: true },
    )
    return Number(row!.count)
  }
  const versions = await database.query<{ id: number }>('select id from embedding_generations')
  let vectors = 0
  for (const version of versions) vectors += await count(vectorTable(version))
  return { chunks: await count('chunks'), searchTerms: await count('chunk_terms'), vectors }
}
