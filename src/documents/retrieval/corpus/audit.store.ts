import { countRows, type OwnedDatabase } from '../../../platform/database/index.ts'
import { loadEmbeddingVersions, vectorTable } from './embedding-versions.store.ts'

/** Counts of inconsistencies, as `portico audit` prints them; all zero when the index is sound. */
export interface IndexAudit {
  /** Rows that belong to no document, by kind. */
  orphanIndexedDocuments: number
  orphanChunks: number
  orphanTerms: number
  orphanVectors: number
  /** Chunks of searchable documents that lack terms or, in the active embedding version, a vector. */
  chunksWithoutTerms: number
  chunksWithoutVector: number
  /** Ready documents that no search can find, and searchable ones that are not ready. */
  readyButNotSearchable: number
  searchableButNotReady: number
}

/** A full scan of a million chunks takes some seconds. */
const auditTimeoutMs = 10 * 60_000

/** Counts what must not exist: all zero proves that no chunk, term or vector is left without its document. */
export async function auditIndex(database: OwnedDatabase): Promise<IndexAudit> {
  const live = await loadEmbeddingVersions(database)
  const tables = live.map(vectorTable)
  const count = async (from: string): Promise<number> => {
    const options = { timeoutMs: auditTimeoutMs }
    return (await database.query<{ rows: number }>(`select count(*)::int as rows from ${from}`, [], options))[0]!.rows
  }
  let orphanVectors = 0
  for (const table of tables) {
    orphanVectors += await count(`${table} e where ${without('document', 'e')} or ${without('chunk', 'e')}`)
  }
  // While a new version is being built, a chunk has its vector in the old version or, if newer, in the new one.
  const anywhere = tables.map((table) => `exists (select from ${table} e where ${sameChunk('e')})`).join(' or ')
  const hasActive = live.some((version) => version.state === 'active')
  return {
    orphanIndexedDocuments: await count(
      'indexed_documents i where not exists (select from documents d where d.id = i.document_id)',
    ),
    orphanChunks: await count(`chunks c where ${without('document', 'c')}`),
    orphanTerms: await count(`chunk_terms t where ${without('document', 't')} or ${without('chunk', 't')}`),
    orphanVectors,
    chunksWithoutTerms: await count(`chunks c where not exists (select from chunk_terms t where ${sameChunk('t')})`),
    chunksWithoutVector: hasActive ? await count(`chunks c where not (${anywhere})`) : 0,
    readyButNotSearchable: await count(
      `documents d where d.status = 'ready'
         and not exists (select from indexed_documents i where i.document_id = d.id and i.searchable)`,
    ),
    searchableButNotReady: await count(
      `indexed_documents i join documents d on d.id = i.document_id where i.searchable and d.status <> 'ready'`,
    ),
  }
}

function without(kind: 'document' | 'chunk', alias: string): string {
  return kind === 'document'
    ? `not exists (select from indexed_documents i where i.document_id = ${alias}.document_id)`
    : `not exists (select from chunks c where ${sameChunk(alias)})`
}

/** Of the chunk `c`. */
function sameChunk(alias: string): string {
  return `${alias}.space_id = c.space_id and ${alias}.chunk_id = c.id`
}

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
  const count = (table: string) =>
    countRows(database, `${table} where document_id = any($1::uuid[])`, [[...documentIds]], { background: true })
  const versions = await database.query<{ id: number }>('select id from embedding_generations')
  let vectors = 0
  for (const version of versions) vectors += await count(vectorTable(version))
  return { chunks: await count('chunks'), searchTerms: await count('chunk_terms'), vectors }
}
