import type { Database, Queryable } from '../../../database/index.ts'
import { type Log, silentLog } from '../../../kernel/index.ts'
import { loadSpaceState } from '../../corpus/space-state.store.ts'
import type { SearchEngine, SpaceScope, SpaceSearch } from '../../engine.ts'
import { type CorpusSearch, findCandidates } from '../candidates.ts'
import { createExactScan, type ScanContext, scanTerms, selectTerms } from '../exact-scan.store.ts'
import { searchBm25Index } from './bm25-index.store.ts'
import { searchHnswIndex } from './hnsw-index.store.ts'
import { maintainIndexes } from './index-maintenance.store.ts'
import { bm25IndexName, loadSpaceIndexes, vectorIndexName } from './space-indexes.store.ts'

/**
 * Smaller and rarer merges of BM25 segments while rows are inserted: twice the rows a second, the longest statement 110 ms
 * instead of 800 (measured, 30,000 rows). Searches over the additional segments are as fast.
 */
const bm25StagingSettings = {
  'pg_textsearch.segments_per_level': '64',
  'pg_textsearch.memtable_pages_threshold': '16',
}

/** Searches in PostgreSQL: an HNSW index and, with pg_textsearch, a BM25 index for each large Space; other Spaces are scanned. */
export function createPostgresEngine({ database, log = silentLog }: { database: Database; log?: Log }): SearchEngine {
  const { bm25, serverVersion } = database.features
  if (!bm25) {
    log.warn(
      { postgres: serverVersion },
      'pg_textsearch is not installed: lexical search scans all chunks of a Space, which is slow in a large one. Install the extension, add it to shared_preload_libraries, and restart Portico.',
    )
  }
  return {
    description: bm25
      ? 'BM25 (pg_textsearch) and HNSW indexes for large Spaces'
      : 'BM25 by exact scan (pg_textsearch is not installed) and HNSW indexes for large Spaces',
    stagingSettings: bm25 ? bm25StagingSettings : {},
    openSpace: (scope, signal) => openSpace(database, scope, signal),
    // The database is the only copy: there is nothing to report to.
    async stage() {},
    publish() {},
    documentChanged() {},
    reset() {},
    async start() {},
    warm: async () => 0,
    maintain: (options) => maintainIndexes(database, options),
    async close() {},
  }
}

async function openSpace(database: Database, scope: SpaceScope, signal: AbortSignal): Promise<SpaceSearch> {
  const [space, indexes] = await Promise.all([
    loadSpaceState(database, scope, { signal }),
    loadSpaceIndexes(database, scope.spaceId, { signal }),
  ])
  const search = createIndexedSearch(database, { queryable: database, scope, space, options: { signal } }, indexes)
  return {
    ...space,
    isEmpty: space.chunks === 0,
    findCandidates: (query) => findCandidates(search, query),
    async discard() {},
  }
}

/** Uses the indexes that the Space has, and scans where there is none or where it returns too little. */
function createIndexedSearch(database: Database, context: ScanContext, indexes: ReadonlySet<string>): CorpusSearch {
  const scan = createExactScan(context)
  const { scope, space, options } = context
  if (scope.documentIds) return scan
  return {
    ...scan,
    async byTerms(all, limit) {
      const terms = await selectTerms(context, all)
      const hasIndex = terms.length > 0 && indexes.has(bm25IndexName(scope.spaceId))
      return (hasIndex && (await searchBm25Index(context, terms, limit))) || scanTerms(context, terms, limit)
    },
    async byVector(request) {
      if (!request.since && indexes.has(vectorIndexName(request.version.id, scope.spaceId))) {
        const work = (queryable: Queryable) => searchHnswIndex({ ...context, queryable }, request)
        const found = await database.transaction(work, options)
        // Short where many of the nearest are not searchable yet.
        if (found.length >= Math.min(request.limit, space.chunks)) return found
      }
      return scan.byVector(request)
    },
  }
}
