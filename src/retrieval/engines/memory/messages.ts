import type { QueryTerm } from '../../lexical/bm25.ts'

/** What the main thread and the thread of the resident index say to each other. */

/** One run of indexing: a document and the try that made its chunks. A new try is another run. */
export interface ResidentRun {
  documentId: string
  runId: string
}

/** Chunks of one run, in columns, so that they move between threads without being copied one by one. */
export interface ResidentRows {
  /** 16 bytes a chunk. */
  chunkIds: Uint8Array
  /** Terms of each chunk, repeats counted. */
  lengths: Uint32Array
  /** The terms of all chunks one behind the other, sorted within each chunk. */
  terms: Int32Array
  /** All vectors one behind the other. */
  vectors: Float32Array
  /** Chunks that have a vector: 1, else 0. */
  hasVector: Uint8Array
}

/** What the database says of a document. */
export interface ResidentDocument {
  documentId: string
  /** Its run; null: there is none any more. */
  runId: string | null
  searchable: boolean
}

/** The words of a query in columns: a long one has thousands, which cost nothing to copy so. */
export interface PackedTerms {
  /** The variants of all words one behind the other. */
  variants: Int32Array
  /** Where the variants of each word end. */
  ends: Uint32Array
  weights: Float32Array
}

export function packTerms(terms: readonly QueryTerm[]): PackedTerms {
  let end = 0
  return {
    ends: Uint32Array.from(terms, ({ variants }) => (end += variants.length)),
    variants: Int32Array.from(terms.flatMap(({ variants }) => variants)),
    weights: Float32Array.from(terms, ({ weight }) => weight),
  }
}

export function unpackTerms({ variants, ends, weights }: PackedTerms): QueryTerm[] {
  return Array.from(ends, (end, index) => ({
    variants: [...variants.subarray(index === 0 ? 0 : ends[index - 1]!, end)],
    weight: weights[index]!,
  }))
}

export interface ResidentQuery {
  terms: PackedTerms
  /** Null: words only. */
  vector: Float32Array | null
  /** Most candidates of each half. */
  limit: number
  /** Least similarity of what the vectors find. */
  similarityFloor: number
}

export interface ResidentCandidate extends ResidentRun {
  chunkId: string
  /** BM25; null: not among the best by words. */
  wordScore: number | null
  /** Cosine similarity; null: there is no vector. */
  similarity: number | null
}

export type ToResident =
  | { type: 'open'; spaceId: string; dimensions: number }
  | { type: 'add'; spaceId: string; run: ResidentRun; rows: ResidentRows }
  | { type: 'settle'; spaceId: string; documents: ResidentDocument[] }
  | { type: 'complete'; spaceId: string }
  | { type: 'close'; spaceId: string }
  | { type: 'search'; id: number; spaceId: string; query: ResidentQuery }

export type FromResident =
  | { type: 'found'; id: number; candidates: ResidentCandidate[] }
  /** `id`: of the search that failed; null: the Space's memory is no longer what the database says. */
  | { type: 'failed'; id: number | null; spaceId: string; message: string }
  /** After what changed it: how much memory a Space takes. */
  | { type: 'size'; spaceId: string; bytes: number }
