import { vectorParameter, vectorTable } from '../../corpus/embedding-versions.store.ts'
import type { ScoredChunk, VectorRequest } from '../candidates.ts'
import type { ScanContext } from '../exact-scan.store.ts'
import { spaceLiteral } from './space-indexes.store.ts'

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
export function efSearch(chunks: number): number {
  return Math.min(maximumEfSearch, Math.max(minimumEfSearch, Math.round(chunks / chunksPerEfStep)))
}
