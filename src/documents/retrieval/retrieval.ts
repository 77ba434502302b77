import type { SpendLimit } from '../../gateway/billing/index.ts'
import {
  anySignal,
  AppError,
  cutMiddle,
  describeError,
  type Log,
  type OrganisationId,
  runStep,
  silentLog,
  type SpaceId,
  type Telemetry,
} from '../../platform/kernel/index.ts'
import type { EmbeddingVersion } from './corpus/embedding-versions.store.ts'
import { loadPassages, type Passage, type StoredPassage } from './corpus/passages.store.ts'
import type { Embedder } from './embedders/embedder.ts'
import type { QueryVector, ReadScope, SpaceSearch } from './engine.ts'
import { createExplainer, type Explainer, type ExplainSearch, type PreparedQuery } from './explanation.ts'
import { createVectorShares, findRepeats, fuse, type Fused, repeatsLast, type VectorShare } from './fusion.ts'
import { analyseWithContext, type ContextText, maximumQueryCharacters } from './lexical/analyse-text.ts'
import type { Reranked, RerankQuestion, RerankStage } from './rerankers/rerank-stage.ts'
import type { SearchIndex } from './search-index.ts'

interface SearchRequest extends ReadScope {
  query: string
  /** Texts around the query, such as earlier turns: at most 8, of at most 8,000 characters; the rest is ignored. */
  context?: readonly ContextText[]
  /** Most passages. */
  limit: number
  /**
   * The question as a reranker compares it with passages; default `query`. null: in the order of the search, to be reranked together with
   * passages of other searches.
   */
  rerankText?: string | null
  /** Receives how the passages were found, before the search returns. Absent: nothing is recorded. Not called for an empty Space or query. */
  explain?: ExplainSearch
  /** What the calls of providers may cost; absent: as much as the budget has. */
  spending?: SpendLimit | undefined
  signal: AbortSignal
}

export interface Retrieval {
  /** Hybrid search in one Space over ready documents; never short of `limit` when that many chunks exist, match and fit. */
  search(request: SearchRequest): Promise<Passage[]>
  /** Most passages that `rerank` compares with a question; 0 where no reranker is configured. */
  readonly rerankSize: number
  /** Orders passages of several searches by the reranker; in their order where it fails or none is configured. */
  rerank(passages: readonly Passage[], request: RerankQuestion & Pick<SearchRequest, 'limit'>): Promise<Passage[]>
}

interface RetrievalDependencies {
  index: Pick<SearchIndex, 'engine' | 'database'>
  /** A search uses it where its index is complete. */
  embedder: Embedder
  /** Embedders of other indexes, which answer while a new one is being built. Each search reads them, so that more may be added. */
  otherEmbedders?: Iterable<Embedder>
  /** Orders the best candidates by a reranker. Absent: in the order of the fused scores. */
  rerankStage?: RerankStage
  /** null or absent: searches are not traced. */
  telemetry?: Telemetry | null
  /** Receives the duration of each search. */
  searchSeconds?: { observe(seconds: number): void }
  log?: Log
  /** Longest search; then it fails with `request_timeout`. */
  timeoutMs?: number
  /** Share of the vectors in the score, 0..1, for measurements; default by docs/decisions/0038-ranking-weights.md. */
  vectorWeight?: number
}

/** Most passages of one search. */
const maximumSearchLimit = 200
const maximumContextTexts = 8
const maximumContextCharacters = 8_000
const defaultTimeoutMs = 15_000
/** More candidates than passages are fetched, so that a chunk that is good by terms and by vectors can win. */
const candidatesPerResult = 4
const minimumCandidates = 50
/** Candidates are fetched again where some of the best have been deleted and passages are missing. */
const maximumAttempts = 4

/** Hybrid search in one Space: by terms (BM25) and by vectors, fused by score. */
export function createRetrieval(dependencies: RetrievalDependencies): Retrieval {
  const { telemetry, searchSeconds, timeoutMs = defaultTimeoutMs } = dependencies
  const embeddersById = () =>
    new Map([...(dependencies.otherEmbedders ?? []), dependencies.embedder].map((embedder) => [embedder.id, embedder]))
  const shares = createVectorShares(dependencies.index.database)

  async function search(request: SearchRequest): Promise<Passage[]> {
    const query = clean(request.query, maximumQueryCharacters)
    const context = (request.context ?? [])
      .slice(0, maximumContextTexts)
      .map(({ text, weight }) => ({ text: clean(text, maximumContextCharacters), weight }))
      .filter(({ text }) => hasWord(text))
    const limit = Math.min(Math.trunc(request.limit), maximumSearchLimit)
    if ((!hasWord(query) && context.length === 0) || limit < 1) return []
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      const signal = anySignal(request.signal, deadline)
      signal.throwIfAborted()
      return await findPassages(
        { ...dependencies, embedders: embeddersById(), shares, clientSignal: request.signal },
        { ...request, query, context, limit, signal },
      )
    } catch (error) {
      if (deadline.aborted && !request.signal.aborted) {
        throw new AppError('request_timeout', `The search took longer than ${timeoutMs} ms. Try again later.`, {
          cause: error,
        })
      }
      throw error
    }
  }

  return {
    async search(request) {
      const startMs = performance.now()
      const step = telemetry?.retrieval(request.spaceId)
      try {
        return await runStep(
          step,
          () => search(request),
          (passages) => passages.length,
        )
      } finally {
        searchSeconds?.observe((performance.now() - startMs) / 1000)
      }
    },
    rerankSize: dependencies.rerankStage?.size ?? 0,
    async rerank(passages, request) {
      const reranked = await dependencies.rerankStage?.rerank(passages, request)
      return selectPassages(reranked ? withScores(reranked) : passages, request)
    },
  }
}

