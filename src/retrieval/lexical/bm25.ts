/** BM25's term saturation and length normalisation: the best of those tried on the shared sets, see docs/retrieval.md. */
export const bm25K1 = 1
export const bm25B = 0.5

/** Most words of a query that are ranked by; the ones that can add the most to a score. */
export const maximumRankedWords = 64

/** A word of a query. */
export interface QueryTerm {
  /** The terms it may have in the Space, one for each way to stem it; they count as one word. */
  variants: readonly number[]
  /** By how often it occurs in the query; less for a part of a word that is there as well. */
  weight: number
}

/** How often each of the query's terms stands in a chunk, and how long the chunk is. */
export interface TermCounts {
  chunkId: string
  /** All terms of the chunk, repeats counted. */
  length: number
  /** One for each variant of each term of the query, in their order. */
  counts: readonly number[]
}

export interface RankingContext {
  /** Chunks of the Space and their mean length. */
  chunks: number
  averageLength: number
  terms: readonly QueryTerm[]
  /** How many chunks hold each variant; undefined: counted among `hits`, which then are all that hold any. */
  frequencies?: readonly number[]
}

/** Orders chunks by BM25, best first; ties by id, so that the order is stable. */
export function rankByBm25(
  hits: readonly TermCounts[],
  { chunks, averageLength, terms, frequencies }: RankingContext,
): { chunkId: string; score: number }[] {
  const known =
    frequencies ?? allVariants(terms).map((_, variant) => hits.filter((hit) => hit.counts[variant]! > 0).length)
  const weights = variantWeights(terms, known, chunks)
  return hits
    .map(({ chunkId, length, counts }) => {
      const damping = bm25K1 * (1 - bm25B + (bm25B * length) / Math.max(1, averageLength))
      const score = counts.reduce(
        (sum, count, variant) =>
          sum + (count === 0 ? 0 : (weights[variant]! * count * (bm25K1 + 1)) / (count + damping)),
        0,
      )
      return { chunkId, score }
    })
    .sort((left, right) => right.score - left.score || (left.chunkId < right.chunkId ? -1 : 1))
}

export function allVariants(terms: readonly QueryTerm[]): number[] {
  return terms.flatMap(({ variants }) => variants)
}

/**
 * The weight of each variant, in their order: all of one word weigh the same, by how many chunks hold any of them. A spelling that
 * is rare by mistake, as in a chunk whose language was mistaken, is then no rare word.
 */
export function variantWeights(terms: readonly QueryTerm[], frequencies: readonly number[], chunks: number): number[] {
  let start = 0
  return terms.flatMap(({ variants, weight: share }) => {
    const weight = share * bm25Weight(chunks, sumOf(frequencies.slice(start, (start += variants.length))))
    return variants.map(() => weight)
  })
}

/** The words that can add the most to a score, at most `maximumRankedWords`; those that no chunk holds are left out. */
export function chooseTerms(
  terms: readonly QueryTerm[],
  frequencyOf: (variant: number) => number,
  chunks: number,
): QueryTerm[] {
  const weighed = terms.flatMap((term) => {
    const frequency = sumOf(term.variants.map(frequencyOf))
    return frequency === 0 ? [] : [{ term, weight: term.weight * bm25Weight(chunks, frequency) }]
  })
  if (weighed.length > maximumRankedWords) weighed.sort((left, right) => right.weight - left.weight)
  return weighed.slice(0, maximumRankedWords).map(({ term }) => term)
}

/** How much a term tells that `frequency` of `chunks` chunks hold; never negative. */
export function bm25Weight(chunks: number, frequency: number): number {
  return Math.log(1 + (Math.max(chunks, frequency) - frequency + 0.5) / (frequency + 0.5))
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
