import type { MetadataFilter } from '../../contract/metadata-filter.ts'
import { AppError, type OrganisationId, type SpaceId } from '../../platform/kernel/index.ts'
import type { Language } from '../../platform/language/index.ts'
import type { IndexRun } from './corpus/chunks.ts'
import type { EmbeddingVersion } from './corpus/embedding-versions.store.ts'
import type { QueryTerm } from './lexical/bm25.ts'

/**
 * The search port: finds candidates in one Space. `engines/memory` implements it for the embedded database, `engines/postgres`
 * for a PostgreSQL server; `service/` chooses one at start. The tables of the corpus are the source of truth for both: passages
 * are loaded from there, from the primary, so an engine or a standby that is behind never shows a deleted or unpublished chunk.
 */
export interface SearchEngine {
  /** For the start-up line: how Spaces are searched. */
  readonly description: string
  /** How chunks are inserted. */
  readonly staging: StagingOptions

  /** Loads what one search needs to know about a Space. Valid for that search only. */
  openSpace(scope: ReadScope, signal: AbortSignal): Promise<SpaceSearch>

  /** Reports committed chunks of an unpublished run. Resolves when the next chunks may be written: searches go first. */
  stage(chunks: StagedChunks): Promise<void>
  /** Reports, inside its transaction, that a document of so many chunks becomes searchable. A rollback is harmless. */
  publish(run: IndexRun, chunks: number): void
  /** Reports that a document was removed or renamed, or that its terms changed. */
  documentChanged(spaceId: string, documentId: string): void
  /** Reports that any document may have changed, or that another embedding version answers searches. */
  reset(): void

  /** Follows the changes of documents where the engine keeps a copy, and fills that copy in the background. */
  start(listenChanges: ListenChanges): Promise<void>
  /** Loads the largest Spaces into memory. Resolves to the number of chunks loaded. */
  warm(): Promise<number>
  /** Sets what is called when so much was published that `indexNew` has something to do soon. */
  onNewChunks(callback: () => void): void
  /** Indexes what was published since the last call: until then, searches compare it chunk by chunk. Call it from a job, one at a time. */
  indexNew(options?: MaintenanceOptions): Promise<MaintenanceReport>
  /** Merges, replaces and drops indexes, which may take minutes. Call it from another job, one at a time. */
  maintain(options?: MaintenanceOptions): Promise<MaintenanceReport>
  /** How many copies of vectors of these documents its indexes store, next to the tables of the corpus. */
  countCopies(documents: ErasedDocuments): Promise<number>
  /** Removes those copies, of documents whose rows are removed and committed: maintenance would do so later. */
  removeCopies(documents: ErasedDocuments): Promise<void>
  close(): Promise<void>
}

export interface ErasedDocuments {
  organisationId: string
  documentIds: readonly string[]
}

export interface SpaceScope {
  organisationId: OrganisationId
  spaceId: SpaceId
}

/** The documents of a Space that one reader may see. Everything that reads documents for an answer or a search takes it. */
export interface ReadScope extends SpaceScope {
  /** Only documents whose metadata match; the others do not exist for the reader. null: all. */
  filter: MetadataFilter | null
  /** Only these documents, for candidates. Both engines then read the database instead of an index. */
  documentIds?: readonly string[]
}

/** One Space during one search. */
export interface SpaceSearch {
  /** No chunk of the scope is searchable. */
  readonly isEmpty: boolean
  readonly languages: readonly Language[]
  /** Some documents have terms of an older version of text analysis. */
  readonly hasFormerTerms: boolean
  /** Live ones, the active one first. */
  readonly embeddingVersions: readonly EmbeddingVersion[]
  /** The best by terms and the best by vectors, each chunk once, in no order. */
  findCandidates(query: CandidateQuery): Promise<Candidate[]>
  /** Reports candidates that the corpus does not show. Resolves when the next call leaves them out. */
  discard(chunkIds: readonly string[]): Promise<void>
}

export interface CandidateQuery {
  terms: readonly QueryTerm[]
  /** The query as the embedder of each live version sees it. */
  vectors: readonly QueryVector[]
  /** Most candidates by terms, and most by each vector. */
  limit: number
  /** How the candidates are ranked, where an engine may leave out those that cannot be among the best. */
  ranking?: Ranking
}

export interface Ranking {
  /** Share of the similarity in the fused score, 0..1. */
  vectorWeight: number
  /** How many of the best candidates are used. */
  best: number
}

export interface QueryVector {
  version: EmbeddingVersion
  vector: Float32Array
  /** False: similarity of spelling only; weak similarities are then left out. */
  hasSemantics: boolean
}

export interface Candidate {
  chunkId: string
  /** BM25, 0 or more; null: not found by terms. */
  lexicalScore: number | null
  /** Cosine similarity; null: not known. */
  similarity: number | null
}

/** Chunks of one committed transaction. */
export interface StagedChunks {
  run: IndexRun
  /** Of the vectors. */
  version: EmbeddingVersion
  chunks: readonly { chunkId: string; terms: readonly number[]; vector: Float32Array }[]
  languages: readonly Language[]
  /** How long the transaction took. */
  writeMs: number
}

/** Calls back after each committed change of a document; `onMissed` when changes may have been missed. */
type ListenChanges = (
  onChange: (change: { spaceId: string; rowId: string }) => void,
  onMissed: () => void,
) => Promise<() => Promise<void>>

export interface StagingOptions {
  /** Settings of each transaction; those that the server does not know or this user may not set are left out. */
  settings: Readonly<Record<string, string>>
  /** Most chunks of one transaction. */
  maximumRows: number
  /** How long one transaction may take, about. */
  targetMs: number
}

/** Sizes of a Space, in chunks, from which it gets an index. */
export interface MaintenanceOptions {
  vectorIndexFromChunks?: number
  bm25IndexFromChunks?: number
  /** How long a replaced index is kept for the searches that still read it. */
  dropAfterSeconds?: number
  signal?: AbortSignal
}

export interface MaintenanceReport {
  built: string[]
  dropped: string[]
}

export function tooManySearches(): AppError {
  return new AppError('overloaded', 'Your organisation has too many searches at once. Try again in a moment.', {
    retryAfterSeconds: 1,
  })
}
