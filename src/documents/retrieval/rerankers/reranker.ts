import type { SpendLimit } from '../../../gateway/billing/index.ts'
import type { OrganisationId, SpaceId } from '../../../platform/kernel/index.ts'

/**
 * Reads a question together with each passage and scores how well the passage answers it: slower than search and more exact, so it orders
 * the best candidates only. There are two kinds: a provider's model (billed through the gateway's ledger) and a local ONNX cross-encoder.
 */
export interface Reranker {
  readonly id: string
  /** For the start-up line and the retrieval tester. */
  readonly label: string
  /**
   * One finite score for each document, in order; higher is better, comparable within one call only. Cuts what is longer than the model
   * reads. Rejects on any failure; the caller then keeps its order.
   */
  score(request: RerankRequest): Promise<number[]>
  close(): Promise<void>
}

export interface RerankRequest {
  /** At most `maximumQueryCharacters`. */
  query: string
  /** At least one and at most `maximumRerankedPassages`, each of at most `maximumDocumentCharacters`. */
  documents: readonly string[]
  organisationId: OrganisationId
  spaceId: SpaceId
  /** Longest time that the result is waited for. */
  timeoutMs: number
  spending?: SpendLimit | undefined
  signal: AbortSignal
}

/** What Cohere bills as one search unit, and twice as many as a Space gives to its model at most. */
export const maximumRerankedPassages = 100
/** Longer than the chunks of ingestion; with `maximumRerankedPassages` within every provider's limit of tokens in one call. */
export const maximumDocumentCharacters = 4_000
/** Cross-encoders read 512 tokens of question and passage together. */
export const maximumQueryCharacters = 2_000
