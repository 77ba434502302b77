import { setTimeout as delay } from 'node:timers/promises'
import type { Database, OwnedDatabase } from '../../../../platform/database/index.ts'
import {
  createFairTurns,
  describeError,
  isAppError,
  type Log,
  sharedOwner,
  silentLog,
} from '../../../../platform/kernel/index.ts'
import { createExactScan, loadSpaceState, type SpaceState } from '../exact-scan.store.ts'
import type {
  Candidate,
  CandidateQuery,
  MaintenanceReport,
  ReadScope,
  SearchEngine,
  SpaceScope,
  SpaceSearch,
  StagedChunks,
} from '../../engine.ts'
import { findCandidates, joinVectorResults, searchVectors, similarityFloor } from '../../fusion.ts'
import { dropSearchIndex, loadSearchIndexes } from '../search-indexes.store.ts'
import { type DocumentState, type MemoryCandidate, packTerms, toColumns } from './messages.ts'
import { type CachedSpace, SpaceCache } from './space-cache.ts'
import { loadChunks, loadDocuments, loadMatchingIds, loadSpaceSizes, type SpaceSize } from './space-rows.store.ts'
import type { IndexRun } from '../../corpus/chunks.ts'
import { type EmbeddingVersion, loadEmbeddingVersions } from '../../corpus/embedding-versions.store.ts'

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

/** Bytes of a chunk without its vector and its terms, and of a term. A little more than measured. */
const bytesPerChunk = 40
const bytesPerTerm = 6
/** Spaces that wait to be loaded. One organisation alone may have half of them; later ones are considered again at their next search. */
const maximumWaitingLoads = 1_000
/** Changes of documents are read together: a document that is being processed changes several times a second. */
const gatherMs = 250

interface SpaceSyncOptions {
  database: Database
  cache: SpaceCache
  /** Smaller Spaces are not loaded. */
  fromChunks: number
  log: Log
}

