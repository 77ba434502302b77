import type { Candidate } from './engine.ts'

export interface FusionOptions {
  /** Share of the vectors in the fused score, 0..1; the rest is the lexical share. */
  vectorWeight: number
}

export interface Fused {
  chunkId: string
  /** 0..1, comparable within one search. */
  score: number
}

/**
 * Convex combination of both scores, each scaled to 0..1: the best lexical score becomes 1 and no match 0; the best similarity
 * becomes 1 and the worst 0. Unlike ranks, scores keep how far the first candidate is ahead; a score that hardly differs
 * between candidates then changes little. Best first; ties by id, so that the order is stable.
 */
export function fuse(candidates: readonly Candidate[], { vectorWeight }: FusionOptions): Fused[] {
  const bestLexical = Math.max(0, ...candidates.map((candidate) => candidate.lexicalScore ?? 0))
  const similarities = candidates.map((candidate) => candidate.similarity).filter(isNumber)
  const bestSimilarity = Math.max(...similarities)
  const range = bestSimilarity - Math.min(...similarities)
  return candidates
    .map(({ chunkId, lexicalScore, similarity }) => {
      const lexical = bestLexical > 0 ? (lexicalScore ?? 0) / bestLexical : 0
      const vector = isNumber(similarity) && range > 0 ? 1 - (bestSimilarity - similarity) / range : 0
      // Where one of them found nothing, the other alone decides.
      const weight = bestLexical === 0 ? 1 : similarities.length === 0 ? 0 : vectorWeight
      return { chunkId, score: weight * vector + (1 - weight) * lexical }
    })
    .sort((left, right) => right.score - left.score || (left.chunkId < right.chunkId ? -1 : 1))
}

/** Moves repeats of a text to the end, without dropping any: a list that is cut at k is still k long where k exist. */
export function repeatsLast<Item extends { text: string }>(items: readonly Item[]): Item[] {
  const seen = new Set<string>()
  const repeats: Item[] = []
  const first = items.filter((item) => {
    const text = item.text.replaceAll(/\s+/g, ' ').trim()
    if (!seen.has(text)) {
      seen.add(text)
      return true
    }
    repeats.push(item)
    return false
  })
  return [...first, ...repeats]
}

function isNumber(value: number | null): value is number {
  return value !== null && Number.isFinite(value)
}