function clean(text: string, maximumCharacters: number): string {
  return text.slice(0, maximumCharacters).replaceAll('\0', ' ').toWellFormed().trim()
}

function hasWord(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text)
}

type SearchParts = RetrievalDependencies & {
  embedders: ReadonlyMap<string, Embedder>
  shares: ReturnType<typeof createVectorShares>
  /** Without the time limit of the search. */
  clientSignal: AbortSignal
}

async function findPassages(parts: SearchParts, request: SearchRequest): Promise<Passage[]> {
  const { engine, database } = parts.index
  const explainer = request.explain && createExplainer(request.explain)
  const space = await engine.openSpace(request, request.signal)
  explainer?.finished('open')
  if (space.isEmpty) return []
  const query = await prepareQuery(parts, request, space, explainer)
  for (let attempt = 1; ; attempt++) {
    const candidates = await space.findCandidates(query)
    explainer?.finished('candidates')
    const ranked = fuse(candidates, query.ranking)
    const best = ranked.slice(0, bestOf(parts, request))
    explainer?.finished('rank')
    const { read, stored } = await readBest(parts, request, best)
    const found = joinPassages(best, stored)
    const selected = selectPassages(found, request)
    explainer?.finished('passages')
    const isComplete = stored.length === read.length
    if (!isComplete) {
      const stillThere = new Set(stored.map(({ chunkId }) => chunkId))
      await space.discard(read.filter((chunkId) => !stillThere.has(chunkId)))
    }
    if (isComplete || selected.length === request.limit || attempt === maximumAttempts) {
      const reranked = await rerankFound(parts, request, found)
      explainer?.finished('rerank')
      const final = reranked ? selectPassages(withScores(reranked), request) : selected
      const load = (ids: readonly string[]) => loadPassages(database, request, ids, request.signal)
      await explainer?.report({
        query,
        embedders: parts.embedders,
        candidates,
        ranked,
        stored,
        selected: final,
        reranking: reranked && { ...reranked, label: parts.rerankStage!.label, text: rerankTextOf(request) },
        load,
      })
      return final
    }
  }
}

/**
 * Reads `best`, twice as many as wanted, because some may be deleted meanwhile and repeats are moved to the end. The second half is read only
 * where the first one has too few different texts. `read`: the chunks that were looked up.
 */
async function readBest(
  parts: SearchParts,
  request: SearchRequest,
  best: readonly Fused[],
): Promise<{ read: string[]; stored: StoredPassage[] }> {
  const { database } = parts.index
  const chunkIds = best.map(({ chunkId }) => chunkId)
  const wanted = Math.max(request.limit, rerankSizeOf(parts, request))
  const first = chunkIds.slice(0, wanted)
  const stored = await loadPassages(database, request, first, request.signal)
  const isEnough = stored.length - findRepeats(stored).size >= wanted
  if (isEnough || chunkIds.length <= wanted) return { read: first, stored }
  const others = await loadPassages(database, request, chunkIds.slice(wanted), request.signal)
  return { read: chunkIds, stored: [...stored, ...others] }
}

/** Twice as many as wanted: `readBest` has the reasons. */
function bestOf(parts: SearchParts, request: SearchRequest): number {
  return Math.max(request.limit * 2, rerankSizeOf(parts, request))
}

function rerankSizeOf({ rerankStage }: SearchParts, { rerankText }: SearchRequest): number {
  return rerankText === null ? 0 : (rerankStage?.size ?? 0)
}

function rerankTextOf({ rerankText, query }: SearchRequest): string {
  return rerankText ?? query
}

/** Undefined: the order of the fused scores is wanted. A search that is nearly out of time is not lost: this stage has its own limit. */
async function rerankFound(
  { rerankStage, clientSignal }: SearchParts,
  request: SearchRequest,
  passages: readonly Passage[],
): Promise<Reranked<Passage> | undefined> {
  if (request.rerankText === null) return undefined
  return rerankStage?.rerank(passages, { ...request, text: rerankTextOf(request), signal: clientSignal })
}

