/** BM25's term saturation and length normalisation: the best of those tried on the evaluation sets, see docs/decisions/0038-ranking-weights.md. */
export const bm25K1 = 1
export const bm25B = 0.5

/**
 * Most terms of a query that are ranked by: those that can add the most to a score. Of 32, 40, 48 and 64 the smallest with the recall of 64 on both
 * sets of conversations (`npm run eval:answers -- --only conversations`); the time of a long query grows with it on both engines.
 */
export const maximumRankedTerms = 40

/**
 * A term of a longer query that can add less than this share of what its best term can add is left out: every other one of a long conversation,
 * with the same recall (docs/decisions/0038-ranking-weights.md).
 */
const leastShare = 0.02

export interface QueryTerm {
  /** The terms it may have in the Space, one for each way to stem it; they count as one word. */
  variants: readonly number[]
  /** By its frequency in the query; less for a part of a word that the query also contains whole. */
  weight: number
}

/** How often each of the query's terms occurs in a chunk, and how long the chunk is. */
export interface TermCounts {
  chunkId: string
  /** All terms of the chunk, repeats counted. */
  length: number
  /** One for each variant of each term of the query, in their order. */
  counts: readonly number[]
}

/** Chunks of a Space and their mean length in terms. */
export interface SpaceStatistics {
  chunks: number
  averageLength: number
}

/** What the formula adds to a term's occurrences in its divisor: `base`, and `perTerm` for each term of the chunk. */
export interface Bm25Norm {
  base: number
  perTerm: number
}

export function bm25Norm({ averageLength }: Pick<SpaceStatistics, 'averageLength'>): Bm25Norm {
  return { base: bm25K1 * (1 - bm25B), perTerm: (bm25K1 * bm25B) / Math.max(1, averageLength) }
}

/**
 * What `occurrences` of a variant of this weight add to the score of a chunk of `length` terms. Both engines rank by it; PostgreSQL's BM25
 * indexes have the same k1 and b.
 */
export function bm25Score(weight: number, occurrences: number, length: number, { base, perTerm }: Bm25Norm): number {
  return (weight * occurrences * (bm25K1 + 1)) / (occurrences + base + perTerm * length)
}

/**
 * Orders chunks by BM25, best first; ties by id, so that the order is stable. `hits` are all chunks that contain any of the terms, or
 * `frequencies` has the number of those that contain each variant.
 */
export function rankByBm25(
  hits: readonly TermCounts[],
  {
    chunks,
    averageLength,
    terms,
    frequencies = countHits(hits, terms),
  }: SpaceStatistics & { terms: readonly QueryTerm[]; frequencies?: readonly number[] },
): { chunkId: string; score: number }[] {
  const weights = variantWeights(terms, frequencies, chunks)
  const norm = bm25Norm({ averageLength })
  return hits
    .map(({ chunkId, length, counts }) => ({
      chunkId,
      score: sumOf(counts.map((count, variant) => bm25Score(weights[variant]!, count, length, norm))),
    }))
    .sort((left, right) => right.score - left.score || (left.chunkId < right.chunkId ? -1 : 1))
}

/** How many of the hits contain each variant of the terms, in their order. */
export function countHits(hits: readonly TermCounts[], terms: readonly QueryTerm[]): number[] {
  return allVariants(terms).map((_, variant) => hits.filter((hit) => hit.counts[variant]! > 0).length)
}

export function allVariants(terms: readonly QueryTerm[]): number[] {
  return terms.flatMap(({ variants }) => variants)
}

/**
 * The weight of each variant, in their order. All variants of a word weigh the same, by how many chunks contain any of them: a
 * spelling that is rare by mistake, as in a chunk whose language was detected wrongly, does not count as a rare word.
 */
export function variantWeights(terms: readonly QueryTerm[], frequencies: readonly number[], chunks: number): number[] {
  let start = 0
  return terms.flatMap(({ variants, weight: share }) => {
    const weight = share * inverseFrequency(chunks, sumOf(frequencies.slice(start, (start += variants.length))))
    return variants.map(() => weight)
  })
}

/** The terms that can add the most to a score, without those that no chunk contains: of a long query at most `maximumRankedTerms`. */
export function chooseTerms(
  terms: readonly QueryTerm[],
  frequencyOf: (variant: number) => number,
  chunks: number,
): QueryTerm[] {
  const weighed = terms.flatMap((term) => {
    const frequency = sumOf(term.variants.map(frequencyOf))
    return frequency === 0 ? [] : [{ term, weight: term.weight * inverseFrequency(chunks, frequency) }]
  })
  if (weighed.length <= maximumRankedTerms) return weighed.map(({ term }) => term)
  weighed.sort((left, right) => right.weight - left.weight)
  const least = weighed[0]!.weight * leastShare
  return weighed
    .slice(0, maximumRankedTerms)
    .filter(({ weight }) => weight >= least)
    .map(({ term }) => term)
}

/** BM25's inverse document frequency of a term that `frequency` of `chunks` chunks contain; never negative. */
export function inverseFrequency(chunks: number, frequency: number): number {
  return Math.log(1 + (Math.max(chunks, frequency) - frequency + 0.5) / (frequency + 0.5))
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
