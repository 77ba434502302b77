import type { QueryTerm } from '../lexical/bm25.ts'
import type { FusionInput } from '../fusion.ts'
import type { Generation } from '../corpus/embedding-versions.store.ts'
import type { Embedder } from '../port.ts'
import { packTerms } from './memory/messages.ts'
import type { ResidentSpace } from './memory/memory-engine.ts'
import type { SearchQueries } from '../corpus/passages.store.ts'
import type { Candidate, SpaceState } from '../corpus/space-state.store.ts'

export interface QueryVector {
  generation: Generation
  embedder: Embedder
  vector: Float32Array
}

export interface CandidateRequest {
  terms: readonly QueryTerm[]
  /** The query as each live generation's embedder sees it. */
  vectors: readonly QueryVector[]
  /** Most candidates of each half. */
  limit: number
}

/** Below this a hashing vector's similarity is chance: words share places in 384 dimensions (standard deviation 0.05). */
const lexicalSimilarityFloor = 0.2

/** What words and vectors of the Space find in the database, once each, with what each half says of them. */
export async function findCandidates(
  queries: SearchQueries,
  space: SpaceState,
  { terms, vectors, limit }: CandidateRequest,
): Promise<FusionInput[]> {
  const [words, halves] = await Promise.all([
    queries.findByWords(space, { terms, limit }),
    Promise.all(
      vectors.map((query) => findByVector(queries, space, query, limit, needsBesides(query, space.generations))),
    ),
  ])
  const found = words.map(({ chunkId, score }) => ({ chunkId, wordScore: score, similarity: null }))
  return join(queries, found, halves)
}

/** The same through memory, which holds the words and the active generation's vectors; null: it has failed. */
export async function findResidentCandidates(
  queries: SearchQueries,
  space: ResidentSpace,
  { terms, vectors, limit }: CandidateRequest,
  signal: AbortSignal,
): Promise<(FusionInput & { documentId?: string })[] | null> {
  const active = vectors.find(({ generation }) => generation.state === 'active')
  const others = vectors.filter((query) => query !== active)
  const similarityFloor = active ? floorOf(active.embedder) : 0
  const query = { terms: packTerms(terms), vector: active?.vector ?? null, limit, similarityFloor }
  const [found, halves] = await Promise.all([
    space.search(query, signal),
    Promise.all(others.map((other) => findByVector(queries, noIndexes, other, limit, other.generation.createdAt))),
  ])
  return found && (others.length === 0 ? found : join(queries, found, halves))
}

const noIndexes = { chunks: 0, vectorIndexes: [] }

type VectorHalf = QueryVector & { found: Candidate[] }

async function findByVector(
  queries: SearchQueries,
  space: Pick<SpaceState, 'chunks' | 'vectorIndexes'>,
  query: QueryVector,
  limit: number,
  since: Date | undefined,
): Promise<VectorHalf> {
  const { generation, vector, embedder } = query
  const found = await queries.findByVector(space, { generation, vector, limit, ...(since ? { since } : {}) })
  const floor = floorOf(embedder)
  return { ...query, found: found.filter(({ score }) => score >= floor) }
}

/** What came in since a generation's building began has no vector in the active one: of the other it is all that counts. */
function needsBesides({ generation }: QueryVector, generations: readonly Generation[]): Date | undefined {
  const isBeside = generation.state === 'building' && generations.some(({ state }) => state === 'active')
  return isBeside ? generation.createdAt : undefined
}

function floorOf(embedder: Embedder): number {
  return embedder.semantics === false ? lexicalSimilarityFloor : Number.NEGATIVE_INFINITY
}

/** Adds what the vectors found to what is there, and looks up the similarity of what they did not find. */
async function join<Found extends FusionInput>(
  queries: SearchQueries,
  found: readonly Found[],
  halves: readonly VectorHalf[],
): Promise<(FusionInput & Partial<Found>)[]> {
  const joined = new Map<string, FusionInput & Partial<Found>>()
  for (const candidate of found) joined.set(candidate.chunkId, { ...candidate })
  for (const half of halves) {
    for (const { chunkId, score } of half.found) {
      const known = joined.get(chunkId)
      if (!known) joined.set(chunkId, { chunkId, wordScore: null, similarity: score } as FusionInput & Partial<Found>)
      else known.similarity ??= score
    }
  }
  for (const { generation, vector } of halves) {
    const chunkIds = [...joined.values()].filter(({ similarity }) => similarity === null).map(({ chunkId }) => chunkId)
    if (chunkIds.length === 0) break
    for (const { chunkId, score } of await queries.loadSimilarities({ generation, vector, chunkIds })) {
      joined.get(chunkId)!.similarity = score
    }
  }
  return [...joined.values()]
}
