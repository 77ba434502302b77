/** BM25's term saturation and length normalisation: the best of those tried on the shared sets, see docs/retrieval.md. */
export const bm25K1 = 1.5
export const bm25B = 0.75

/** How much a term tells that `frequency` of `chunks` chunks hold; never negative. */
export function bm25Weight(chunks: number, frequency: number): number {
  return Math.log(1 + (Math.max(chunks, frequency) - frequency + 0.5) / (frequency + 0.5))
}
