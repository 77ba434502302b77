import type { Database } from '../database/index.ts'
import { type Log, silentLog } from '../kernel/index.ts'
import { createGenerations, type Generations } from './corpus/embedding-versions.store.ts'
import { auditIndex } from './corpus/audit.store.ts'
import {
  maintainIndexes,
  type MaintenanceOptions,
  type MaintenanceReport,
} from './engines/postgres/index-maintenance.store.ts'
import { createIndexWriter } from './corpus/index-writer.store.ts'
import type { IndexAudit, IndexWriter } from './port.ts'
import { renameDocument } from './corpus/rename.store.ts'
import { createReindexStore, type ReindexStore } from './corpus/reindex.store.ts'
import { createResidentIndex, type ResidentIndex, type ResidentLimits } from './engines/memory/memory-engine.ts'
import { updateTerms } from './corpus/terms.store.ts'
import { createSearchStore, type SearchStore } from './corpus/passages.store.ts'

/** Everything that the corpus database knows of chunks: written by ingestion, read by search, kept in shape by a job. */
export interface IndexStore extends IndexWriter {
  readonly generations: Generations
  readonly search: SearchStore
  readonly reindex: ReindexStore
  /** Spaces held in memory; absent where the database answers every search. */
  readonly resident: ResidentIndex | undefined
  /** For the start-up line: how large Spaces are searched. */
  readonly engine: string
  /** Builds and drops the indexes of large Spaces; call it from a job, one at a time. */
  maintain(options?: MaintenanceOptions): Promise<MaintenanceReport>
  /** Makes a searchable document found by its present name; call it from a job. See renameDocument. */
  rename(documentId: string, signal: AbortSignal): Promise<void>
  /** Makes terms of an older version of text analysis again; call it from a job. Returns how many documents it has done. */
  updateTerms(signal: AbortSignal): Promise<number>
  audit(): Promise<IndexAudit>
  /** Ends what the index runs beside the database, which stays open. */
  close(): Promise<void>
}

/** How long after a search others are expected: the next question of a conversation, the next person. */
const searchedForMs = 1_000

export interface IndexStoreOptions {
  database: Database
  /** Memory for searching Spaces outside the database: for the embedded engine. Absent: every search asks the database. */
  memory?: ResidentLimits
  log?: Log
}

export function createIndexStore({ database, memory, log = silentLog }: IndexStoreOptions): IndexStore {
  const stored = createGenerations(database)
  const resident =
    memory === undefined ? undefined : createResidentIndex({ database, generations: stored, limits: memory, log })
  let searchedAtMs = Number.NEGATIVE_INFINITY
  const isSearched = () => performance.now() - searchedAtMs < searchedForMs
  const generations = forgetting(stored, () => resident?.forgetAll())
  return {
    ...createIndexWriter(database, { resident, isSearched }),
    resident,
    generations,
    search: createSearchStore(database, () => (searchedAtMs = performance.now())),
    reindex: createReindexStore(database),
    engine: describeEngine(database, memory),
    maintain: (options) => maintainIndexes({ database, generations, resident }, options),
    rename: (documentId, signal) => renameDocument(database, resident, { documentId, signal }),
    updateTerms: (signal) => updateTerms(database, resident, signal),
    audit: () => auditIndex(database, generations),
    close: async () => resident?.close(),
  }
}

function describeEngine({ features }: Database, memory: ResidentLimits | undefined): string {
  if (memory) return `BM25 and exact vectors in up to ${Math.round(memory.maximumBytes / 2 ** 20)} MB of memory`
  return features.bm25
    ? 'BM25 (pg_textsearch) and HNSW indexes for large Spaces'
    : 'BM25 over capped candidates (pg_textsearch is not installed) and HNSW indexes for large Spaces'
}

/** Which generation answers has changed, or may have: what is in memory may be of another. */
function forgetting(generations: Generations, forget: () => void): Generations {
  return {
    ...generations,
    async prepare(embedder) {
      const generation = await generations.prepare(embedder)
      forget()
      return generation
    },
    async activate(generation) {
      const isActive = await generations.activate(generation)
      forget()
      return isActive
    },
  }
}
