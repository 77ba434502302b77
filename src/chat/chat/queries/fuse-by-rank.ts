import type { Passage } from '../../../documents/retrieval/index.ts'

/** The result of one of several searches for the same question. */
export interface RankedPassages {
  /** The best first. */
  passages: readonly Passage[]
  weight: number
}

/** Damps the difference between the first ranks; the value of Cormack, Clarke and Buettcher (SIGIR 2009). */
const rankOffset = 60

/** Weighted reciprocal rank fusion: each passage once, the best first, with a score of 0 to 1. Scores of different queries are not comparable, ranks are. */
export function fuseByRank(results: readonly RankedPassages[]): Passage[] {
  const highest = results.reduce((sum, { weight }) => sum + weight, 0) / (rankOffset + 1)
  const fused = new Map<string, Passage>()
  for (const { passages, weight } of results) {
    for (const [index, passage] of passages.entries()) {
      const score = weight / (rankOffset + 1 + index) / highest
      fused.set(passage.chunkId, { ...passage, score: (fused.get(passage.chunkId)?.score ?? 0) + score })
    }
  }
  // Sorting is stable: equal scores keep the order of the first search.
  return [...fused.values()].sort((left, right) => right.score - left.score)
}
