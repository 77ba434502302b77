import type { Database } from '../../../database/index.ts'
import type { SpaceId } from '../../../kernel/index.ts'
import { type EmbeddingVersion, loadEmbeddingVersions, vectorTable } from '../../corpus/embedding-versions.store.ts'
import type { MaintenanceOptions, MaintenanceReport } from '../../engine.ts'
import { bm25B, bm25K1 } from '../../lexical/bm25.ts'
import { concurrently, dropSearchIndex, loadSearchIndexes } from '../search-indexes.store.ts'
import { bm25IndexName, vectorIndexName } from './space-indexes.store.ts'

/** Chunks from which a Space gets an HNSW index; below, every vector is compared (20,000 × 384: about 35 ms). */
const defaultVectorIndexFromChunks = 20_000
/** Chunks from which a Space gets a BM25 index; below, its chunks are scanned (2,000: about 10 ms). */
const defaultBm25IndexFromChunks = 2_000
/** An index is dropped when its Space has shrunk to this share of the threshold, so that it is not rebuilt again and again. */
const dropBelowShare = 0.5
/** Longest build; 1 million vectors take about 15 minutes. Until then the Space is scanned. */
const buildTimeoutMs = 2 * 60 * 60_000

/** An index that a Space should have from `from` chunks on. */
interface WantedIndex {
  name: string
  chunks: number
  from: number
  definition: string
}

/**
 * Builds the indexes that large Spaces lack and drops those that no Space needs. Searches and writes continue meanwhile.
 * Repeatable, and safe when two instances call it at once.
 */
export async function maintainIndexes(
  database: Database,
  options: MaintenanceOptions = {},
): Promise<MaintenanceReport> {
  const report: MaintenanceReport = { built: [], dropped: [] }
  const existing = new Map((await loadSearchIndexes(database)).map((index) => [index.name, index]))
  const kept = new Set<string>()
  for (const { name, chunks, from, definition } of await listWantedIndexes(database, options)) {
    const index = existing.get(name)
    if (chunks < (index?.valid ? from * dropBelowShare : from)) continue
    kept.add(name)
    if (index?.valid || index?.building) continue
    options.signal?.throwIfAborted()
    // Left half-built by a process that died.
    if (index) await drop(name)
    await build(database, name, definition, options.signal)
    report.built.push(name)
  }
  for (const { name, building } of existing.values()) if (!kept.has(name) && !building) await drop(name)
  return report

  async function drop(name: string): Promise<void> {
    await dropSearchIndex(database, name)
    report.dropped.push(name)
  }
}

async function listWantedIndexes(
  database: Database,
  {
    vectorIndexFromChunks = defaultVectorIndexFromChunks,
    bm25IndexFromChunks = defaultBm25IndexFromChunks,
  }: MaintenanceOptions,
): Promise<WantedIndex[]> {
  const versions = await loadEmbeddingVersions(database)
  const sizes = await database.query<{ spaceId: SpaceId; chunks: number }>(
    `select space_id as "spaceId", sum(chunk_count)::int as chunks from indexed_documents where searchable group by 1`,
  )
  return sizes.flatMap(({ spaceId, chunks }) => [
    ...(database.features.bm25
      ? [{ name: bm25IndexName(spaceId), chunks, from: bm25IndexFromChunks, definition: bm25Definition(spaceId) }]
      : []),
    ...versions.map((version) => ({
      name: vectorIndexName(version.id, spaceId),
      chunks,
      from: vectorIndexFromChunks,
      definition: vectorDefinition(version, spaceId),
    })),
  ])
}

async function build(database: Database, name: string, definition: string, signal?: AbortSignal): Promise<void> {
  const options = { timeoutMs: buildTimeoutMs, ...(signal ? { signal } : {}) }
  await database.execute(`create index ${concurrently(database)} if not exists ${name} on ${definition}`, [], options)
}

function bm25Definition(spaceId: SpaceId): string {
  return `chunk_terms using bm25 (chunk_terms_text(terms)) with (text_config = 'simple', k1 = ${bm25K1}, b = ${bm25B})
    where space_id = '${spaceId}'::uuid`
}

function vectorDefinition(version: EmbeddingVersion, spaceId: SpaceId): string {
  return `${vectorTable(version)} using hnsw (embedding ${version.storage}_cosine_ops)
    where space_id = '${spaceId}'::uuid`
}
