import type { Queryable } from '../database/index.ts'
import type { TextCounterSource } from '../tokens/index.ts'
import type { DocumentId, OrganisationId, SpaceId } from '../kernel/index.ts'

export interface Passage {
  chunkId: string
  documentId: DocumentId
  documentName: string
  /** The document's metadata.url where it has one. */
  url: string | null
  text: string
  headingPath: string[]
  tableHeader: string | null
  chunkIndex: number
  pageFrom: number | null
  pageTo: number | null
  rowFrom: number | null
  rowTo: number | null
  /** Fused score, higher is better; comparable within one search only. */
  score: number
}

export interface SearchRequest {
  organisationId: OrganisationId
  spaceId: SpaceId
  query: string
  /** Most passages. */
  limit: number
  /** Room for the passages' texts and table headers, in UTF-8 bytes; the first is always taken. Absent: no bound. */
  maximumBytes?: number
  signal: AbortSignal
}

export interface Retrieval {
  /** Hybrid search in one Space over ready documents; never short of `limit` when that many chunks exist, match and fit. */
  search(request: SearchRequest): Promise<Passage[]>
}

/**
 * Makes vectors. Three kinds stand behind it: a provider (billed through the gateway's ledger), a local ONNX model, and the
 * built-in lexical hashing embedder, which has no semantics and says so.
 */
export interface Embedder {
  /** How to open it again; absent: it cannot be. */
  readonly source?: EmbedderSource
  /** Identity of the vector space: changes with model, dimensions or preprocessing; keys the embeddings table. */
  readonly id: string
  /** For the start-up line and the console. */
  readonly label: string
  /** False: similarity of spelling only, so that search leans on words. Absent: true. */
  readonly semantics?: boolean
  readonly dimensions: number
  /** Longest input in its own tokens. */
  readonly maximumTokens: number
  countTokens(text: string): number
  /** The same count for other processes: documents are chunked outside of this one. */
  readonly counter: TextCounterSource
  embed(request: {
    texts: string[]
    purpose: 'document' | 'query'
    organisationId: OrganisationId
    spaceId: SpaceId
    signal: AbortSignal
  }): Promise<Float32Array[]>
  close(): Promise<void>
}

/** How an embedder is opened again, to answer for the index that it made when another one has been configured. */
export interface EmbedderSource {
  kind: 'hashing' | 'onnx' | 'provider'
  /** A catalogue model (provider) or a hub id (onnx). */
  model?: string
  /** Absolute; of a local ONNX model. */
  folder?: string
  dimensions?: number
}

/** A piece of a document as ingestion makes it and the index takes it. */
export interface IndexedChunk {
  /** 0-based order in the document. */
  index: number
  /** What is shown and quoted. */
  text: string
  /** Headings above it, outermost first. */
  headingPath: string[]
  /** csv and tables: the header line, repeated in front of the text for embedding and for the model. */
  tableHeader: string | null
  tokens: number
  /** Exact position: pages and rows (1-based, inclusive), Unicode code point range in the extracted text. */
  pageFrom: number | null
  pageTo: number | null
  characterFrom: number
  characterTo: number
  rowFrom: number | null
  rowTo: number | null
}

/** One try at indexing one document. A newer run ends the older: what that one still sends is refused. */
export interface IndexRun {
  runId: string
  organisationId: OrganisationId
  spaceId: SpaceId
  documentId: DocumentId
}

export interface ChunkBatch {
  run: IndexRun
  documentName: string
  /** Which embedder made the vectors (`Embedder.id`). */
  embedderId: string
  chunks: readonly IndexedChunk[]
  /** One for each chunk, in the same order. */
  vectors: readonly Float32Array[]
}

/**
 * The write side of the index. Batches are staged in transactions of their own before the document is published: nothing
 * of it is found until `publish`, which touches one row whatever the size of the document, so that it fits into the
 * transaction that sets `ready`.
 */
export interface IndexWriter {
  /** Starts a run and removes what an earlier one left. Null: the document is gone. */
  beginRun(transaction: Queryable, document: Omit<IndexRun, 'runId'>): Promise<IndexRun | null>
  /**
   * Adds chunks in transactions of its own, of at most 50 rows, each so small that searches on the embedded engine, which has
   * one connection, wait little for it. What it has added when it fails goes with the run. Throws IndexRunEndedError when the
   * document is gone or a newer run began.
   */
  stageChunks(batch: ChunkBatch): Promise<void>
  /** Makes the run's chunks searchable; returns how many there are. Throws IndexRunEndedError as stageChunks does. */
  publish(transaction: Queryable, run: IndexRun): Promise<number>
  /** Removes chunks, terms and vectors of a document. Deleting the row of `documents` does the same by itself. */
  deleteDocument(transaction: Queryable, documentId: DocumentId): Promise<void>
}

/** The document was deleted, or another run has taken over: stop, and change nothing. */
export class IndexRunEndedError extends Error {
  constructor(documentId: string) {
    super(`the indexing run of document ${documentId} has ended: it was deleted or taken over by a newer run`)
    this.name = 'IndexRunEndedError'
  }
}

/** What `portico audit` prints of the index; all zero is right. */
export interface IndexAudit {
  /** Rows that belong to no document, by kind. */
  orphanIndexedDocuments: number
  orphanChunks: number
  orphanTerms: number
  orphanVectors: number
  /** Chunks of searchable documents that lack words or, in the active generation, a vector. */
  chunksWithoutTerms: number
  chunksWithoutVector: number
  /** Ready documents that no search can find, and searchable ones that are not ready. */
  readyButNotSearchable: number
  searchableButNotReady: number
}
