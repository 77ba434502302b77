import { AppError, anySignal, describeError, type Log, silentLog } from '../kernel/index.ts'
import { analyseQuery, maximumQueryCharacters } from './lexical/analyse-text.ts'
import {
  type CandidateRequest,
  findCandidates,
  findResidentCandidates,
  type QueryVector,
} from './engines/candidates.ts'
import { fuse, type Fused, type FusionInput, repeatsLast } from './fusion.ts'
import type { IndexStore } from './search-index.ts'
import type { Embedder, Passage, Retrieval, SearchRequest } from './port.ts'
import type { SearchQueries } from './corpus/passages.store.ts'
import type { SpaceState } from './corpus/space-state.store.ts'

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
/** Characters of a query that are embedded: more than any embedder's input. */
const maximumEmbeddedCharacters = 8_000
const defaultTimeoutMs = 15_000
/** Each half brings more candidates than are asked for, so that a chunk that is good in both can win. */
const candidatesPerResult = 4
const minimumCandidates = 50
const semanticVectorWeight = 0.6
const lexicalVectorWeight = 0.03
/** Looks into memory before the database is asked instead: each finds one kind of staleness, such as a deleted document. */
const memoryAttempts = 3

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
    return (await findInMemory(request)) ?? findInDatabase(request)
  }

  async function findInDatabase(request: SearchRequest): Promise<Passage[]> {
    const { signal } = request
    const space = await index.search.loadSpace(request, { signal })
    index.resident?.consider(request, space.chunks)
    if (space.chunks === 0) return []
    const query = await prepare(request, space)
    return index.search.read(request, { signal }, async (queries) => {
      const candidates = await findCandidates(queries, space, query)
      return (await loadPassages(queries, rank(candidates, query), request)).passages
    })
  }

  /** Null: the Space is not in memory, or what is there is of no use: the database answers. */
  async function findInMemory(request: SearchRequest): Promise<Passage[] | null> {
    const { signal, spaceId } = request
    const space = index.resident?.find(request)
    if (!space) return null
    const query = await prepare(request, space)
    for (let attempt = 0; attempt < memoryAttempts; attempt++) {
      const candidates = await findResidentCandidates(index.search.queriesOf(request, { signal }), space, query, signal)
      if (!candidates) return null
      const fused = rank(candidates, query)
      const { passages, missing, isFull } = await loadPassages(
        index.search.queriesOf(request, { signal }),
        fused,
        request,
      )
      const documents = new Map(candidates.map(({ chunkId, documentId }) => [chunkId, documentId]))
      const stale = new Set(missing.map((chunkId) => documents.get(chunkId)).filter((id) => id !== undefined))
      if (stale.size === 0) return passages
      // Deleted, or not to be found yet: the memory is put right, and asked again where the answer came out short.
      await index.resident?.settle(spaceId, [...stale])
      if (isFull) return passages
    }
    return null
  }

  /** The query as the Space's words and vectors see it. */
  async function prepare(
    request: SearchRequest,
    space: Pick<SpaceState, 'languages' | 'hasFormerTerms' | 'generations'>,
  ): Promise<CandidateRequest> {
    const { spaceId, query } = request
    return {
      terms: await analyseQuery(spaceId, query, space),
      vectors: await embedQuery({ ...request, query: endsOf(query) }, space),
      limit: Math.max(request.limit * candidatesPerResult, minimumCandidates),
    }
  }

  function rank(candidates: readonly FusionInput[], { vectors }: CandidateRequest): Fused[] {
    const semantics = vectors.some(({ embedder }) => embedder.semantics !== false)
    const vectorWeight = dependencies.vectorWeight ?? (semantics ? semanticVectorWeight : lexicalVectorWeight)
    return fuse(candidates, { vectorWeight })
  }

  /** The query as each live generation's embedder sees it; of the active one, and of one that is being built. */
  async function embedQuery(request: SearchRequest, space: Pick<SpaceState, 'generations'>): Promise<QueryVector[]> {
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

/** Of a long query its beginning and its end: one of them says what is asked. */
function endsOf(query: string): string {
  if (query.length <= maximumEmbeddedCharacters) return query
  const half = maximumEmbeddedCharacters / 2
  return `${query.slice(0, half)}\n${query.slice(-half)}`.toWellFormed()
}

/** `missing`: of the best, those that the database does not show; `isFull`: no more passages would be taken. */
async function loadPassages(
  queries: Pick<SearchQueries, 'loadPassages'>,
  fused: Fused[],
  { limit, maximumBytes = Number.POSITIVE_INFINITY }: Pick<SearchRequest, 'limit' | 'maximumBytes'>,
): Promise<{ passages: Passage[]; missing: string[]; isFull: boolean }> {
  // Twice as many as asked for: some may be deleted meanwhile, and repeats go to the end.
  const best = fused.slice(0, limit * 2)
  const rows = await queries.loadPassages(best.map(({ chunkId }) => chunkId))
  const byId = new Map(rows.map((row) => [row.chunkId, row]))
  const passages = best.flatMap(({ chunkId, score }) => {
    const row = byId.get(chunkId)
    return row ? [{ ...row, score }] : []
  })
  const missing = best.map(({ chunkId }) => chunkId).filter((chunkId) => !byId.has(chunkId))
  const wanted = repeatsLast(passages).slice(0, limit)
  const fit = fitting(wanted, maximumBytes)
  return { passages: fit, missing, isFull: wanted.length === limit || fit.length < wanted.length }
}

/** Passages in order of rank until one does not fit; the first is always taken. */
function fitting(passages: Passage[], maximumBytes: number): Passage[] {
  let bytes = 0
  const end = passages.findIndex((passage, index) => {
    bytes += Buffer.byteLength(passage.text) + Buffer.byteLength(passage.tableHeader ?? '')
    return index > 0 && bytes > maximumBytes
  })
  return end < 0 ? passages : passages.slice(0, end)
}
