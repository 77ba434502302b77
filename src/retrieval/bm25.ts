/** BM25's term saturation and length normalisation: the best of those tried on the shared sets, see docs/retrieval.md. */
export const bm25K1 = 1.5
export const bm25B = 0.75

/** How often each of the query's terms stands in a chunk, and how long the chunk is. */
export interface TermCounts {
  chunkId: string
  /** All terms of the chunk, repeats counted. */
  length: number
  /** One for each term of the query, in its order. */
  counts: readonly number[]
}

export interface RankingContext {
  /** Chunks of the Space and their mean length. */
  chunks: number
  averageLength: number
  /** How many chunks hold each term of the query; undefined: counted among `hits`, which then are all that hold any. */
  frequencies?: readonly number[]
}

/** Orders chunks by BM25, best first; ties by id, so that the order is stable. */
export function rankByBm25(
  hits: readonly TermCounts[],
  { chunks, averageLength, frequencies }: RankingContext,
): { chunkId: string; score: number }[] {
  const terms = hits[0]?.counts.length ?? 0
  const weights = Array.from({ length: terms }, (_, term) =>
    bm25Weight(chunks, frequencies?.[term] ?? hits.reduce((sum, hit) => sum + (hit.counts[term]! > 0 ? 1 : 0), 0)),
  )
  return hits
    .map(({ chunkId, length, counts }) => {
      const damping = bm25K1 * (1 - bm25B + (bm25B * length) / Math.max(1, averageLength))
      const score = counts.reduce(
        (sum, count, term) => sum + (count === 0 ? 0 : (weights[term]! * count * (bm25K1 + 1)) / (count + damping)),
        0,
      )
      return { chunkId, score }
    })
    .sort((left, right) => right.score - left.score || (left.chunkId < right.chunkId ? -1 : 1))
}

/** How much a term tells that `frequency` of `chunks` chunks hold; never negative. */
export function bm25Weight(chunks: number, frequency: number): number {
  return Math.log(1 + (Math.max(chunks, frequency) - frequency + 0.5) / (frequency + 0.5))
}
