import { AppError, anySignal, describeError, type Log, silentLog } from '../kernel/index.ts'
import { analyseQuery, maximumQueryCharacters } from './analysis/analyse-text.ts'
import { fuse, type Fused, type FusionInput, repeatsLast } from './fusion.ts'
import type { Generation } from './generations.store.ts'
import type { IndexStore } from './index.store.ts'
import type { Embedder, Passage, Retrieval, SearchRequest } from './port.ts'
import type { SearchQueries } from './search.store.ts'
import type { Candidate, SpaceState } from './space-state.store.ts'

export interface RetrievalDependencies {
  index: IndexStore
  /** Makes the vectors of new documents; a search uses it as soon as its index is complete. */
  embedder: Embedder
  /** Embedders of older indexes, to go on asking those while the new one is being built. */
  formerEmbedders?: readonly Embedder[]
  log?: Log
  /** Longest search; then it fails with `request_timeout`. */
  timeoutMs?: number
  /** Share of the vectors in the score, 0..1; default by kind of embedder, as measured in docs/retrieval.md. */
  vectorWeight?: number
}

/** Most passages of one search. */
export const maximumSearchLimit = 200
const defaultTimeoutMs = 15_000
/** Each half brings more candidates than are asked for, so that a chunk that is good in both can win. */
const candidatesPerResult = 4
const minimumCandidates = 50
const semanticVectorWeight = 0.6
const lexicalVectorWeight = 0.15
/** Below this a hashing vector's similarity is chance: words share places in 384 dimensions (standard deviation 0.05). */
const lexicalSimilarityFloor = 0.2

/** Hybrid search: words (BM25) and vectors in one Space, fused by score. */
export function createRetrieval(dependencies: RetrievalDependencies): Retrieval {
  const { index, timeoutMs = defaultTimeoutMs, log = silentLog } = dependencies
  const embedders = new Map(
    [...(dependencies.formerEmbedders ?? []), dependencies.embedder].map((embedder) => [embedder.id, embedder]),
  )

  return {
    async search(request) {
      const query = request.query.slice(0, maximumQueryCharacters).replaceAll('\0', ' ').toWellFormed().trim()
      const limit = Math.min(Math.trunc(request.limit), maximumSearchLimit)
      if (!/[\p{L}\p{N}]/u.test(query) || limit < 1) return []
      const deadline = AbortSignal.timeout(timeoutMs)
      try {
        const signal = anySignal(request.signal, deadline)
        signal.throwIfAborted()
        return await find({ ...request, query, limit, signal })
      } catch (error) {
        if (deadline.aborted && !request.signal.aborted) {
          throw new AppError('request_timeout', `The search took longer than ${timeoutMs} ms. Try again later.`, {
            cause: error,
          })
        }
        throw error
      }
    },
  }

  async function find(request: SearchRequest): Promise<Passage[]> {
    const { signal, spaceId, limit } = request
    const space = await index.search.loadSpace(request, { signal })
    if (space.chunks === 0) return []
    const terms = analyseQuery(spaceId, request.query, space.languages)
    const vectors = await embedQuery(request, space)
    const wanted = Math.max(limit * candidatesPerResult, minimumCandidates)
    return index.search.read(request, { signal }, async (queries) => {
      const [words, halves] = await Promise.all([
        queries.findByWords(space, { terms, limit: wanted }),
        Promise.all(vectors.map((vector) => findByVector(queries, space, vector, wanted))),
      ])
      const candidates = await join(queries, words, halves)
      const semantics = vectors.some(({ embedder }) => embedder.semantics !== false)
      const vectorWeight = dependencies.vectorWeight ?? (semantics ? semanticVectorWeight : lexicalVectorWeight)
      return loadPassages(queries, fuse(candidates, { vectorWeight }), limit)
    })
  }

  /** The query as each live generation's embedder sees it; of the active one, and of one that is being built. */
  async function embedQuery(request: SearchRequest, space: SpaceState): Promise<QueryVector[]> {
    const { query, organisationId, spaceId, signal } = request
    const vectors = await Promise.all(
      space.generations.map(async (generation): Promise<QueryVector | null> => {
        const embedder = embedders.get(generation.embedderId)
        if (!embedder) {
          log.warn({ embedder: generation.embedderId }, 'no embedder for an index that answers searches: words only')
          return null
        }
        try {
          const [vector] = await embedder.embed({ texts: [query], purpose: 'query', organisationId, spaceId, signal })
          return vector?.some((value) => value !== 0) ? { generation, embedder, vector } : null
        } catch (error) {
          signal.throwIfAborted()
          // An answer by words is better than none.
          log.warn(
            { embedder: embedder.id, error: describeError(error) },
            'the query could not be embedded: words only',
          )
          return null
        }
      }),
    )
    return vectors.filter((vector) => vector !== null)
  }
}

interface QueryVector {
  generation: Generation
  embedder: Embedder
  vector: Float32Array
}

type VectorHalf = QueryVector & { found: Candidate[] }

async function findByVector(
  queries: SearchQueries,
  space: SpaceState,
  query: QueryVector,
  limit: number,
): Promise<VectorHalf> {
  const { generation, vector, embedder } = query
  const isBeside = generation.state === 'building' && space.generations.some(({ state }) => state === 'active')
  // What came in since the building began has no vector in the active generation.
  const since = isBeside ? { since: generation.createdAt } : {}
  const found = await queries.findByVector(space, { generation, vector, limit, ...since })
  const floor = embedder.semantics === false ? lexicalSimilarityFloor : Number.NEGATIVE_INFINITY
  return { ...query, found: found.filter(({ score }) => score >= floor) }
}

/** Candidates of all halves, once each, with what each half says of them. */
async function join(queries: SearchQueries, words: Candidate[], halves: VectorHalf[]): Promise<FusionInput[]> {
  const joined = new Map<string, FusionInput>()
  for (const { chunkId, score } of words) joined.set(chunkId, { chunkId, wordScore: score, similarity: null })
  for (const { found } of halves) {
    for (const { chunkId, score } of found) {
      const known = joined.get(chunkId) ?? { chunkId, wordScore: null, similarity: null }
      joined.set(chunkId, { ...known, similarity: known.similarity ?? score })
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

async function loadPassages(queries: SearchQueries, fused: Fused[], limit: number): Promise<Passage[]> {
  // Twice as many as asked for: some may be deleted meanwhile, and repeats go to the end.
  const best = fused.slice(0, limit * 2)
  const rows = await queries.loadPassages(best.map(({ chunkId }) => chunkId))
  const byId = new Map(rows.map((row) => [row.chunkId, row]))
  const passages = best.flatMap(({ chunkId, score }) => {
    const row = byId.get(chunkId)
    return row ? [{ ...row, score }] : []
  })
  return repeatsLast(passages).slice(0, limit)
}
