import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../../../platform/database/index.ts'
import { describeError, type Log, sharedOwner, silentLog } from '../../../../platform/kernel/index.ts'
import { createExactScan, loadSpaceState } from '../exact-scan.store.ts'
import type { ReadScope, SearchEngine, SpaceSearch } from '../../engine.ts'
import { type CorpusSearch, findCandidates } from '../../fusion.ts'
import { createNewChunks } from '../new-chunks.ts'
import { planFiltered } from '../postgres/filtered-plan.ts'
import { type SegmentSizes, sizesFrom } from '../postgres/segment-plan.ts'
import { defaultVectorIndexFromChunks, indexNewSegments } from '../postgres/vector-maintenance.store.ts'
import { loadReadySegments } from '../postgres/vector-segments.store.ts'
import { countInTables, maintainTables, removeFromTables } from './lance-maintenance.store.ts'
import {
  createSegmentNotes,
  findMatchingDocuments,
  type LanceSpace,
  maximumNamedDocuments,
  maximumScanned,
  searchTerms,
  searchVectors,
} from './lance-search.store.ts'
import { createLanceSegments } from './lance-segments.store.ts'
import { type LanceStorage, LanceTables } from './lance-tables.ts'

export interface LanceEngineOptions {
  database: Database
  storage: LanceStorage
  log?: Log
  /** The engine that searched before: it still does where a Space has so many chunks (default 20,000) in no table yet. */
  former?: { engine: SearchEngine; fromChunks?: number }
  /** How the chunks that match a filter are searched; default: what is cheaper. */
  planFiltered?: typeof planFiltered
  /** Documents that conditions name, for tests. */
  maximumNamedDocuments?: number
  /** Chunks of a Space that is scanned where its tables do not answer in time, for tests. */
  maximumScanned?: number
}

/**
 * Smaller Spaces are scanned, and so is the tail: 2,000 chunks take about 10 ms. A table costs about 5 ms of processor time a search, so there
 * are fewer and larger ones than of PostgreSQL.
 */
const defaultSizes: SegmentSizes = { from: 2_000, tail: 2_000, merged: 250_000 }
/** A transaction's fixed cost is small next to so many rows; on the one connection of the embedded database, searches wait for it. */
const staging = { embedded: { maximumRows: 50, targetMs: 8 }, postgres: { maximumRows: 256, targetMs: 100 } }
/** More searches are expected this long after one, as in memory-engine.ts. */
const searchedForMs = 1_000
/** Published chunks after which new ones may need a table. */
const chunksPerSignal = 1_000

/**
 * Searches large Spaces in tables of LanceDB, which any number of instances share. The tables are copies: each candidate is read in the corpus
 * before it counts, with its score. Documents that are in no table yet, and Spaces without tables, are scanned.
 */
export function createLanceEngine(options: LanceEngineOptions): SearchEngine {
  const { database, former, log = silentLog } = options
  const tables = new LanceTables(options.storage)
  const store = createLanceSegments(tables)
  const shared = database.for(sharedOwner)
  const parts = { ...options, log, tables, notes: createSegmentNotes() }
  let searchedAtMs = Number.NEGATIVE_INFINITY
  const sizesOf = (from: number | undefined) => (from === undefined ? defaultSizes : sizesFrom(from))
  return {
    description: `LanceDB (${tables.address}) for large Spaces`,
    staging: { ...staging[database.engine], settings: {} },
    openSpace(scope, signal) {
      searchedAtMs = performance.now()
      return openSpace(parts, scope, signal)
    },
    async stage({ writeMs }) {
      if (database.engine === 'embedded' && performance.now() - searchedAtMs < searchedForMs) await delay(writeMs)
    },
    ...createNewChunks(chunksPerSignal),
    // Whatever changes in the corpus is read there: a changed document leaves its table in the same transaction.
    documentChanged() {},
    reset() {},
    async start() {
      await tables.check().catch((error: unknown) => {
        throw new Error(`search.lanceAddress: LanceDB cannot use ${tables.address}: ${describeError(error)}`)
      })
    },
    warm: async () => 0,
    indexNew: ({ vectorIndexFromChunks, signal } = {}) =>
      indexNewSegments(shared, store, sizesOf(vectorIndexFromChunks), { signal, log }),
    maintain: (given = {}) =>
      maintainTables({ database: shared, tables, store, log }, sizesOf(given.vectorIndexFromChunks), given),
    async countCopies(documents) {
      const own = await countInTables({ database, tables }, documents)
      return own + ((await former?.engine.countCopies(documents)) ?? 0)
    },
    async removeCopies(documents) {
      await removeFromTables({ database, tables, store, log }, documents)
      await former?.engine.removeCopies(documents)
    },
    close: () => tables.close(),
  }
}