function withScores({ passages, scores }: Reranked<Passage>): Passage[] {
  return passages.map((passage) => {
    const rerankScore = scores.get(passage.chunkId)
    return rerankScore === undefined ? passage : { ...passage, rerankScore }
  })
}

/** The query as terms, and as a vector of each live embedding version. */
async function prepareQuery(
  parts: SearchParts,
  request: SearchRequest,
  space: SpaceSearch,
  explainer: Explainer | undefined,
): Promise<PreparedQuery> {
  const terms = await analyseWithContext(request.spaceId, request.query, request.context ?? [], space)
  explainer?.finished('analyse')
  const vectors = await embedQuery(parts, request, space.embeddingVersions)
  explainer?.finished('embed')
  const wanted = Math.max(request.limit * candidatesPerResult, minimumCandidates, rerankSizeOf(parts, request))
  const share: VectorShare =
    parts.vectorWeight === undefined
      ? await parts.shares.of(request, vectors, request.signal)
      : { weight: parts.vectorWeight, origin: 'given', check: null }
  return {
    terms,
    vectors,
    limit: wanted,
    share,
    ranking: { vectorWeight: share.weight, best: bestOf(parts, request) },
  }
}

/** In the order of `best`. */
function joinPassages(best: readonly Fused[], stored: readonly StoredPassage[]): Passage[] {
  const byId = new Map(stored.map((row) => [row.chunkId, row]))
  return best.flatMap(({ chunkId, score }) => {
    const row = byId.get(chunkId)
    return row ? [{ ...row, score }] : []
  })
}

function selectPassages(passages: readonly Passage[], { limit }: Pick<SearchRequest, 'limit'>): Passage[] {
  return repeatsLast(passages).slice(0, limit)
}

/** Characters of a query that are embedded: more than any embedder's input. */
const maximumEmbeddedCharacters = 8_000
/** Most context texts that are embedded, those of the highest weight, and characters of each. They bound the time of a local model. */
const maximumEmbeddedTexts = 2
const maximumEmbeddedContextCharacters = 2_000

interface EmbedRequest {
  query: string
  context?: readonly ContextText[]
  organisationId: OrganisationId
  spaceId: SpaceId
  spending?: SpendLimit | undefined
  signal: AbortSignal
}

interface EmbedParts {
  embedders: ReadonlyMap<string, Embedder>
  log?: Log
}

/** The query as a vector of each live embedding version whose embedder answers. Next to a context: the weighted sum of their vectors. */
async function embedQuery(
  { embedders, log = silentLog }: EmbedParts,
  request: EmbedRequest,
  embeddingVersions: readonly EmbeddingVersion[],
): Promise<QueryVector[]> {
  const { organisationId, spaceId, spending, signal } = request
  const parts = partsOf(request)
  const texts = parts.map(({ text }) => text)
  const vectors = await Promise.all(
    embeddingVersions.map(async (version): Promise<QueryVector | null> => {
      const embedder = embedders.get(version.embedderId)
      if (!embedder) {
        log.warn(
          { embedder: version.embedderId },
          'no embedder for an index that answers searches: lexical search only',
        )
        return null
      }
      try {
        const vector = weightedSum(
          await embedder.embed({ texts, purpose: 'query', organisationId, spaceId, spending, signal }),
          parts,
        )
        const hasSemantics = embedder.semantics !== false
        return vector?.some((value) => value !== 0) ? { version, vector, hasSemantics } : null
      } catch (error) {
        signal.throwIfAborted()
        log.warn(
          { embedder: embedder.id, error: describeError(error) },
          'the query could not be embedded: lexical search only',
        )
        return null
      }
    }),
  )
  return vectors.filter((vector) => vector !== null)
}

/** Of long texts the beginning and the end: the question is usually in one of them. */
function partsOf({ query, context = [] }: EmbedRequest): ContextText[] {
  const heaviest = context.toSorted((left, right) => right.weight - left.weight).slice(0, maximumEmbeddedTexts)
  return [
    { text: cutMiddle(query, maximumEmbeddedCharacters), weight: 1 },
    ...heaviest.map(({ text, weight }) => ({ text: cutMiddle(text, maximumEmbeddedContextCharacters), weight })),
  ].filter(({ text }) => text !== '')
}

/** Some providers' vectors are not of length 1, so each counts by its direction. A single vector stays as it is. */
function weightedSum(vectors: readonly Float32Array[], parts: readonly ContextText[]): Float32Array | undefined {
  const [first] = vectors
  if (!first || vectors.length === 1) return first
  const sum = new Float32Array(first.length)
  for (const [part, vector] of vectors.entries()) {
    const share = parts[part]!.weight / (Math.hypot(...vector) || 1)
    for (let index = 0; index < sum.length; index++) sum[index]! += share * vector[index]!
  }
  const length = Math.hypot(...sum) || 1
  return sum.map((value) => value / length)
}
