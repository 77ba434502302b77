import type { OwnedDatabase, SqlValue } from '../../../../platform/database/index.ts'
import type { SpaceId } from '../../../../platform/kernel/index.ts'
import { vectorParameter, vectorTable } from '../../corpus/embedding-versions.store.ts'
import { andMatching } from '../../corpus/passages.store.ts'
import type { MaintenanceOptions, MaintenanceReport } from '../../engine.ts'
import { bm25B, bm25K1, type QueryTerm } from '../../lexical/bm25.ts'
import type { LexicalChunk, VectorRequest } from '../../fusion.ts'
import type { ScanContext } from '../exact-scan.store.ts'
import { concurrently, dropSearchIndex, loadSearchIndexes } from '../search-indexes.store.ts'
import { spareShare } from './filtered-plan.ts'
import { bm25IndexName, bm25IndexPrefix, spaceLiteral } from './space-indexes.store.ts'

/**
 * The extension counts repeats of a term in a query; repeats express weights. A term below a hundredth of the highest weight is
 * left out. Forty repeats of 64 terms took 7 ms more than one.
 */
const maximumRepeats = 50

/** How many of the best are read until enough of them can be found, in multiples of those. */
const steps = [1, 2]
/** With a filter: in multiples of what would be enough if the matching chunks were spread evenly. Then all of them are compared. */
const filteredSteps = [spareShare, 4 * spareShare]

/** Chunks by the Space's BM25 index. Null: too few of the best are searchable and match, or the planner did not use the index. */
export async function searchBm25Index(
  context: ScanContext,
  terms: readonly QueryTerm[],
  limit: number,
  compared?: ComparedVector,
): Promise<LexicalChunk[] | null> {
  // Usually all of them are searchable: only chunks that are being imported are not.
  const { scope, space } = context
  const share = scope.filter ? (space.allChunks ?? space.chunks) / Math.max(1, space.chunks) : 1
  for (const step of scope.filter ? filteredSteps : steps) {
    const inner = Math.ceil(limit * step * share)
    const best = await readBest(context, terms, inner, scope.filter ? undefined : compared)
    // The score is a by-product of the index scan; with any other plan it is 0 or the same for all rows.
    if (best.length > 1 && best.every((row) => row.score === best[0]!.score)) return null
    const found = best.filter((row) => row.searchable && row.score > 0)
    if (found.length >= limit || (best.length < inner && found.length > 0)) {
      return found
        .map(({ chunkId, score, similarity }) => ({ chunkId, score, similarity }))
        .sort((left, right) => right.score - left.score)
        .slice(0, limit)
    }
  }
  return null
}

type ComparedVector = Pick<VectorRequest, 'version' | 'vector'>

function readBest(
  { queryable, scope, options }: ScanContext,
  terms: readonly QueryTerm[],
  inner: number,
  compared: ComparedVector | undefined,
): Promise<(LexicalChunk & { searchable: boolean })[]> {
  const values: SqlValue[] = [scope.organisationId, repeatedByWeight(terms).join(' '), inner]
  if (compared) values.push(vectorParameter(compared.version, compared.vector))
  const matches = andMatching(scope, values)('d.document_id')
  const similarity = compared
    ? `(select 1 - (e.embedding <=> $4::${compared.version.storage}) from ${vectorTable(compared.version)} e
         where e.space_id = ${spaceLiteral(scope.spaceId)} and e.chunk_id = best.chunk_id)`
    : 'null::float8'
  // A subselect, not a CTE: inside a CTE the extension computes every score a second time, 0.13 ms a row.
  return queryable.query(
    `select best.chunk_id as "chunkId", best.score, (d.searchable ${matches}) as searchable, ${similarity} as similarity
     from (
       select chunk_id, document_id, -bm25_get_current_score() as score from chunk_terms
       where space_id = ${spaceLiteral(scope.spaceId)} and organisation_id = $1
       order by chunk_terms_text(terms) <@> to_bm25query($2, '${bm25IndexName(scope.spaceId)}') limit $3
     ) best join indexed_documents d on d.document_id = best.document_id`,
    values,
    options,
  )
}

function repeatedByWeight(terms: readonly QueryTerm[]): number[] {
  const weights = terms.map(({ weight }) => weight)
  const once = Math.max(Math.min(1, ...weights), Math.max(...weights) / maximumRepeats)
  return terms.flatMap(({ variants, weight }) => {
    const repeats = Math.round(weight / once)
    return variants.flatMap((variant) => Array.from({ length: repeats }, () => variant))
  })
}

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
