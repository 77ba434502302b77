import type { Database } from '../database/index.ts'
import { createGenerations, type Generations } from './generations.store.ts'
import { auditIndex } from './index-audit.store.ts'
import { maintainIndexes, type MaintenanceOptions, type MaintenanceReport } from './index-maintenance.store.ts'
import { createIndexWriter } from './index-writer.store.ts'
import type { IndexAudit, IndexWriter } from './port.ts'
import { createReindexStore, type ReindexStore } from './reindex.store.ts'
import { createSearchStore, type SearchStore } from './search.store.ts'

/** Everything that the corpus database knows of chunks: written by ingestion, read by search, kept in shape by a job. */
export interface IndexStore extends IndexWriter {
  readonly generations: Generations
  readonly search: SearchStore
  readonly reindex: ReindexStore
  /** For the start-up line: how words are ranked in large Spaces. */
  readonly lexicalEngine: string
  /** Builds and drops the indexes of large Spaces; call it from a job, one at a time. */
  maintain(options?: MaintenanceOptions): Promise<MaintenanceReport>
  audit(): Promise<IndexAudit>
}

export function createIndexStore(database: Database): IndexStore {
  const generations = createGenerations(database)
  return {
    ...createIndexWriter(database),
    generations,
    search: createSearchStore(database),
    reindex: createReindexStore(database),
    lexicalEngine: database.features.bm25
      ? 'BM25 indexes (pg_textsearch) for large Spaces'
      : 'BM25 over capped candidates (pg_textsearch is not installed)',
    maintain: (options) => maintainIndexes(database, generations, options),
    audit: () => auditIndex(database, generations),
  }
}
