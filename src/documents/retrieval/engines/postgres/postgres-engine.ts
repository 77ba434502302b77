import type { Database } from '../../../../platform/database/index.ts'
import { type Log, sharedOwner, silentLog } from '../../../../platform/kernel/index.ts'
import {
  createExactScan,
  loadSpaceState,
  sampledChunks,
  type ScanContext,
  scanTerms,
  selectTerms,
  type SpaceState,
} from '../exact-scan.store.ts'
import type { ReadScope, SearchEngine, SpaceSearch } from '../../engine.ts'
import { type CorpusSearch, findCandidates, type ScoredChunk, type VectorRequest } from '../../fusion.ts'
import { createNewChunks } from '../new-chunks.ts'
import { maintainBm25Indexes, searchBm25Index } from './bm25-index.store.ts'
import { searchHnswIndex, searchSegments } from './segment-search.store.ts'
import { chooseTerms, maximumRankedTerms, type QueryTerm } from '../../lexical/bm25.ts'
import { bm25IndexName, loadSpaceIndexes, vectorIndexName } from './space-indexes.store.ts'
import { type FilteredPlan, planFiltered } from './filtered-plan.ts'
import { createTermSamples, type TermSamples } from './term-sample.store.ts'
import { countInSegments, indexNewVectors, maintainVectors, removeFromSegments } from './vector-maintenance.store.ts'
import { loadReadySegments, type ReadySegment } from './vector-segments.store.ts'

/**
 * Rarer spills of the memory of BM25 indexes than by default (64), and few merges by inserts where pg_textsearch cannot leave them to
 * maintenance: docs/decisions/0072-vector-segments.md has the figures.
 */
const bm25StagingSettings = {
  'pg_textsearch.segments_per_level': '64',
  'pg_textsearch.memtable_pages_threshold': '256',
}
/** A transaction's fixed cost (8 exchanges and a commit) is small next to so many rows. Nothing waits for it but other writes of its document. */
const staging = { maximumRows: 256, targetMs: 100 }
/** Published chunks after which new ones may need an index; half of a tail that is due. */
const chunksPerSignal = 5_000

export interface PostgresEngineOptions {
  database: Database
  log?: Log
  /** How the chunks that match a filter are searched; default: what is cheaper. */
  planFiltered?: typeof planFiltered
}

/** Searches in PostgreSQL: HNSW indexes and, with pg_textsearch, a BM25 index for each large Space; other Spaces are scanned. */
export function createPostgresEngine({
  database,
  log = silentLog,
  planFiltered: plan = planFiltered,
}: PostgresEngineOptions): SearchEngine {
  const { bm25, serverVersion } = database.features
  if (!bm25) {
    log.warn(
      { postgres: serverVersion },
      'pg_textsearch is not installed: lexical search scans all chunks of a Space, which is slow in a large one. Install the extension, add it to shared_preload_libraries, and restart Portico.',
    )
  }
  const samples = createTermSamples()
  return {
    description: bm25
      ? 'BM25 (pg_textsearch) and HNSW indexes for large Spaces'
      : 'BM25 by exact scan (pg_textsearch is not installed) and HNSW indexes for large Spaces',
    staging: { ...staging, settings: bm25 ? bm25StagingSettings : {} },
    openSpace: (scope, signal) => openSpace({ database, samples, plan }, scope, signal),
    // The database is the only copy: there is nothing to report to.
    async stage() {},
    ...createNewChunks(chunksPerSignal),
    documentChanged() {},
    reset() {},
    async start() {},
    warm: async () => 0,
    indexNew: (options = {}) => indexNewVectors(database.for(sharedOwner), options, log),
    async maintain(options = {}) {
      const terms = await maintainBm25Indexes(database.for(sharedOwner), options)
      const vectors = await maintainVectors(database.for(sharedOwner), options, log)
      return { built: [...terms.built, ...vectors.built], dropped: [...terms.dropped, ...vectors.dropped] }
    },
    countCopies: (documents) => countInSegments(database, documents),
    removeCopies: (documents) => removeFromSegments(database, documents),
    async close() {},
  }
}

interface Parts {
  database: Database
  samples: TermSamples
  plan: typeof planFiltered
}

async function openSpace(parts: Parts, scope: ReadScope, signal: AbortSignal): Promise<SpaceSearch> {
  const database = await parts.database.reading(scope.organisationId, { signal })
  const prepared = { signal, prepared: true }
  const [space, names, segments] = await Promise.all([
    loadSpaceState(database, scope, prepared),
    loadSpaceIndexes(database, scope.spaceId, prepared),
    loadReadySegments(database, scope.spaceId, prepared),
  ])
  const context = { queryable: database, scope, space, options: { signal } }
  const search = createIndexedSearch(parts, context, { names, segments })
  return {
    ...space,
    isEmpty: space.chunks === 0,
    findCandidates: (query) => findCandidates(search, query),
    async discard() {},
  }
}

type IndexedContext = ScanContext & { space: SpaceState }

interface SpaceIndexes {
  names: ReadonlySet<string>
  segments: readonly ReadySegment[]
}

/**
 * Uses the indexes that the Space has, and scans where there is none or where it returns too little. BM25 indexes are searched on the primary: on
 * a standby, pg_textsearch may read a segment that the primary has merged since (https://github.com/timescale/pg_textsearch/issues/482).
 */
function createIndexedSearch(
  { database, samples, plan }: Parts,
  context: IndexedContext,
  { names, segments }: SpaceIndexes,
): CorpusSearch {
  const scan = createExactScan(context)
  const { scope, space, options } = context
  if (scope.documentIds) return scan
  const onPrimary = { ...context, queryable: database.for(scope.organisationId) }
  const isScanned = (kind: keyof FilteredPlan, limit: number) =>
    scope.filter !== null && plan({ matching: space.chunks, all: space.allChunks, limit })[kind] === 'scan'
  return {
    ...scan,
    async byTerms(all, limit, compared) {
      if (isScanned('terms', limit)) return scan.byTerms(all, limit)
      const terms = await chooseIndexTerms(all)
      const hasIndex = terms.length > 0 && names.has(bm25IndexName(scope.spaceId))
      return (
        (hasIndex && (await searchBm25Index(onPrimary, terms, limit, compared))) || scanTerms(context, terms, limit)
      )
    },
    async byVector(request) {
      const search = request.since || isScanned('vectors', request.limit) ? null : chooseVectorSearch(request)
      if (search) {
        const found = await search(context)
        // Short where many of the nearest are not searchable yet.
        if (found.length >= Math.min(request.limit, space.chunks)) return found
      }
      return scan.byVector(request)
    },
  }

  async function chooseIndexTerms(all: readonly QueryTerm[]): Promise<readonly QueryTerm[]> {
    if (all.length <= maximumRankedTerms || space.chunks <= sampledChunks) return selectTerms(context, all)
    const sample = await samples.load(database.for(scope.organisationId), scope, options.signal)
    // A term that the sample lacks may occur in the rest.
    return chooseTerms(all, (term) => sample.get(term) ?? 1, sampledChunks)
  }

  /** Null: all vectors of the Space are compared. */
  function chooseVectorSearch(request: VectorRequest): ((context: ScanContext) => Promise<ScoredChunk[]>) | null {
    const { version } = request
    if (!scope.filter && names.has(vectorIndexName(version.id, scope.spaceId)))
      return (within) => searchHnswIndex(within, request)
    const own = segments.filter(({ versionId }) => versionId === version.id)
    return own.length === 0 ? null : (within) => searchSegments(within, request, own)
  }
}
