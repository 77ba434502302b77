import type { Candidate, CandidateQuery, QueryVector } from '../engine.ts'
import type { EmbeddingVersion } from '../corpus/embedding-versions.store.ts'
import type { QueryTerm } from '../lexical/bm25.ts'

export interface ScoredChunk {
  chunkId: string
  /** By terms: BM25, more is better. By vectors: cosine similarity. */
  score: number
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
  byTerms(terms: readonly QueryTerm[], limit: number): Promise<ScoredChunk[]>
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

/** Searches the corpus by terms and by all vectors. */
export async function findCandidates(search: CorpusSearch, query: CandidateQuery): Promise<Candidate[]> {
  const [byTerms, byVectors] = await Promise.all([
    search.byTerms(query.terms, query.limit),
    searchVectors(search, query.vectors, query),
  ])
  const found = byTerms.map(({ chunkId, score }) => ({ chunkId, lexicalScore: score, similarity: null }))
  return joinVectorResults(search, found, byVectors)
}

export type VectorResult = QueryVector & { found: ScoredChunk[] }

/** Searches by some vectors of a query. */
export function searchVectors(
  search: CorpusSearch,
  vectors: readonly QueryVector[],
  query: CandidateQuery,
): Promise<VectorResult[]> {
  const hasActive = query.vectors.some(({ version }) => version.state === 'active')
  return Promise.all(
    vectors.map(async (one) => {
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
