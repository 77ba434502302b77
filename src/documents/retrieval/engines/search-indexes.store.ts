import type { OwnedDatabase } from '../../../platform/database/index.ts'

export interface TableIndex {
  name: string
  kind: 'terms' | 'vectors'
  valid: boolean
  /** It is being built, perhaps by another instance. */
  building: boolean
}

/** BM25 indexes of Spaces, and what former versions made: HNSW indexes of Spaces and an index of all terms. */
export async function loadSearchIndexes(database: OwnedDatabase): Promise<TableIndex[]> {
  return database.query<TableIndex>(
    `select c.relname::text as name, i.indisvalid as valid,
       case when c.relname ~ '^embeddings_' then 'vectors' else 'terms' end as kind,
       exists (select from pg_stat_progress_create_index p where p.index_relid = c.oid) as building
     from pg_class c join pg_index i on i.indexrelid = c.oid
     where pg_table_is_visible(c.oid) and (c.relname = 'chunk_terms_by_term'
       or c.relname like 'chunk\\_terms\\_bm25\\_%' or c.relname ~ '^embeddings_[0-9]+_hnsw_')`,
  )
}

export async function dropSearchIndex(database: OwnedDatabase, name: string): Promise<void> {
  await database.execute(`drop index ${concurrently(database)} if exists ${name}`, [], { direct: true })
}

/** On a server, searches and writes continue while an index is built or dropped. */
export function concurrently(database: OwnedDatabase): string {
  return database.engine === 'postgres' ? 'concurrently' : ''
}
