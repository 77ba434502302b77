import { setTimeout as delay } from 'node:timers/promises'
import type { Database, OwnedDatabase } from '../../../../platform/database/index.ts'
import { describeError, isAppError, type Log, sharedOwner, silentLog } from '../../../../platform/kernel/index.ts'
import { createExactScan, loadSpaceState, type SpaceState } from '../exact-scan.store.ts'
import type {
  Candidate,
  CandidateQuery,
  MaintenanceReport,
  ReadScope,
  SearchEngine,
  SpaceScope,
  SpaceSearch,
} from '../../engine.ts'
import { findCandidates, joinVectorResults, searchVectors, similarityFloor } from '../candidates.ts'
import { dropSearchIndex, loadSearchIndexes } from '../search-indexes.store.ts'
import { type MemoryCandidate, packTerms } from './messages.ts'
import { type CachedSpace, SpaceCache } from './space-cache.ts'
import { SpaceSync } from './space-sync.ts'
import { loadMatchingIds } from './space-rows.store.ts'

export interface MemoryEngineOptions {
  database: Database
  /** Most memory for all Spaces together; 0: every Space is scanned. */
  maximumBytes: number
  /** Smaller Spaces are scanned. */
  fromChunks?: number
  log?: Log
}

export interface MemoryEngine extends SearchEngine {
  /** Whether all of the Space is in memory. */
  isLoaded(scope: SpaceScope): boolean
}

/** A scan of fewer chunks takes less than 10 ms. */
const defaultFromChunks = 200
/** More searches are expected this long after one: the next question of a conversation, the next person. */
const searchedForMs = 1_000
/** How long a search may have to wait for one transaction of staging, on the one connection. */
const transactionTargetMs = 8
/** Searches of one Space in memory that had to be repeated; then the tables are scanned. */
const maximumDiscards = 3

interface Parts {
  database: Database
  cache: SpaceCache
  sync: SpaceSync
  log: Log
  /** False: every Space is scanned. */
  isEnabled: boolean
}

/**
 * Searches Spaces in memory, in a separate thread, for the embedded database: its one connection makes a search wait for every
 * insert and every index build. The corpus is the source of truth: whatever is found in memory is read there before it is
 * shown. A Space that is small, being loaded or above the memory limit is scanned in the database.
 */
export function createMemoryEngine(options: MemoryEngineOptions): MemoryEngine {
  const { database, maximumBytes, fromChunks = defaultFromChunks, log = silentLog } = options
  const cache = new SpaceCache({ maximumBytes, log })
  const sync = new SpaceSync({ database, cache, fromChunks, log })
  const parts = { database, cache, sync, log, isEnabled: maximumBytes > 0 }
  let searchedAtMs = Number.NEGATIVE_INFINITY
  let stopListening = async () => {}

  return {
    description:
      maximumBytes > 0
        ? `BM25 and exact vectors in up to ${Math.round(maximumBytes / 2 ** 20)} MB of memory`
        : 'BM25 and vectors by exact scan (search.memoryMegabytes is 0)',
    staging: { settings: {}, maximumRows: 50, targetMs: transactionTargetMs },
    openSpace(scope, signal) {
      searchedAtMs = performance.now()
      const space = scope.documentIds ? undefined : cache.use(scope)
      return space ? openCached(parts, space, scope, signal) : openScanned(parts, scope, signal)
    },
    async stage(chunks) {
      sync.stage(chunks)
      // One connection, and hardly more processors than threads: while people search, half of the time is left to them.
      if (performance.now() - searchedAtMs < searchedForMs) await delay(chunks.writeMs)
    },
    publish: (run) => sync.publish(run),
    documentChanged: (spaceId, documentId) => sync.documentChanged(spaceId, documentId),
    reset: () => cache.clear(),
    async start(listenChanges) {
      stopListening = await listenChanges(
        ({ spaceId, rowId }) => sync.documentChanged(spaceId, rowId),
        () => cache.clear(),
      )
      if (maximumBytes > 0) void warmInBackground(parts)
    },
    warm: async () => (maximumBytes > 0 ? sync.warm() : 0),
    onNewChunks() {},
    indexNew: () => Promise.resolve({ built: [], dropped: [] }),
    maintain: () => dropFormerIndexes(database),
    // Its copies are in memory, and follow the tables.
    countCopies: async () => 0,
    async removeCopies() {},
    isLoaded: ({ spaceId }) => cache.get(spaceId)?.isComplete === true,
    async close() {
      await stopListening()
      await sync.close()
      await cache.close()
    },
  }
}

