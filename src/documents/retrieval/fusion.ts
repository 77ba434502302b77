import type { Candidate, QueryVector, SpaceScope } from './engine.ts'
import type { Database } from '../../platform/database/index.ts'
import { loadVectorCheck, type VectorCheck } from './corpus/vector-checks.store.ts'

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
