import type { OwnedDatabase } from '../../../../platform/database/index.ts'
import type { SpaceId } from '../../../../platform/kernel/index.ts'
import type { MaintenanceOptions, MaintenanceReport } from '../../engine.ts'
import { bm25B, bm25K1 } from '../../lexical/bm25.ts'
import { concurrently, dropSearchIndex, loadSearchIndexes } from '../search-indexes.store.ts'
import { bm25IndexName, bm25IndexPrefix } from './space-indexes.store.ts'

/** Chunks from which a Space gets a BM25 index; below, its chunks are scanned (2,000: about 10 ms). */
const defaultBm25IndexFromChunks = 2_000
/** An index is dropped when its Space has shrunk to this share of the threshold, so that it is not rebuilt again and again. */
const dropBelowShare = 0.5
/** Longest build, and longest merge of an index's segments. Until a build ends the Space is scanned. */
const buildTimeoutMs = 2 * 60 * 60_000

/**
 * Builds the BM25 indexes that large Spaces lack and drops those that no Space needs. Searches and writes continue meanwhile.
 * Repeatable, and safe when two instances call it at once.
 */
export async function maintainBm25Indexes(
  database: OwnedDatabase,
  { bm25IndexFromChunks: from = defaultBm25IndexFromChunks, signal }: MaintenanceOptions,
): Promise<MaintenanceReport> {
  const report: MaintenanceReport = { built: [], dropped: [] }
  const existing = new Map(
    (await loadSearchIndexes(database)).filter(({ kind }) => kind === 'terms').map((index) => [index.name, index]),
  )
  const kept = new Set<string>()
  const mergesLater = database.features.bm25 && (await canMergeLater(database))
  const options = { timeoutMs: buildTimeoutMs, direct: true, ...(signal ? { signal } : {}) }
  for (const { spaceId, chunks } of database.features.bm25 ? await loadSizes(database) : []) {
    const name = bm25IndexName(spaceId)
    const index = existing.get(name)
    if (chunks < (index?.valid ? from * dropBelowShare : from)) continue
    kept.add(name)
    if (index?.valid || index?.building) continue
    signal?.throwIfAborted()
    // Left half-built by a process that died.
    if (index) await drop(name)
    const definition = bm25Definition(spaceId, mergesLater)
    await database.execute(`create index ${concurrently(database)} if not exists ${name} on ${definition}`, [], options)
    report.built.push(name)
  }
  for (const { name, building } of existing.values()) if (!kept.has(name) && !building) await drop(name)
  if (mergesLater) await mergeSegments(database, signal)
  return report

  async function drop(name: string): Promise<void> {
    await dropSearchIndex(database, name)
    report.dropped.push(name)
  }
}

function loadSizes(database: OwnedDatabase): Promise<{ spaceId: SpaceId; chunks: number }[]> {
  return database.query(
    `select space_id as "spaceId", sum(chunk_count)::int as chunks from indexed_documents where searchable group by 1`,
  )
}

/** From pg_textsearch 1.5 on, the merges of an index's own segments can be left to this job instead of an insert that waits for them. */
async function canMergeLater(database: OwnedDatabase): Promise<boolean> {
  const [row] = await database.query<{ found: boolean }>(
    `select to_regprocedure('bm25_compact_step(regclass)') is not null as found`,
  )
  return row!.found
}

/** Merges segments of BM25 indexes step by step; readers and writers continue meanwhile. */
async function mergeSegments(database: OwnedDatabase, signal: AbortSignal | undefined): Promise<void> {
  const options = { background: true, timeoutMs: buildTimeoutMs, ...(signal ? { signal } : {}) }
  const indexes = await database.query<{ name: string; mergesLater: boolean }>(
    `select c.relname::text as name, 'compaction=manual' = any(c.reloptions) is true as "mergesLater"
     from pg_class c join pg_index i on i.indexrelid = c.oid
     where i.indisvalid and pg_table_is_visible(c.oid) and c.relname like $1`,
    [`${bm25IndexPrefix.replaceAll('_', '\\_')}%`],
    options,
  )
  for (const { name, mergesLater } of indexes) {
    // An index of an earlier version of Portico. The lock that this takes lets reads and writes pass.
    if (!mergesLater) await database.execute(`alter index ${name} set (compaction = 'manual')`, [], options)
    for (let isDone = false; !isDone;) {
      signal?.throwIfAborted()
      const [step] = await database.query<{ merged: boolean }>(
        'select bm25_compact_step($1::regclass) as merged',
        [name],
        options,
      )
      isDone = !step!.merged
    }
  }
}

function bm25Definition(spaceId: SpaceId, mergesLater: boolean): string {
  const compaction = mergesLater ? `, compaction = 'manual'` : ''
  return `chunk_terms using bm25 (chunk_terms_text(terms))
    with (text_config = 'simple', k1 = ${bm25K1}, b = ${bm25B}${compaction}) where space_id = '${spaceId}'::uuid`
}
