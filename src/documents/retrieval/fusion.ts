import type { Candidate, CandidateQuery, QueryVector, Ranking, SpaceScope } from './engine.ts'
import type { Database } from '../../platform/database/index.ts'
import { loadVectorCheck, type VectorCheck } from './corpus/vector-checks.store.ts'
import type { EmbeddingVersion } from './corpus/embedding-versions.store.ts'
import type { QueryTerm } from './lexical/bm25.ts'

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

type VectorResult = QueryVector & { found: ScoredChunk[] }

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

export interface FusionOptions {
  /** Share of the vectors in the fused score, 0..1; the rest is the lexical share. */
  vectorWeight: number
}

export interface Fused {
  chunkId: string
  /** 0..1, comparable within one search. */
  score: number
}

/** Both scores of a candidate scaled to 0..1, and their weighted sum. */
export interface FusedScores {
  lexical: number
  vector: number
  score: number
}

/**
 * Convex combination of both scores, each scaled to 0..1: the best lexical score becomes 1 and no match 0; the best similarity
 * becomes 1 and the worst 0. Unlike ranks, scores keep how far the first candidate is ahead; a score that hardly differs
 * between candidates then changes little. Best first; ties by id, so that the order is stable.
 */
export function fuse(candidates: readonly Candidate[], options: FusionOptions): Fused[] {
  const { scoresOf } = createFusion(candidates, options)
  return candidates
    .map((candidate) => ({ chunkId: candidate.chunkId, score: scoresOf(candidate).score }))
    .sort((left, right) => right.score - left.score || (left.chunkId < right.chunkId ? -1 : 1))
}

/** The scores of candidates among all candidates of their search, and the share of the vectors in them. */
export function createFusion(candidates: readonly Candidate[], { vectorWeight }: FusionOptions) {
  const bestLexical = Math.max(0, ...candidates.map((candidate) => candidate.lexicalScore ?? 0))
  const similarities = candidates.map((candidate) => candidate.similarity).filter(isNumber)
  const bestSimilarity = Math.max(...similarities)
  const range = bestSimilarity - Math.min(...similarities)
  // Where one of them found nothing, the other alone decides.
  const weight = bestLexical === 0 ? 1 : similarities.length === 0 ? 0 : vectorWeight
  return {
    vectorWeight: weight,
    scoresOf({ lexicalScore, similarity }: Candidate): FusedScores {
      const lexical = bestLexical > 0 ? (lexicalScore ?? 0) / bestLexical : 0
      const vector = isNumber(similarity) && range > 0 ? 1 - (bestSimilarity - similarity) / range : 0
      return { lexical, vector, score: weight * vector + (1 - weight) * lexical }
    },
  }
}

/** Moves repeats of a text to the end, without dropping any: a list that is cut at k is still k long where k exist. */
export function repeatsLast<Item extends { text: string }>(items: readonly Item[]): Item[] {
  const repeats = findRepeats(items)
  return [...items.filter((item) => !repeats.has(item)), ...repeats]
}

/** The items with the text of an earlier one, in their order. */
export function findRepeats<Item extends { text: string }>(items: readonly Item[]): Set<Item> {
  const seen = new Set<string>()
  return new Set(
    items.filter((item) => {
      // Not /\s+/: replacing each single space of a text by itself takes several times longer.
      const text = item.text.replaceAll(/\s{2,}|[^\S ]/g, ' ').trim()
      if (seen.has(text)) return true
      seen.add(text)
      return false
    }),
  )
}

function isNumber(value: number | null): value is number {
  return value !== null && Number.isFinite(value)
}

/** The share of the vectors in the fused score, 0..1, and why. */
export interface VectorShare {
  weight: number
  /**
   * `given`: of the caller. `spelling`: of the built-in embedder. `start`: the Space has too few passages to choose, or no choice yet.
   * `checked`: chosen by questions made from the Space.
   */
  origin: 'given' | 'spelling' | 'start' | 'checked'
  /** Where it is `checked`. */
  check: VectorCheck | null
}

const spellingWeight = 0.03
/** Lower than what is best for good models: of a weak one, it costs little. */
const startWeight = 0.2
/** How long a choice is kept in memory: another instance may have made a new one. */
const keptMs = 60_000
const maximumKept = 1_000

/** Reads the choices of `checkDueSpaces`, each at most once a minute. */
export function createVectorShares(database: Database, { nowMs = () => performance.now() } = {}) {
  const kept = new Map<string, { check: VectorCheck | null; readMs: number }>()

  async function load(scope: SpaceScope, versionId: number, signal: AbortSignal): Promise<VectorCheck | null> {
    const key = `${scope.organisationId} ${scope.spaceId} ${versionId}`
    const known = kept.get(key)
    if (known && nowMs() - known.readMs < keptMs) return known.check
    const check = await loadVectorCheck(database, scope, versionId, signal)
    kept.delete(key)
    kept.set(key, { check, readMs: nowMs() })
    for (const oldest of kept.keys()) {
      if (kept.size <= maximumKept) break
      kept.delete(oldest)
    }
    return check
  }

  return {
    /** By the first vector: that of the version which answers searches, or of the one being built where the other is not available. */
    async of(scope: SpaceScope, vectors: readonly QueryVector[], signal: AbortSignal): Promise<VectorShare> {
      const [first] = vectors
      if (!first?.hasSemantics) return { weight: spellingWeight, origin: 'spelling', check: null }
      const check = await load(scope, first.version.id, signal)
      const weight = check?.weight ?? null
      return weight === null
        ? { weight: startWeight, origin: 'start', check: null }
        : { weight, origin: 'checked', check }
    },
  }
}
