import type { Candidate } from '../../engine.ts'
import type { QueryTerm } from '../../lexical/bm25.ts'

/** Messages between the main thread and the search thread. */

/** One document and the indexing run that made its chunks. */
export interface DocumentRun {
  documentId: string
  runId: string
}

/** Chunks of one run, in columns, so that they move between threads without a copy. */
export interface ChunkColumns {
  /** 16 bytes a chunk. */
  chunkIds: Uint8Array
  /** Terms of each chunk, repeats counted. */
  lengths: Uint32Array
  /** The terms of all chunks in a row, sorted within each chunk. */
  terms: Int32Array
  /** All vectors in a row. */
  vectors: Float32Array
  /** Chunks that have a vector: 1, else 0. */
  hasVector: Uint8Array
}

/** A document as the corpus has it. */
export interface DocumentState {
  documentId: string
  /** Null: the document is gone. */
  runId: string | null
  searchable: boolean
}

/** The terms of a query in columns: a long query has thousands, which are cheap to copy in this form. */
export interface PackedTerms {
  /** The variants of all terms in a row. */
  variants: Int32Array
  /** Where the variants of each term end. */
  ends: Uint32Array
  weights: Float32Array
}

export interface MemoryQuery {
  terms: PackedTerms
  /** Null: by terms only. */
  vector: Float32Array | null
  /** Most candidates by terms, and most by the vector. */
  limit: number
  /** Least similarity of a candidate found by the vector. */
  similarityFloor: number
  /** The ids of the only documents that are searched, 16 bytes each; null: all of the Space. */
  documents: Uint8Array | null
}

export type MemoryCandidate = Candidate & { documentId: string }

export type ToSearchThread =
  | { type: 'open'; spaceId: string; dimensions: number }
  | { type: 'add'; spaceId: string; run: DocumentRun; columns: ChunkColumns }
  | { type: 'update'; spaceId: string; documents: DocumentState[] }
  | { type: 'complete'; spaceId: string }
  | { type: 'close'; spaceId: string }
  | { type: 'search'; id: number; spaceId: string; query: MemoryQuery }

export type FromSearchThread =
  | { type: 'found'; id: number; candidates: MemoryCandidate[] }
  /** `id`: of the search that failed; null: the Space in memory no longer matches the corpus. */
  | { type: 'failed'; id: number | null; spaceId: string; message: string }
  /** After each change: how much memory a Space takes. */
  | { type: 'size'; spaceId: string; bytes: number }

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

/** Chunks as columns; `vector: null` where the embedding version has none yet. */
export function toColumns(
  chunks: readonly { chunkId: string; terms: ArrayLike<number>; vector: Float32Array | null }[],
  dimensions: number,
): ChunkColumns {
  const columns: ChunkColumns = {
    // A copy: small buffers share memory with others and could not be moved to another thread.
    chunkIds: new Uint8Array(Buffer.from(chunks.map(({ chunkId }) => chunkId.replaceAll('-', '')).join(''), 'hex')),
    lengths: Uint32Array.from(chunks, ({ terms }) => terms.length),
    terms: new Int32Array(chunks.reduce((sum, { terms }) => sum + terms.length, 0)),
    vectors: new Float32Array(chunks.length * dimensions),
    hasVector: Uint8Array.from(chunks, ({ vector }) => (vector ? 1 : 0)),
  }
  let term = 0
  for (const [index, { terms, vector }] of chunks.entries()) {
    columns.terms.set(terms, term)
    term += terms.length
    if (vector) columns.vectors.set(vector, index * dimensions)
  }
  return columns
}
