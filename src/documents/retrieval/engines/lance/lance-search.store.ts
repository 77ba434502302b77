import type { Queryable, SqlValue } from '../../../../platform/database/index.ts'
import { vectorParameter, vectorTable } from '../../corpus/embedding-versions.store.ts'
import { andMatching } from '../../corpus/passages.store.ts'
import { sampledChunks, type ScanContext, type SpaceState } from '../exact-scan.store.ts'
import {
  allVariants,
  chooseTerms,
  countHits,
  inverseFrequency,
  maximumRankedTerms,
  type QueryTerm,
  rankByBm25,
  type TermCounts as ChunkTerms,
  variantWeights,
} from '../../lexical/bm25.ts'
import type { ScoredChunk, VectorRequest } from '../../fusion.ts'
import { spareShare } from '../postgres/filtered-plan.ts'
import type { ReadySegment } from '../postgres/vector-segments.store.ts'
import { decodeNotes, type SegmentNotes } from './lance-segments.store.ts'
import type { LanceTables, TableHit, TableSearch, WeightedTerm } from './lance-tables.ts'
import { raceSignal } from '../../../../platform/kernel/index.ts'

/** A Space that is searched in tables of LanceDB, and in the database where it has documents that are in none of them yet. */
export interface LanceSpace {
  context: ScanContext & { space: SpaceState }
  tables: LanceTables
  segments: readonly ReadySegment[]
  /**
   * The documents in these tables that match the scope's filter, read once for all searches of the Space; null without a filter, and where there
   * are so many that conditions do not name them.
   */
  matchingDocuments: () => Promise<string[] | null>
  notesOf(segment: ReadySegment): Promise<SegmentNotes>
  /** False: the Space is too large for a scan, so nothing replaces a table that does not answer in time. */
  isReplaceable: boolean
}

/** LanceDB orders by k1 1.2 and b 0.75: so many of its best contain the best by ours, in multiples of those, and at least. */
const termsDepth = 3
const leastByTerms = 150
/** For documents that were deleted or replaced since the table was made, and for the order by the packed vectors. */
const vectorsDepth = 2
/** Most rows of a table that a search reads: where it would need more, the Space is scanned. */
const maximumDepth = 20_000
/** Documents that conditions name: more of them take longer to read and to name than rows that do not match. */
export const maximumNamedDocuments = 10_000
/** A larger Space is not scanned in the time of a search, and a scan would keep the database from others: its tables are waited for. */
export const maximumScanned = 200_000
/** Searches with twice as many each time, while too few of what was found is still current. */
const attempts = 3

/** Chunks by BM25, with the statistics of the whole Space. Null: too few of what the tables contain is still current. */
export async function searchTerms(
  lance: LanceSpace,
  all: readonly QueryTerm[],
  limit: number,
): Promise<ScoredChunk[] | null> {
  const { context, segments } = lance
  const { space } = context
  const notes = await Promise.all(segments.map((segment) => lance.notesOf(segment)))
  const inTables = (term: number) => sumOf(notes.map(({ countOf }) => countOf(term)))
  const newer = all.length > maximumRankedTerms ? await countNewer(lance, all) : new Map<number, number>()
  const terms = chooseTerms(all, (term) => inTables(term) + (newer.get(term) ?? 0), space.allChunks)
  if (terms.length === 0) return []
  const variants = allVariants(terms)
  const usualWeight = Math.max(...terms.map(({ weight }) => weight))
  const weights = variantWeights(terms, variants.map(inTables), space.allChunks)
  const documentIds = await lance.matchingDocuments()
  const share = documentIds === null ? readForEach(context) : 1
  return findEnough(limit, share * Math.max(termsDepth, leastByTerms / limit), async (depth) => {
    const found = await Promise.all(
      segments.map((segment, at) => {
        const weighted = variants.map((term, variant): WeightedTerm => {
          const own = inverseFrequency(segment.rows, notes[at]!.countOf(term))
          return { term, weight: weights[variant]! / Math.max(own, 1e-6) }
        })
        return lance.tables.byTerms(requestOf(lance, segment, documentIds, depth), weighted, usualWeight)
      }),
    )
    const best = bestOf(notes, found, depth)
    const { hits, inTail } = await readTerms(lance, terms, best.chunkIds)
    const inNewer = countHits(inTail, terms)
    const frequencies = variants.map((term, variant) => inTables(term) + inNewer[variant]!)
    const statistics = { chunks: space.allChunks, averageLength: space.averageTerms, terms, frequencies }
    const ranked = rankByBm25(hits, statistics).filter(({ score }) => score > 0)
    return { found: ranked, isAll: best.isAll }
  })
}

