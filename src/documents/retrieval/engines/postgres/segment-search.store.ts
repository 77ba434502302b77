import { encodeHalfVector, type SqlValue } from '../../../../platform/database/index.ts'
import { filterCondition } from '../../corpus/passages.store.ts'
import { vectorParameter, vectorTable } from '../../corpus/embedding-versions.store.ts'
import type { ScoredChunk, VectorRequest } from '../../fusion.ts'
import type { ScanContext } from '../exact-scan.store.ts'
import { type ReadySegment, segmentTable } from './vector-segments.store.ts'
import { spaceLiteral } from './space-indexes.store.ts'

/**
 * Chunks by the indexes of the Space's segments, and by comparing all vectors of documents that are in none of them: new ones, and
 * those of a segment that `segments` does not contain yet. Not in a transaction: its settings would last.
 */
export async function searchSegments(
  { queryable, scope, options }: ScanContext,
  { version, vector, limit }: VectorRequest,
  segments: readonly ReadySegment[],
): Promise<ScoredChunk[]> {
  const settings = {
    'hnsw.iterative_scan': 'relaxed_order',
    'hnsw.ef_search': String(efSearch(Math.max(...segments.map(({ rows }) => rows)))),
    // Otherwise the planner compares all vectors of a segment that it takes for small.
    enable_seqscan: 'off',
    jit: 'off',
  }
  const values: SqlValue[] = [
    vectorParameter(version, vector),
    encodeHalfVector(normalised(vector)),
    scope.organisationId,
    scope.spaceId,
    limit,
    segments.map(({ id }) => id),
  ]
  const matches = filterCondition(scope, scope.filter, values)
  return queryable.query<ScoredChunk>(
    `select chunk_id as "chunkId", 1 - distance as score from (
       ${segments.map((segment) => nearestOf(segment, version.dimensions, matches)).join(' union all ')}
       union all (
         select e.chunk_id, e.distance from (
           select document_id from indexed_documents
           where organisation_id = $3 and space_id = $4 and searchable and not vector_segments && $6::int[]
             ${matches === null ? '' : `and document_id in (select d.id from documents d where ${matches})`} offset 0
         ) tail cross join lateral (
           select e.chunk_id, e.embedding <=> $1::${version.storage} as distance from ${vectorTable(version)} e
           where e.document_id = tail.document_id offset 0
         ) e order by e.distance limit $5
       )
     ) found order by distance limit $5`,
    values,
    { ...options, settings },
  )
}

/**
 * A scalar subquery instead of a join: the scan of the index stays in order, and continues until enough rows are searchable and match. `matches`:
 * a condition on their document.
 */
function nearestOf({ id }: ReadySegment, dimensions: number, matches: string | null): string {
  const distance = `s.embedding <#> $2::halfvec(${Math.trunc(dimensions)})`
  return `(
    select s.chunk_id, 1 + (${distance}) as distance from ${segmentTable(id)} s
    where (select d.searchable and d.vector_segments @> array[${Math.trunc(id)}]
           from indexed_documents d where d.document_id = s.document_id)
      ${matches === null ? '' : `and (s.document_id in (select d.id from documents d where ${matches})) is true`}
    order by ${distance} limit $5
  )`
}

function normalised(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}

const minimumEfSearch = 100
/** The most that pgvector accepts. */
const maximumEfSearch = 1_000
const chunksPerEfStep = 1_250

/**
 * Chunks by the Space's HNSW index of an earlier version of Portico, which is kept until the Space has segments. Short where many of
 * the nearest are not searchable. Not in a transaction: its settings would last.
 */
export async function searchHnswIndex(
  { queryable, scope, space, options }: ScanContext,
  { version, vector, limit }: VectorRequest,
): Promise<ScoredChunk[]> {
  const settings = { 'hnsw.iterative_scan': 'relaxed_order', 'hnsw.ef_search': String(efSearch(space.chunks)) }
  return queryable.query<ScoredChunk>(
    `with nearest as materialized (
       select chunk_id, document_id, embedding <=> $1::${version.storage} as distance from ${vectorTable(version)}
       where space_id = ${spaceLiteral(scope.spaceId)} and organisation_id = $2
       order by embedding <=> $1::${version.storage} limit $3
     )
     select n.chunk_id as "chunkId", 1 - n.distance as score
     from nearest n join indexed_documents d on d.document_id = n.document_id and d.searchable
     order by n.distance limit $4`,
    [vectorParameter(version, vector), scope.organisationId, limit * 2, limit],
    { ...options, settings },
  )
}

/**
 * Candidates that one scan of the index keeps; the scan continues (relaxed order) until enough rows have passed the filter. A
 * larger index needs more for the same recall: measured in docs/decisions/0072-vector-segments.md.
 */
function efSearch(chunks: number): number {
  return Math.min(maximumEfSearch, Math.max(minimumEfSearch, Math.round(chunks / chunksPerEfStep)))
}
