import type { Queryable, QueryOptions } from '../../../database/index.ts'
import { type Generation, vectorParameter, vectorTable } from '../../corpus/embedding-versions.store.ts'
import { type Candidate, type Scope, type SpaceState, spaceLiteral } from '../../corpus/space-state.store.ts'

/**
 * How many candidates a look into an HNSW index keeps; the scan goes on (relaxed order) until enough rows have passed the filter.
 * The larger the index, the more it takes for the same recall: measured on clustered vectors in docs/retrieval.md.
 */
function efSearch(chunks: number): number {
  return Math.min(maximumEfSearch, Math.max(minimumEfSearch, Math.round(chunks / chunksPerEfStep)))
}

const minimumEfSearch = 100
/** The most that pgvector takes. */
const maximumEfSearch = 1_000
const chunksPerEfStep = 1_250

export interface VectorRequest {
  generation: Generation
  vector: Float32Array
  limit: number
  /** Only documents published after it. */
  since?: Date
}

/** Searchable chunks of the Space by cosine similarity, best first; never short while there are more. */
export async function findByVector(
  queryable: Queryable,
  scope: Scope,
  space: Pick<SpaceState, 'chunks' | 'vectorIndexes'>,
  request: VectorRequest,
  options: QueryOptions,
): Promise<Candidate[]> {
  if (!request.since && space.vectorIndexes.includes(request.generation.id)) {
    const found = await findByVectorIndex(queryable, scope, space.chunks, request, options)
    // Short where many of the nearest are not searchable yet: then every vector is compared.
    if (found.length >= Math.min(request.limit, space.chunks)) return found
  }
  return findByEveryVector(queryable, scope, request, options)
}

/** Similarity of given chunks, for those that the words found and the vectors did not. */
export function loadSimilarities(
  queryable: Queryable,
  scope: Scope,
  { generation, vector, chunkIds }: Pick<VectorRequest, 'generation' | 'vector'> & { chunkIds: readonly string[] },
  options: QueryOptions,
): Promise<Candidate[]> {
  return queryable.query<Candidate>(
    `select chunk_id as "chunkId", 1 - (embedding <=> $1::${generation.storage}) as score
     from ${vectorTable(generation)}
     where space_id = $2 and organisation_id = $3 and chunk_id = any($4::uuid[])`,
    [vectorParameter(generation, vector), scope.spaceId, scope.organisationId, [...chunkIds]],
    options,
  )
}

function findByEveryVector(
  queryable: Queryable,
  scope: Scope,
  { generation, vector, limit, since }: VectorRequest,
  options: QueryOptions,
): Promise<Candidate[]> {
  // `+ 0` keeps the planner from an index that would answer in part only.
  return queryable.query<Candidate>(
    `select e.chunk_id as "chunkId", 1 - (e.embedding <=> $1::${generation.storage}) as score
     from ${vectorTable(generation)} e join indexed_documents d on d.document_id = e.document_id and d.searchable
     where e.space_id = $2 and e.organisation_id = $3 and d.updated_at >= $5::timestamptz
     order by (e.embedding <=> $1::${generation.storage}) + 0, e.chunk_id limit $4`,
    [vectorParameter(generation, vector), scope.spaceId, scope.organisationId, limit, since ?? new Date(0)],
    options,
  )
}

/** Call inside a transaction: the settings of the scan last until its end. */
async function findByVectorIndex(
  transaction: Queryable,
  scope: Scope,
  chunks: number,
  { generation, vector, limit }: VectorRequest,
  options: QueryOptions,
): Promise<Candidate[]> {
  await transaction.query(
    `select set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', $1, true)`,
    [String(efSearch(chunks))],
    options,
  )
  return transaction.query<Candidate>(
    `with nearest as materialized (
       select chunk_id, document_id, embedding <=> $1::${generation.storage} as distance from ${vectorTable(generation)}
       where space_id = ${spaceLiteral(scope.spaceId)} and organisation_id = $2
       order by embedding <=> $1::${generation.storage} limit $3
     )
     select n.chunk_id as "chunkId", 1 - n.distance as score
     from nearest n join indexed_documents d on d.document_id = n.document_id and d.searchable
     order by n.distance limit $4`,
    [vectorParameter(generation, vector), scope.organisationId, limit * 2, limit],
    options,
  )
}