/** Loads Spaces into memory and keeps them in step with the corpus. */
class SpaceSync {
  readonly #options: SpaceSyncOptions
  readonly #cache: SpaceCache
  readonly #closing = new AbortController()
  /** Documents that changed, by Space, until they are read. */
  readonly #changed = new Map<string, Set<string>>()
  /** One load at a time; organisations take turns. */
  readonly #turns = createFairTurns({
    maximumWaiting: maximumWaitingLoads,
    tooMany: () => new Error('too many Spaces wait to be loaded'),
  })
  /** Spaces that wait to be loaded, or are. */
  readonly #considered = new Set<string>()
  #gathering: NodeJS.Timeout | undefined
  #loading: Promise<unknown> = Promise.resolve()

  constructor(options: SpaceSyncOptions) {
    this.#options = options
    this.#cache = options.cache
  }

  /** Loads a Space that is not in memory in the background, if it is large enough. */
  consider(scope: SpaceScope, chunks: number): void {
    const { spaceId } = scope
    if (chunks < this.#options.fromChunks || this.#cache.get(spaceId) || this.#isClosed()) return
    if (this.#considered.has(spaceId)) return
    this.#considered.add(spaceId)
    void this.#load(scope, true)
      .catch(() => {})
      .finally(() => this.#considered.delete(spaceId))
  }

  /** Loads the largest Spaces that fit. Resolves to the number of chunks loaded. */
  async warm(): Promise<number> {
    let loaded = 0
    for (const size of await loadSpaceSizes(this.#options.database.for(sharedOwner), this.#options.fromChunks)) {
      // A smaller Space must not evict a larger one.
      if (await this.#load(size, false)) loaded += size.chunks
    }
    return loaded
  }

  /** Adds committed chunks of an unpublished run. */
  stage({ run, version, chunks, languages }: StagedChunks): void {
    const space = this.#cache.get(run.spaceId)
    if (!space) return
    for (const language of languages) space.languages.add(language)
    const hasVectors = version.id === space.active.id
    const columns = toColumns(
      chunks.map((chunk) => ({ ...chunk, vector: hasVectors ? chunk.vector : null })),
      space.active.dimensions,
    )
    this.#cache.add(space, { run: { documentId: run.documentId, runId: run.runId }, columns })
  }

  publish({ spaceId, documentId, runId }: IndexRun): void {
    const space = this.#cache.get(spaceId)
    if (!space) return
    space.published.set(documentId, runId)
    this.#cache.update(space, [{ documentId, runId, searchable: true }])
  }

  /** Reads a changed document soon, together with others. */
  documentChanged(spaceId: string, documentId: string): void {
    if (!this.#cache.get(spaceId) || this.#isClosed()) return
    this.#changed.set(spaceId, (this.#changed.get(spaceId) ?? new Set()).add(documentId))
    this.#gathering ??= setTimeout(() => void this.#refreshChanged(), gatherMs).unref()
  }

  /** Applies the state of documents whose chunks were found here and not in the corpus. A reported publication was rolled back then. */
  async refresh(spaceId: string, documentIds: readonly string[]): Promise<void> {
    const space = this.#cache.get(spaceId)
    if (!space) return
    for (const documentId of documentIds) space.published.delete(documentId)
    await this.#refresh(space, documentIds)
  }

  async close(): Promise<void> {
    clearTimeout(this.#gathering)
    this.#closing.abort(new Error('the search engine is closed'))
    await this.#loading
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** One Space after the other, in turns of organisations. Resolves to false where it is in memory already, or does not fit. */
  #load(scope: SpaceScope, mayEvict: boolean): Promise<boolean> {
    return this.#turns.run(scope.organisationId, this.#closing.signal, () => {
      const loaded = this.#loadNow(scope, mayEvict)
      this.#loading = loaded.catch((error: unknown) => {
        this.#cache.evict(scope.spaceId)
        if (!this.#isClosed()) this.#warn({ spaceId: scope.spaceId }, error, 'a Space could not be loaded')
      })
      return loaded
    })
  }

  async #loadNow(scope: SpaceScope, mayEvict: boolean): Promise<boolean> {
    const { fromChunks } = this.#options
    const database = this.#options.database.for(scope.organisationId)
    const [size] = await loadSpaceSizes(database, fromChunks, scope)
    const versions = await loadEmbeddingVersions(database)
    if (!size || this.#isClosed()) return false
    // Live writes are forwarded from here on; duplicates are ignored.
    const space = this.#cache.open(scope, estimateBytes(size, versions), versions, mayEvict)
    if (!space) return false
    await this.#refresh(space)
    if (!(await this.#addChunks(space))) return false
    this.#cache.complete(space)
    return true
  }

  /** Applies the documents' state in the corpus, of all where none are named, and reads those that have a new run. */
  async #refresh(space: CachedSpace, documentIds?: readonly string[]): Promise<void> {
    const read = await loadDocuments(this.#options.database, space, documentIds)
    if (!this.#cache.isCurrent(space)) return
    const { languages, hasFormerTerms } = read
    const documents = read.documents.map((document) => withPublished(space, document))
    for (const language of languages) space.languages.add(language)
    space.hasFormerTerms ||= hasFormerTerms
    for (const { documentId, runId, searchable } of documentIds ? documents : []) {
      const known = space.runs.get(documentId)
      if (!searchable || runId === null || known === runId) continue
      // While loading, half of it may have been read under the other run: the whole Space is then read again.
      if (!space.isComplete && known !== undefined) return this.#cache.evict(space.spaceId)
      if (!(await this.#addChunks(space, documentId))) return
    }
    this.#cache.update(space, documents)
  }

  /** Reads chunks of the Space, or of one document, into memory; false if the Space was evicted meanwhile. */
  async #addChunks(space: CachedSpace, documentId?: string): Promise<boolean> {
    const source = { scope: space, version: space.active, ...(documentId === undefined ? {} : { documentId }) }
    const options = { signal: this.#closing.signal, background: true }
    for await (const pages of loadChunks(this.#options.database, source, options)) {
      if (!this.#cache.isCurrent(space)) return false
      for (const page of pages) this.#cache.add(space, page)
    }
    return this.#cache.isCurrent(space)
  }

  async #refreshChanged(): Promise<void> {
    this.#gathering = undefined
    const gathered = [...this.#changed]
    this.#changed.clear()
    try {
      for (const [spaceId, documentIds] of gathered) {
        const space = this.#cache.get(spaceId)
        if (space) await this.#refresh(space, [...documentIds])
      }
    } catch (error) {
      if (this.#isClosed()) return
      this.#warn({}, error, 'changed documents could not be read; their Spaces are reloaded')
      for (const [spaceId] of gathered) this.#cache.evict(spaceId)
    }
  }

  #warn(fields: object, error: unknown, message: string): void {
    this.#options.log.warn({ ...fields, error: describeError(error) }, message)
  }
}

/** A run is published once and never hidden again. */
function withPublished(space: CachedSpace, document: DocumentState): DocumentState {
  const isPublished = document.runId !== null && space.published.get(document.documentId) === document.runId
  return isPublished ? { ...document, searchable: true } : document
}

function estimateBytes({ chunks, terms }: SpaceSize, versions: readonly EmbeddingVersion[]): number {
  const dimensions = versions.find(({ state }) => state === 'active')?.dimensions ?? 0
  return chunks * (bytesPerChunk + 2 * dimensions) + terms * bytesPerTerm
}
