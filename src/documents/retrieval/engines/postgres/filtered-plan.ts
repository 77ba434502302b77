/** A search with a filter in a Space with indexes. */
interface FilteredSearch {
  /** Chunks that match the filter, and all of the Space. */
  matching: number
  all: number
  /** Candidates that are wanted. */
  limit: number
}

/** `index`: an index is read until enough rows match. `scan`: all matching chunks are compared with the query. */
export interface FilteredPlan {
  terms: 'index' | 'scan'
  vectors: 'index' | 'scan'
}

/** Rows of the BM25 index for each one that would be enough if the matching chunks were spread evenly. */
export const spareShare = 1.5
/**
 * Comparing the terms of a chunk takes about as long as reading a row of the BM25 index. Vectors that are compared in the time of one visit
 * in an HNSW index: 0.2 ms and 1.5 µs at 100,000 chunks of 384 dimensions (bench/search.ts), with a margin for vectors that are not in memory.
 */
const comparedVectors = 64

/** What is cheaper: the more a filter excludes, the more rows of an index are read in vain. */
export function planFiltered({ matching, all, limit }: FilteredSearch): FilteredPlan {
  const read = (limit * all) / Math.max(1, matching)
  return {
    terms: matching <= spareShare * read ? 'scan' : 'index',
    vectors: matching <= comparedVectors * read ? 'scan' : 'index',
  }
}