async function warmInBackground({ sync, log }: Parts): Promise<void> {
  const startedMs = performance.now()
  try {
    const chunks = await sync.warm()
    if (chunks > 0) log.info({ chunks, ms: Math.round(performance.now() - startedMs) }, 'Spaces loaded for search')
  } catch (error) {
    log.warn({ error: describeError(error) }, 'Spaces could not be loaded; the database is searched')
  }
}

/** Earlier versions built indexes in the embedded database for Spaces above the memory limit. */
async function dropFormerIndexes(database: Database): Promise<MaintenanceReport> {
  const dropped = (await loadSearchIndexes(database.for(sharedOwner))).map(({ name }) => name)
  for (const name of dropped) await dropSearchIndex(database.for(sharedOwner), name)
  return { built: [], dropped }
}

async function openScanned(parts: Parts, scope: ReadScope, signal: AbortSignal): Promise<SpaceSearch> {
  const space = await loadSpaceState(parts.database.for(scope.organisationId), scope, { signal })
  // Of the whole Space: a filter may let only a few of its chunks through.
  if (parts.isEnabled) parts.sync.consider(scope, scope.filter ? Infinity : space.chunks)
  return {
    ...space,
    isEmpty: space.chunks === 0,
    findCandidates: (query) => scan(parts.database.for(scope.organisationId), scope, space, query, signal),
    async discard() {},
  }
}

/** In one transaction: a search waits once for the one connection, and not again before each of its statements. */
function scan(
  database: OwnedDatabase,
  scope: ReadScope,
  space: SpaceState,
  query: CandidateQuery,
  signal: AbortSignal,
) {
  const options = { signal }
  return database.transaction(
    (queryable) => findCandidates(createExactScan({ queryable, scope, space, options }), query),
    options,
  )
}

async function openCached(
  parts: Parts,
  space: CachedSpace,
  scope: ReadScope,
  signal: AbortSignal,
): Promise<SpaceSearch> {
  const database = parts.database.for(space.organisationId)
  const documents = new Map<string, string>()
  let matching = await loadMatchingIds(database, scope, signal)
  let discards = 0
  return {
    isEmpty: matching?.length === 0,
    languages: [...space.languages],
    hasFormerTerms: space.hasFormerTerms,
    embeddingVersions: space.versions,
    async findCandidates(query) {
      const found =
        discards < maximumDiscards ? await searchInMemory(parts, { space, scope, matching }, query, signal) : null
      if (!found) return scan(database, scope, await loadSpaceState(database, scope, { signal }), query, signal)
      for (const { chunkId, documentId } of found.inMemory) documents.set(chunkId, documentId)
      return found.candidates
    },
    async discard(chunkIds) {
      discards++
      const stale = new Set(chunkIds.map((chunkId) => documents.get(chunkId)).filter((id) => id !== undefined))
      await parts.sync.refresh(space.spaceId, [...stale])
      matching = await loadMatchingIds(database, scope, signal)
    },
  }
}

/** Null: the search in memory failed, or the Space was evicted. Vectors of versions other than the active one are in the database only. */
async function searchInMemory(
  parts: Parts,
  { space, scope, matching }: { space: CachedSpace; scope: ReadScope; matching: Uint8Array | null },
  query: CandidateQuery,
  signal: AbortSignal,
): Promise<{ inMemory: MemoryCandidate[]; candidates: Candidate[] } | null> {
  const { cache, log } = parts
  if (!cache.isCurrent(space)) return null
  const { spaceId, active } = space
  const own = query.vectors.find(({ version }) => version.id === active.id)
  const others = query.vectors.filter((one) => one !== own)
  const vectorQuery = { vector: own?.vector ?? null, similarityFloor: own ? similarityFloor(own) : 0 }
  const memoryQuery = {
    terms: packTerms(query.terms),
    limit: query.limit,
    documents: matching,
    ...vectorQuery,
  }
  const options = { signal }
  const queryable = parts.database.for(space.organisationId)
  const tables = createExactScan({ queryable, scope, space: { chunks: 0, averageTerms: 0 }, options })
  const [inMemory, byVectors] = await Promise.all([
    cache.search(space, memoryQuery, signal).catch(failed),
    searchVectors(tables, others, query),
  ])
  return inMemory && { inMemory, candidates: await joinVectorResults(tables, inMemory, byVectors) }

  function failed(error: unknown): null {
    signal.throwIfAborted()
    // A scan would take longer.
    if (isAppError(error, 'overloaded')) throw error
    log.warn({ spaceId, error: describeError(error) }, 'a search in memory failed; the database is searched')
    return null
  }
}
