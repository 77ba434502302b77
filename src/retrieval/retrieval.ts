import { AppError, anySignal, describeError, type Log, silentLog } from '../kernel/index.ts'
import { analyseQuery, maximumQueryCharacters } from './analysis/analyse-text.ts'
import { fuse, type FusionInput, repeatsLast } from './fusion.ts'
import type { Generation } from './generations.store.ts'
import type { IndexStore } from './index.store.ts'
import type { Embedder, Passage, Retrieval, SearchRequest } from './port.ts'
import type { Candidate, SearchStore, SpaceState } from './search.store.ts'

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
    const wanted = Math.max(limit * candidatesPerResult, minimumCandidates)
    const terms = analyseQuery(spaceId, request.query, space.languages)
    const [words, vectors] = await Promise.all([
      index.search.findByWords(request, space, { terms, limit: wanted }, { signal }),
      findByVectors(request, space, wanted),
    ])
    const candidates = await join(request, words, vectors)
    const semantics = vectors.some((half) => half.embedder.semantics !== false)
    const vectorWeight = dependencies.vectorWeight ?? (semantics ? semanticVectorWeight : lexicalVectorWeight)
    const fused = fuse(candidates, { vectorWeight })
    return loadPassages(request, fused)
  }

  /** One result for each generation that has an embedder: the active one, and for new documents the one being built. */
  async function findByVectors(request: SearchRequest, space: SpaceState, limit: number): Promise<VectorHalf[]> {
    const active = space.generations.find((generation) => generation.state === 'active')
    const halves = await Promise.all(
      space.generations.map(async (generation): Promise<VectorHalf | null> => {
        const embedder = embedders.get(generation.embedderId)
        if (!embedder) {
          log.warn({ embedder: generation.embedderId }, 'no embedder for an index that answers searches: words only')
          return null
        }
        const vector = await embedQuery(embedder, request)
        if (!vector) return null
        const since = generation.state === 'building' && active ? { since: generation.createdAt } : {}
        const found = await index.search.findByVector(
          request,
          space,
          { generation, vector, limit, ...since },
          { signal: request.signal },
        )
        const floor = embedder.semantics === false ? lexicalSimilarityFloor : Number.NEGATIVE_INFINITY
        return { generation, embedder, vector, found: found.filter(({ score }) => score >= floor) }
      }),
    )
    return halves.filter((half) => half !== null)
  }

  /** Null: the embedder failed; words alone then answer, which is better than no answer. */
  async function embedQuery(embedder: Embedder, request: SearchRequest): Promise<Float32Array | null> {
    const { query, organisationId, spaceId, signal } = request
    try {
      const [vector] = await embedder.embed({ texts: [query], purpose: 'query', organisationId, spaceId, signal })
      return vector && vector.some((value) => value !== 0) ? vector : null
    } catch (error) {
      signal.throwIfAborted()
      log.warn({ embedder: embedder.id, error: describeError(error) }, 'the query could not be embedded: words only')
      return null
    }
  }

  async function join(request: SearchRequest, words: Candidate[], halves: VectorHalf[]): Promise<FusionInput[]> {
    const joined = new Map<string, FusionInput>()
    for (const { chunkId, score } of words) joined.set(chunkId, { chunkId, wordScore: score, similarity: null })
    for (const { found } of halves) {
      for (const { chunkId, score } of found) {
        const known = joined.get(chunkId) ?? { chunkId, wordScore: null, similarity: null }
        joined.set(chunkId, { ...known, similarity: known.similarity ?? score })
      }
    }
    for (const { generation, vector } of halves) {
      const unknown = [...joined.values()].filter(({ similarity }) => similarity === null).map(({ chunkId }) => chunkId)
      if (unknown.length === 0) break
      const request_ = { generation, vector, chunkIds: unknown }
      for (const { chunkId, score } of await loadSimilarities(request, request_)) {
        joined.get(chunkId)!.similarity = score
      }
    }
    return [...joined.values()]
  }

  function loadSimilarities(request: SearchRequest, wanted: Parameters<SearchStore['loadSimilarities']>[1]) {
    return index.search.loadSimilarities(request, wanted, { signal: request.signal })
  }

  async function loadPassages(request: SearchRequest, fused: { chunkId: string; score: number }[]): Promise<Passage[]> {
    // Twice as many as asked for: some may be deleted meanwhile, and repeats go to the end.
    const best = fused.slice(0, request.limit * 2)
    const rows = await index.search.loadPassages(
      request,
      best.map(({ chunkId }) => chunkId),
      { signal: request.signal },
    )
    const byId = new Map(rows.map((row) => [row.chunkId, row]))
    const passages = best.flatMap(({ chunkId, score }) => {
      const row = byId.get(chunkId)
      return row ? [{ ...row, score }] : []
    })
    return repeatsLast(passages).slice(0, request.limit)
  }
}

interface VectorHalf {
  generation: Generation
  embedder: Embedder
  vector: Float32Array
  found: Candidate[]
}
