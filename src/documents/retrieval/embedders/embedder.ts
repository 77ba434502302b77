import type { SpendLimit } from '../../../gateway/billing/index.ts'
import type { OrganisationId, SpaceId } from '../../../platform/kernel/index.ts'
import type { TextCounterSource } from '../../../gateway/tokens/index.ts'

/**
 * Makes vectors. There are three kinds: a provider's model (billed through the gateway's ledger), a local ONNX model, and the
 * built-in hashing embedder, which compares spelling and has no semantics.
 */
export interface Embedder {
  /** How to open it again; absent: it cannot be. */
  readonly source?: EmbedderSource
  /** Identity of the vector space: changes with model, dimensions or preprocessing; keys the embeddings table. */
  readonly id: string
  /** For the start-up line and the console. */
  readonly label: string
  /** False: similarity of spelling only, so search gives vectors little weight. Absent: true. */
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
    spending?: SpendLimit | undefined
    signal: AbortSignal
  }): Promise<Float32Array[]>
  close(): Promise<void>
}

/** How to open an embedder again, to search the index that it made after another one has been configured. */
export interface EmbedderSource {
  kind: 'hashing' | 'onnx' | 'provider'
  /** A catalogue model (provider) or a hub id (onnx). */
  model?: string
  /** Absolute; of a local ONNX model. */
  folder?: string
  dimensions?: number
}

/** The embedder of new vectors, which may be replaced while the process runs, and those of earlier ones. */
export interface Embedders {
  current(): Embedder
  /** Every embedder that this process can use for queries; more are added. */
  readonly all: Iterable<Embedder>
  /** `listener` is awaited after each call of `use`. */
  onUse(listener: () => Promise<void>): void
  /** Makes new vectors with this one from now on. */
  use(embedder: Embedder): Promise<void>
}

export function createEmbedders(first: Embedder, former: Iterable<Embedder> = []): Embedders {
  const all = new Set([...former, first])
  let current = first
  let listener = async () => {}
  return {
    current: () => current,
    all,
    onUse: (given) => void (listener = given),
    async use(embedder) {
      all.add(embedder)
      current = embedder
      await listener()
    },
  }
}