/** Chunks by cosine similarity. Null: as for `searchTerms`. */
export async function searchVectors(
  lance: LanceSpace,
  { version, vector, limit }: VectorRequest,
): Promise<ScoredChunk[] | null> {
  const own = lance.segments.filter(({ versionId }) => versionId === version.id)
  const documentIds = await lance.matchingDocuments()
  const share = documentIds === null ? readForEach(lance.context) : 1
  const notes = await Promise.all(own.map((segment) => lance.notesOf(segment)))
  return findEnough(limit, share * vectorsDepth, async (depth) => {
    const found = await Promise.all(
      own.map((segment) => lance.tables.byVector(requestOf(lance, segment, documentIds, depth), segment.rows, vector)),
    )
    const best = bestOf(notes, found, depth)
    const similar = await readSimilarities({ ...lance, segments: own }, { version, vector, limit }, best.chunkIds)
    return { found: similar, isAll: best.isAll }
  })
}

/** The best of several tables, which were asked for `depth` each: to read them in the corpus takes longer than to find them. */
function bestOf(
  notes: readonly SegmentNotes[],
  found: readonly TableHit[][],
  depth: number,
): { chunkIds: string[]; isAll: boolean } {
  const all = found.flatMap((hits, table) => hits.map((hit) => ({ hit, table })))
  const best = all.sort((left, right) => right.hit.score - left.hit.score).slice(0, depth)
  return {
    chunkIds: best.map(({ hit, table }) => notes[table]!.chunkIdOf(hit)),
    isAll: all.length <= depth && found.every((hits) => hits.length < depth),
  }
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

/** The documents that are in none of these tables; $2 is the Space, $3 its organisation. */
const tailOf = (segments: string, matches = '') =>
  `(
     select d.document_id from indexed_documents d
     where d.organisation_id = $3 and d.space_id = $2 and d.searchable and not d.vector_segments && ${segments}::int[] ${matches} offset 0
   ) tail`

/** Their chunks, by the index of documents: the planner does not know how few they are, and would read those of all Spaces. */
const chunksOfTail = (table: string, columns: string, condition: string) =>
  `lateral (select ${columns} from ${table} c where c.document_id = tail.document_id and ${condition} offset 0) c`

/** The planner takes the tail for large, and would compile each query. */
const settings = { jit: 'off' }

/** In how many chunks of documents without a table each term occurs, counted in a part of them. */
async function countNewer(
  { context: { queryable, scope, options }, segments }: LanceSpace,
  terms: readonly QueryTerm[],
): Promise<Map<number, number>> {
  const rows = await queryable.query<{ term: number; frequency: number }>(
    `select t.term, count(*)::int as frequency
     from (
       select c.terms from ${tailOf('$4')} cross join ${chunksOfTail('chunk_terms', 'c.terms', 'c.terms && $1::int[]')}
       limit ${sampledChunks}
     ) c, lateral (select distinct unnest(c.terms) as term) t
     where t.term = any($1::int[]) group by 1`,
    [allVariants(terms), scope.spaceId, scope.organisationId, segments.map(({ id }) => id)],
    { ...options, settings },
  )
  return new Map(rows.map(({ term, frequency }) => [term, frequency]))
}

interface Found {
  found: ScoredChunk[]
  /** The tables contain no more. */
  isAll: boolean
}

async function findEnough(
  limit: number,
  depth: number,
  search: (depth: number) => Promise<Found>,
): Promise<ScoredChunk[] | null> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const rows = Math.ceil(limit * depth * 2 ** attempt)
    if (rows > maximumDepth) return null
    const { found, isAll } = await search(rows)
    if (isAll || found.length >= limit) return found.slice(0, limit)
  }
  return null
}

function requestOf(
  { context: { options }, isReplaceable }: LanceSpace,
  { tableName }: ReadySegment,
  documentIds: readonly string[] | null,
  limit: number,
): TableSearch {
  return { tableName: tableName!, documentIds, limit, isReplaceable, signal: options.signal }
}

/** Chunks that are read for one that matches the filter, where the condition does not name the matching documents. */
function readForEach({ scope, space }: LanceSpace['context']): number {
  return scope.filter === null ? 1 : (spareShare * space.allChunks) / Math.max(1, space.chunks)
}

/** See `LanceSpace.matchingDocuments`. */
export async function findMatchingDocuments(
  { queryable, scope, options }: ScanContext,
  segments: readonly ReadySegment[],
  maximum: number,
): Promise<string[] | null> {
  if (scope.filter === null) return null
  const values: SqlValue[] = [scope.organisationId, scope.spaceId, segments.map(({ id }) => id), maximum + 1]
  const rows = await queryable.query<{ id: string }>(
    `select document_id as id from indexed_documents
     where organisation_id = $1 and space_id = $2 and searchable and vector_segments && $3::int[]
       ${andMatching(scope, values)('document_id')} limit $4`,
    values,
    options,
  )
  return rows.length > maximum ? null : rows.map(({ id }) => id)
}

/**
 * What the corpus has of the chunks that the tables name, and of those that contain one of the terms among documents that are in no
 * table, `inTail`. A chunk whose document left the table since is read there.
 */
