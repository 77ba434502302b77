import type { Database } from '../../database/index.ts'
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
export async function auditIndex(database: Database): Promise<IndexAudit> {
  const live = await loadEmbeddingVersions(database)
  const active = live.find((version) => version.state === 'active')
  return {
    orphanIndexedDocuments: await count(
      'indexed_documents i where not exists (select from documents d where d.id = i.document_id)',
    ),
    orphanChunks: await count(`chunks c where ${withoutDocument('c')}`),
    orphanTerms: await count(
      `chunk_terms t where ${withoutDocument('t')}
         or not exists (select from chunks c where c.space_id = t.space_id and c.id = t.chunk_id)`,
    ),
    orphanVectors: await sum(
      live.map(
        (version) => `${vectorTable(version)} e where ${withoutDocument('e')}
           or not exists (select from chunks c where c.space_id = e.space_id and c.id = e.chunk_id)`,
      ),
    ),
    chunksWithoutTerms: await count(
      `chunks c where not exists (select from chunk_terms t where t.space_id = c.space_id and t.chunk_id = c.id)`,
    ),
    chunksWithoutVector: active ? await count(withoutVector(live.map(vectorTable))) : 0,
    readyButNotSearchable: await count(
      `documents d where d.status = 'ready'
         and not exists (select from indexed_documents i where i.document_id = d.id and i.searchable)`,
    ),
    searchableButNotReady: await count(
      `indexed_documents i join documents d on d.id = i.document_id where i.searchable and d.status <> 'ready'`,
    ),
  }

  async function count(from: string): Promise<number> {
    const [row] = await database.query<{ rows: number }>(`select count(*)::int as rows from ${from}`, [], {
      timeoutMs: auditTimeoutMs,
    })
    return row!.rows
  }

  async function sum(parts: readonly string[]): Promise<number> {
    let total = 0
    for (const part of parts) total += await count(part)
    return total
  }
}

function withoutDocument(alias: string): string {
  return `not exists (select from indexed_documents i where i.document_id = ${alias}.document_id)`
}

// While a new version is being built, a chunk has its vector in the old version or, if newer, in the new one.
function withoutVector(tables: readonly string[]): string {
  const anywhere = tables.map(
    (table) => `exists (select from ${table} e where e.space_id = c.space_id and e.chunk_id = c.id)`,
  )
  return `chunks c where not (${anywhere.join(' or ')})`
}
