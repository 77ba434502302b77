/** What both halves of a hybrid search found, made into one order. */

export interface FusionInput {
  chunkId: string
  /** BM25, 0 or more; null: not found by words. */
  wordScore: number | null
  /** Cosine similarity; null: not known. */
  similarity: number | null
}

export interface FusionOptions {
  /** Share of the vectors in the fused score, 0..1; the rest are words. */
  vectorWeight: number
}

export interface Fused {
  chunkId: string
  /** 0..1, comparable within one search. */
  score: number
}

/**
 * Convex combination of scores that each half has scaled to 0..1: the best word score is 1 and no match is 0; the best
 * similarity is 1 and the worst candidate 0. Scores keep what ranks throw away, how far the first is ahead; a half that
 * cannot tell its candidates apart then changes little. Best first; ties by id, so that the order is stable.
 */
export function fuse(candidates: readonly FusionInput[], { vectorWeight }: FusionOptions): Fused[] {
  const bestWord = Math.max(0, ...candidates.map((candidate) => candidate.wordScore ?? 0))
  const similarities = candidates.map((candidate) => candidate.similarity).filter(isNumber)
  const bestSimilarity = Math.max(...similarities)
  const range = bestSimilarity - Math.min(...similarities)
  return candidates
    .map(({ chunkId, wordScore, similarity }) => {
      const words = bestWord > 0 ? (wordScore ?? 0) / bestWord : 0
      const vector = isNumber(similarity) && range > 0 ? 1 - (bestSimilarity - similarity) / range : 0
      // With one half silent the other decides alone, whatever its weight.
      const weight = bestWord === 0 ? 1 : similarities.length === 0 ? 0 : vectorWeight
      return { chunkId, score: weight * vector + (1 - weight) * words }
    })
    .sort((left, right) => right.score - left.score || (left.chunkId < right.chunkId ? -1 : 1))
}

/**
 * Puts repeats of a text behind everything that says something new, without dropping any: a list that is cut at k stays k
 * long where k exist.
 */
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
