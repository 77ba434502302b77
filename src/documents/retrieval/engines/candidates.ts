import type { Candidate, CandidateQuery, QueryVector, Ranking } from '../engine.ts'
import type { EmbeddingVersion } from '../corpus/embedding-versions.store.ts'
import type { QueryTerm } from '../lexical/bm25.ts'

export interface ScoredChunk {
  chunkId: string
  /** By terms: BM25, more is better. By vectors: cosine similarity. */
  score: number
}

/** A chunk that was found by terms. */
export interface LexicalChunk extends ScoredChunk {
  /** To the vector of the request, where the search has compared it. */
  similarity?: number | null
}

export interface VectorRequest {
  version: EmbeddingVersion
  vector: Float32Array
  limit: number
  /** Only documents published after it. */
  since?: Date
}

/** How the tables of the corpus are searched for one Space; all results best first. */
export interface CorpusSearch {
  /** A search that reads an index may add the similarity to `compared`, which spares another statement. */
  byTerms(
    terms: readonly QueryTerm[],
    limit: number,
    compared?: Pick<VectorRequest, 'version' | 'vector'>,
  ): Promise<LexicalChunk[]>
  byVector(request: VectorRequest): Promise<ScoredChunk[]>
  /** Of given chunks, in no order. */
  similarities(request: Pick<VectorRequest, 'version' | 'vector'> & { chunkIds: string[] }): Promise<ScoredChunk[]>
}

/** Below this a hashing vector's similarity is chance: words share places in 384 dimensions (standard deviation 0.05). */
const spellingSimilarityFloor = 0.2

/** Least similarity of a candidate that was found by this vector. */
export function similarityFloor({ hasSemantics }: Pick<QueryVector, 'hasSemantics'>): number {
  return hasSemantics ? Number.NEGATIVE_INFINITY : spellingSimilarityFloor
}

/**
 * Searches the corpus by terms and by all vectors. Where vectors have so small a share that they may not matter, terms come first: the vectors
 * of a spelling embedder are then searched for few questions only.
 */
export async function findCandidates(search: CorpusSearch, query: CandidateQuery): Promise<Candidate[]> {
  const { terms, vectors, limit, ranking } = query
  const lexical = search.byTerms(terms, limit, vectors[0])
  const first = ranking && ranking.vectorWeight < 0.5 ? await lexical : []
  const [byTerms, byVectors] = await Promise.all([
    lexical,
    searchVectors(search, vectors, query, { isNeeded: !ranking || !doTermsDecide(first, ranking) }),
  ])
  const found = byTerms.map(({ chunkId, score, similarity = null }) => ({ chunkId, lexicalScore: score, similarity }))
  return joinVectorResults(search, found, byVectors)
}

/**
 * Whether enough chunks found by terms have a higher fused score than a chunk that only vectors find can have: that has no lexical score, so it
 * has at most the share of the vectors.
 */
function doTermsDecide(found: readonly ScoredChunk[], { vectorWeight, best }: Ranking): boolean {
  const highest = found[0]?.score ?? 0
  const above = found.filter(({ score }) => (1 - vectorWeight) * score > vectorWeight * highest)
  return above.length >= best
}

export type VectorResult = QueryVector & { found: ScoredChunk[] }

/** Searches by some vectors of a query; not needed: they are only compared with what else was found. */
export function searchVectors(
  search: CorpusSearch,
  vectors: readonly QueryVector[],
  query: CandidateQuery,
  { isNeeded = true } = {},
): Promise<VectorResult[]> {
  const hasActive = query.vectors.some(({ version }) => version.state === 'active')
  return Promise.all(
    vectors.map(async (one) => {
      if (!isNeeded) return { ...one, found: [] }
      const { version, vector } = one
      // Next to an active version, one that is being built counts only for documents that the active one lacks.
      const since = hasActive && version.state === 'building' ? { since: version.createdAt } : {}
      const found = await search.byVector({ version, vector, limit: query.limit, ...since })
      const floor = similarityFloor(one)
      return { ...one, found: found.filter(({ score }) => score >= floor) }
    }),
  )
}

/** Adds what the vectors found, and loads the similarities that are still missing. */
export async function joinVectorResults(
  search: Pick<CorpusSearch, 'similarities'>,
  found: readonly Candidate[],
  results: readonly VectorResult[],
): Promise<Candidate[]> {
  const joined = new Map(found.map((candidate) => [candidate.chunkId, { ...candidate }]))
  for (const { chunkId, score } of results.flatMap((result) => result.found)) {
    const known = joined.get(chunkId)
    if (!known) joined.set(chunkId, { chunkId, lexicalScore: null, similarity: score })
    else known.similarity ??= score
  }
  for (const { version, vector } of results) {
    const chunkIds = [...joined.values()].filter(({ similarity }) => similarity === null).map(({ chunkId }) => chunkId)
    if (chunkIds.length === 0) break
    for (const { chunkId, score } of await search.similarities({ version, vector, chunkIds })) {
      joined.get(chunkId)!.similarity = score
    }
  }
  return [...joined.values()]
}
