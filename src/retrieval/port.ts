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
  limit: number
  signal: AbortSignal
}

export interface Retrieval {
  /** Hybrid search in one Space over ready documents; never short of `limit` when that many chunks exist and match. */
  search(request: SearchRequest): Promise<Passage[]>
}

/**
 * Makes vectors. Three kinds stand behind it: a provider (billed through the gateway's ledger), a local ONNX model, and the
 * built-in lexical hashing embedder, which has no semantics and says so.
 */
export interface Embedder {
  /** Identity of the vector space: changes with model, dimensions or preprocessing; keys the embeddings table. */
  readonly id: string
  /** For the start-up line and the console. */
  readonly label: string
  readonly dimensions: number
  /** Longest input in its own tokens. */
  readonly maximumTokens: number
  countTokens(text: string): number
  embed(request: {
    texts: string[]
    purpose: 'document' | 'query'
    organisationId: OrganisationId
    spaceId: SpaceId
    signal: AbortSignal
  }): Promise<Float32Array[]>
  close(): Promise<void>
}