async function readTerms(
  { context, segments }: LanceSpace,
  terms: readonly QueryTerm[],
  chunkIds: readonly string[],
): Promise<{ hits: ChunkTerms[]; inTail: ChunkTerms[] }> {
  const { queryable, scope, options } = context
  const values: SqlValue[] = [
    allVariants(terms),
    scope.spaceId,
    scope.organisationId,
    [...chunkIds],
    segments.map(({ id }) => id),
  ]
  const matches = andMatching(scope, values)('d.document_id')
  const rows = await queryable.query<{ chunkId: string; length: number; counts: string; isNew: boolean }>(
    `select f.chunk_id as "chunkId", cardinality(f.terms) as length, f.is_new as "isNew", array_to_string(array(
         select width_bucket(q.term, f.terms) - width_bucket(q.term - 1, f.terms) from unnest($1::int[]) q (term)
       ), ' ') as counts
     from (
       select c.chunk_id, c.terms, false as is_new
       from chunk_terms c join indexed_documents d on d.document_id = c.document_id and d.searchable
       where c.space_id = $2 and c.organisation_id = $3 and c.chunk_id = any($4::uuid[])
         and d.vector_segments && $5::int[] ${matches}
       union all (
         select c.chunk_id, c.terms, true from ${tailOf('$5', matches)}
         cross join ${chunksOfTail('chunk_terms', 'c.chunk_id, c.terms', 'c.terms && $1::int[]')}
       )
     ) f`,
    values,
    { ...options, settings },
  )
  const counted = rows.map(({ counts, ...row }) => ({ ...row, counts: counts.split(' ').map(Number) }))
  return { hits: counted, inTail: counted.filter(({ isNew }) => isNew) }
}

/** The same for vectors: the nearest of them, best first. */
function readSimilarities(
  { context, segments }: LanceSpace,
  { version, vector, limit }: VectorRequest,
  chunkIds: readonly string[],
): Promise<ScoredChunk[]> {
  const { queryable, scope, options } = context
  const values: SqlValue[] = [
    vectorParameter(version, vector),
    scope.spaceId,
    scope.organisationId,
    limit,
    [...chunkIds],
    segments.map(({ id }) => id),
  ]
  const matches = andMatching(scope, values)('d.document_id')
  const distance = `c.embedding <=> $1::${version.storage} as distance`
  return queryable.query<ScoredChunk>(
    `select chunk_id as "chunkId", 1 - distance as score from (
       select c.chunk_id, ${distance}
       from ${vectorTable(version)} c join indexed_documents d on d.document_id = c.document_id and d.searchable
       where c.space_id = $2 and c.organisation_id = $3 and c.chunk_id = any($5::uuid[])
         and d.vector_segments && $6::int[] ${matches}
       union all (
         select c.chunk_id, c.distance from ${tailOf('$6', matches)}
         cross join ${chunksOfTail(vectorTable(version), `c.chunk_id, ${distance}`, 'true')}
       )
     ) found order by distance, chunk_id limit $4`,
    values,
    { ...options, settings },
  )
}

/** Of the segments that were searched last: 16 bytes of a chunk's id, and as much of its terms. */
const maximumBytes = 256 * 2 ** 20
/** It does not end with the search that began it, because others wait for it as well. */
const timeoutMs = 15_000

interface Entry {
  notes: Promise<SegmentNotes>
  /** 0 until they are loaded. */
  bytes: number
}

/** The notes of segments, kept in memory: a segment never changes. */
export function createSegmentNotes() {
  // Least recently used first.
  const kept = new Map<number, Entry>()
  let bytes = 0

  function forget(id: number): void {
    bytes -= kept.get(id)?.bytes ?? 0
    kept.delete(id)
  }

  /** An entry that was evicted while it was loaded does not count. */
  function count(id: number, entry: Entry, loadedBytes: number): void {
    if (kept.get(id) !== entry) return
    entry.bytes = loadedBytes
    bytes += loadedBytes
    for (const oldest of kept.keys()) {
      if (bytes <= maximumBytes || oldest === id) break
      forget(oldest)
    }
  }

  function open(queryable: Queryable, id: number): Entry {
    const entry: Entry = {
      bytes: 0,
      notes: read(queryable, id).then(({ counts, chunkIds }) => {
        count(id, entry, counts.byteLength + chunkIds.byteLength)
        return decodeNotes(counts, chunkIds)
      }),
    }
    entry.notes.catch(() => kept.get(id) === entry && forget(id))
    return entry
  }

  return {
    load(queryable: Queryable, id: number, signal: AbortSignal | undefined): Promise<SegmentNotes> {
      const entry = kept.get(id) ?? open(queryable, id)
      kept.delete(id)
      kept.set(id, entry)
      return raceSignal(entry.notes, signal)
    },
  }
}

async function read(queryable: Queryable, id: number): Promise<{ counts: Uint8Array; chunkIds: Uint8Array }> {
  const [row] = await queryable.query<{ counts: Uint8Array | null; chunkIds: Uint8Array | null }>(
    'select term_counts as counts, chunk_ids as "chunkIds" from vector_segments where id = $1',
    [id],
    { timeoutMs },
  )
  if (!row?.counts || !row.chunkIds) throw new Error(`segment ${id} is gone`)
  return { counts: row.counts, chunkIds: row.chunkIds }
}