interface Parts extends LanceEngineOptions {
  log: Log
  tables: LanceSpace['tables']
  notes: ReturnType<typeof createSegmentNotes>
}

async function openSpace(parts: Parts, scope: ReadScope, signal: AbortSignal): Promise<SpaceSearch> {
  const database = await parts.database.reading(scope.organisationId, { signal })
  const { address } = parts.tables
  const [space, segments] = await Promise.all([
    loadSpaceState(database, scope, { signal, prepared: true }),
    loadReadySegments(database, scope.spaceId, { signal, prepared: true }, address),
  ])
  const own = segments.filter(({ versionId }) => versionId === space.embeddingVersions[0]?.id)
  const waiting = space.allChunks - own.reduce((sum, { rows }) => sum + rows, 0)
  const { engine: former, fromChunks = defaultVectorIndexFromChunks } = parts.former ?? {}
  if (former && waiting >= fromChunks) {
    const others = await loadReadySegments(database, scope.spaceId, { signal, prepared: true })
    if (others.length > 0) return former.openSpace(scope, signal)
  }
  const context = { queryable: database, scope, space, options: { signal } }
  const notesOf: LanceSpace['notesOf'] = ({ id }) => parts.notes.load(database, id, signal)
  const isReplaceable = space.allChunks <= (parts.maximumScanned ?? maximumScanned)
  const search = createTableSearch(parts, { context, tables: parts.tables, segments, notesOf, isReplaceable })
  return {
    ...space,
    isEmpty: space.chunks === 0,
    findCandidates: (query) => findCandidates(search, query),
    async discard() {},
  }
}

/** Searches the tables that the Space has, and scans where there is none, where few chunks match, or where LanceDB fails. */
function createTableSearch(parts: Parts, lance: Omit<LanceSpace, 'matchingDocuments'>): CorpusSearch {
  const { planFiltered: plan = planFiltered, maximumNamedDocuments: named = maximumNamedDocuments, log } = parts
  const { scope, space, options } = lance.context
  const scan = createExactScan(lance.context)
  if (scope.documentIds) return scan
  const [answering] = space.embeddingVersions
  const isScanned = (kind: 'terms' | 'vectors', limit: number) =>
    (lance.tables.isPaused() && lance.isReplaceable) ||
    (scope.filter !== null && plan({ matching: space.chunks, all: space.allChunks, limit })[kind] === 'scan')
  const opened = new Map<number | undefined, LanceSpace>()
  const of = (versionId: number | undefined): LanceSpace => {
    const known = opened.get(versionId)
    if (known) return known
    const segments = lance.segments.filter((segment) => segment.versionId === versionId)
    let matching: Promise<string[] | null> | undefined
    const matchingDocuments = () => (matching ??= findMatchingDocuments(lance.context, segments, named))
    const own = { ...lance, segments, matchingDocuments }
    opened.set(versionId, own)
    return own
  }
  return {
    ...scan,
    async byTerms(terms, limit) {
      const own = of(answering?.id)
      const isTable = own.segments.length > 0 && !isScanned('terms', limit)
      return (isTable && (await attempt(searchTerms(own, terms, limit)))) || scan.byTerms(terms, limit)
    },
    async byVector(request) {
      const own = of(request.version.id)
      const isTable = own.segments.length > 0 && !request.since && !isScanned('vectors', request.limit)
      return (isTable && (await attempt(searchVectors(own, request)))) || scan.byVector(request)
    },
  }

  /** Null where it fails: a table may be removed while it is searched, or its storage be away. */
  async function attempt<Found>(found: Promise<Found>): Promise<Found | null> {
    try {
      return await found
    } catch (error) {
      options.signal?.throwIfAborted()
      log.warn({ spaceId: scope.spaceId, error: describeError(error) }, 'LanceDB failed; the database is searched')
      return null
    }
  }
}
