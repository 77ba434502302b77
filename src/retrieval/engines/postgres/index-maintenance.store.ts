import type { Database } from '../../../database/index.ts'
import { isUuid, type SpaceId } from '../../../kernel/index.ts'
import { bm25B, bm25K1 } from '../../lexical/bm25.ts'
import { type Generation, type Generations, vectorTable } from '../../corpus/embedding-versions.store.ts'
import type { ResidentIndex } from '../memory/memory-engine.ts'

/** Chunks from which a Space gets an HNSW index of its own; below, every vector is compared (20,000 × 384: about 35 ms). */
export const vectorIndexFromChunks = 20_000
/** Chunks from which a Space gets a BM25 index of its own; below, its chunks are ranked one by one (2,000: about 10 ms). */
export const bm25IndexFromChunks = 2_000
/** An index goes when its Space has shrunk to this share of the threshold: not at once, or it would come and go. */
const dropBelowShare = 0.5
/** Longest build; 1 million vectors take about 15 minutes on a server. Until it is done the Space is searched without. */
const buildTimeoutMs = 2 * 60 * 60_000
/** An HNSW build that fits its memory is several times faster. A server's own setting holds there. */
const embeddedBuildMemory = '192MB'

export interface MaintenanceOptions {
  vectorIndexFromChunks?: number
  bm25IndexFromChunks?: number
  signal?: AbortSignal
}

export interface MaintenanceReport {
  built: string[]
  dropped: string[]
}

/** The index of all Spaces' terms, where pg_textsearch is missing. Searches on a server do not wait for its slow inserts. */
export const termIndexName = 'chunk_terms_by_term'

/** The name of a Space's HNSW index in one generation. */
export function vectorIndexName(generationId: number, spaceId: SpaceId): string {
  return `${vectorTable({ id: generationId })}_hnsw_${suffix(spaceId)}`
}

/** The name of a Space's BM25 index; another number for other settings, so that the former index goes. */
export function bm25IndexName(spaceId: SpaceId): string {
  return `chunk_terms_bm25_2_${suffix(spaceId)}`
}

function suffix(spaceId: SpaceId): string {
  // The names go into statements as they are.
  if (!isUuid(spaceId)) throw new Error('a Space id is no UUID')
  return spaceId.replaceAll('-', '').toLowerCase()
}

interface SpaceSize {
  spaceId: SpaceId
  chunks: number
  terms: number
}

interface ExistingIndex {
  name: string
  valid: boolean
  /** A build of another instance is under way. */
  building: boolean
}

export interface MaintenanceDependencies {
  database: Database
  generations: Generations
  /** Spaces that it holds need no index in the database. */
  resident: Pick<ResidentIndex, 'holds'> | undefined
}

/**
 * Builds the indexes that large Spaces lack and drops those that nobody needs. On a server searches and writes go on
 * meanwhile; the embedded engine has one connection, so that they wait for each build (20,000 chunks: HNSW 10 s, BM25 2 s):
 * there only Spaces get them that are too large for memory. Repeatable, and safe when two instances call it at once.
 */
export async function maintainIndexes(
  { database, generations, resident }: MaintenanceDependencies,
  options: MaintenanceOptions = {},
): Promise<MaintenanceReport> {
  const {
    vectorIndexFromChunks: vectorFrom = vectorIndexFromChunks,
    bm25IndexFromChunks: bm25From = bm25IndexFromChunks,
  } = options
  const report: MaintenanceReport = { built: [], dropped: [] }
  const live = await generations.load()
  const dimensions = live.find(({ state }) => state === 'active')?.dimensions ?? 0
  const sizes = (await loadSizes(database)).filter((size) => !resident?.holds({ ...size, dimensions }))
  const existing = new Map((await loadIndexes(database)).map((index) => [index.name, index]))
  const kept = new Set<string>()

  if (!database.features.bm25) await want(termIndexName, { chunks: 1 }, 0, () => termStatement)
  for (const size of sizes) {
    if (database.features.bm25)
      await want(bm25IndexName(size.spaceId), size, bm25From, () => bm25Statement(size.spaceId))
    for (const generation of live) {
      const name = vectorIndexName(generation.id, size.spaceId)
      await want(name, size, vectorFrom, () => vectorStatement(generation, size.spaceId))
    }
  }
  for (const index of existing.values()) {
    if (!kept.has(index.name) && !index.building) await drop(index.name)
  }
  return report

  async function want(
    name: string,
    { chunks }: Pick<SpaceSize, 'chunks'>,
    from: number,
    statement: () => string,
  ): Promise<void> {
    const index = existing.get(name)
    if (chunks < (index?.valid ? from * dropBelowShare : from)) return
    kept.add(name)
    if (index?.valid || index?.building) return
    options.signal?.throwIfAborted()
    // Left half-built by a process that died.
    if (index) await drop(name)
    await build(database, name, statement(), options.signal)
    report.built.push(name)
  }

  async function drop(name: string): Promise<void> {
    await database.execute(`drop index ${concurrently(database)} if exists ${name}`)
    report.dropped.push(name)
  }
}

async function build(database: Database, name: string, definition: string, signal?: AbortSignal): Promise<void> {
  if (database.engine === 'embedded') {
    await database.execute(`set maintenance_work_mem = '${embeddedBuildMemory}'`)
  }
  try {
    const options = { timeoutMs: buildTimeoutMs, ...(signal ? { signal } : {}) }
    await database.execute(`create index ${concurrently(database)} if not exists ${name} on ${definition}`, [], options)
  } finally {
    if (database.engine === 'embedded') await database.execute('reset maintenance_work_mem')
  }
}

function concurrently(database: Database): string {
  return database.engine === 'postgres' ? 'concurrently' : ''
}

const termStatement = 'chunk_terms using gin (terms) with (fastupdate = off)'

function bm25Statement(spaceId: SpaceId): string {
  return `chunk_terms using bm25 (chunk_terms_text(terms)) with (text_config = 'simple', k1 = ${bm25K1}, b = ${bm25B})
    where space_id = '${spaceId}'::uuid`
}

function vectorStatement(generation: Generation, spaceId: SpaceId): string {
  return `${vectorTable(generation)} using hnsw (embedding ${generation.storage}_cosine_ops)
    where space_id = '${spaceId}'::uuid`
}

async function loadSizes(database: Database): Promise<SpaceSize[]> {
  return database.query<SpaceSize>(
    `select space_id as "spaceId", sum(chunk_count)::int as chunks, sum(term_count)::float8 as terms
     from indexed_documents where searchable group by 1`,
  )
}

async function loadIndexes(database: Database): Promise<ExistingIndex[]> {
  return database.query<ExistingIndex>(
    `select c.relname::text as name, i.indisvalid as valid,
       exists (select from pg_stat_progress_create_index p where p.index_relid = c.oid) as building
     from pg_class c join pg_index i on i.indexrelid = c.oid
     where pg_table_is_visible(c.oid)
       and (c.relname = '${termIndexName}' or c.relname like 'chunk\\_terms\\_bm25\\_%' or c.relname ~ '^embeddings_[0-9]+_hnsw_')`,
  )
}
