import type { Database } from '../../database/index.ts'
import { type Generations, vectorTable } from './embedding-versions.store.ts'
import type { IndexAudit } from '../port.ts'

/** Longest look at the whole index; a full scan of a million chunks takes some seconds. */
const auditTimeoutMs = 10 * 60_000

/** Counts what must not exist; all zero proves that no chunk, word or vector outlived its document. */
export async function auditIndex(database: Database, generations: Generations): Promise<IndexAudit> {
  const live = await generations.load()
  const active = live.find((generation) => generation.state === 'active')
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
        (generation) => `${vectorTable(generation)} e where ${withoutDocument('e')}
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

// While a new model's vectors are being built, a chunk has one in the old generation or, if newer, in the new.
function withoutVector(tables: readonly string[]): string {
  const anywhere = tables.map(
    (table) => `exists (select from ${table} e where e.space_id = c.space_id and e.chunk_id = c.id)`,
  )
  return `chunks c where not (${anywhere.join(' or ')})`
}
