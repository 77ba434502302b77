import type { KeptRoom, Receipt, SpendLimit, Surface } from '../billing/index.ts'
import type { EndSignal, RateLimitState, RequestId, SpaceId } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { SchemaMismatch } from '../conversation/index.ts'
import type { TokenEstimate } from '../tokens/index.ts'
import type {
  Capability,
  FinishReason,
  ProviderAnswer,
  ProviderEvent,
  ProviderRequest,
  TokenUsage,
  UrlCitation,
} from '../providers/index.ts'

/** One completion: routing, hold, provider call, settlement. The gateway and Space chat use it. */
export interface CompletionCall {
  requestId: RequestId
  organisation: Organisation
  surface: Surface
  spaceId: SpaceId | null
  /** As the client sent it: canonical id or alias, with or without `eu/`. */
  model: string
  /** Of the API that the client uses. Absent: 1. */
  version?: 1 | 2
  request: ProviderRequest
  /** Of the messages and tools of `request`, where the caller has it. */
  promptEstimate?: TokenEstimate
  stream: boolean
  /** What the request needs from a deployment beyond text. Only deployments that can all of it are called. Absent: nothing. */
  needs?: CallNeeds
  /** `write_off`: the operator pays when the credits are exhausted; for the base-tier fallback of Space chat only. */
  whenExhausted?: 'refuse' | 'write_off'
  /** Money that `keepRoom` has set aside for this call. The call uses it up; where the budget refuses it, the room stays. */
  room?: KeptRoom | undefined
  /** What `keepRoom` has set aside for a call after this one. */
  roomOfNext?: KeptRoom | undefined
  /** A limit inside of the budget. */
  spending?: SpendLimit | undefined
  signal: EndSignal
}

export interface CallNeeds {
  capabilities: ReadonlySet<Capability>
  /** One of them that the gateway enforces where no deployment has it. */
  enforced?: Capability
  /** The field of the request that needs a capability, for the error if no deployment has it. */
  fieldOf(capability: Capability): string
}

export interface CompletionInfo {
  /** Canonical id. */
  model: string
  deploymentId: string
  hosting: string
  adjusted: string[]
  /** State of the organisation's tokens per minute; null without a limit. */
  rate: RateLimitState | null
}

/** The events of the provider, and one last event with the cost. `replay` is for the loop of Space chat and never shown to clients. */
export type CompletionEvent =
  | Exclude<ProviderEvent, { type: 'finish' | 'usage' | 'hosted_use' }>
  | { type: 'finish'; finishReason: FinishReason; usage: TokenUsage; estimated: boolean; receipt: Receipt }

export interface StreamedCompletion extends CompletionInfo {
  /**
   * `finish` comes last, after the cost is durable. Throws AppError on any failure; what was generated has been billed then.
   * Stopping the iteration early cancels the provider's call and bills what was generated.
   */
  events: AsyncIterable<CompletionEvent[]>
}

export interface WholeCompletion
  extends
    CompletionInfo,
    Pick<
      ProviderAnswer,
      | 'text'
      | 'refusal'
      | 'reasoningText'
      | 'toolCalls'
      | 'finishReason'
      | 'replay'
      | 'native'
      | 'hostedItems'
      | 'logprobs'
      | 'furtherChoices'
    > {
  citations: UrlCitation[]
  /** Where the answer differs from the schema of the request. It still leaves, because it is billed. */
  mismatch: SchemaMismatch | null
  usage: TokenUsage
  receipt: Receipt
}

/** A later call. Only its size and its model count. */
export interface LaterCall extends Omit<CompletionCall, 'stream' | 'whenExhausted'> {
  /** Tokens of the prompt that are not in `request` yet. */
  furtherPromptTokens: number
}

export interface Completions {
  /**
   * Sets the likely cost of a later call aside, so that calls before it cannot use up the budget. `call.room` is replaced by it. Null
   * where the budget does not cover it; `call.room` stays then. The caller releases the room.
   */
  keepRoom(call: LaterCall): Promise<KeptRoom | null>
  complete(call: CompletionCall): Promise<WholeCompletion>
  stream(call: CompletionCall): Promise<StreamedCompletion>
  /** Ends and bills the answers that are still read for clients that have left. Before the ledger closes. */
  close(): Promise<void>
}

/** A call of a client, as opposed to one of search: with its request id, subscription, limits and tags. */
export interface ClientCall {
  requestId: RequestId
  user?: string | undefined
}

export interface EmbeddingCall {
  organisation: Organisation
  spaceId: SpaceId | null
  model: string
  texts: string[]
  /** Instead of `texts`: the model's own tokens. Only some providers take them. */
  tokens?: number[][]
  /** Absent: the model's own. */
  dimensions?: number | undefined
  purpose: 'document' | 'query'
  client?: ClientCall
  spending?: SpendLimit | undefined
  signal: EndSignal
}

export interface EmbeddingResult {
  vectors: Float32Array[]
  promptTokens: number
  receipt: Receipt
  /** State of the organisation's tokens per minute; null without a limit, and for calls of search. */
  rate: RateLimitState | null
}

/** Embeddings under the same rules as completions. */
export interface Embeddings {
  embed(call: EmbeddingCall): Promise<EmbeddingResult>
}

export interface RerankCall {
  organisation: Organisation
  spaceId: SpaceId | null
  model: string
  query: string
  /** At least one. */
  documents: string[]
  /** Over all attempts. A provider that exceeds it counts as failed, so that its circuit opens. */
  timeoutMs: number
  client?: ClientCall
  spending?: SpendLimit | undefined
  signal: EndSignal
}

export interface RerankResult {
  /** In the order of the documents, higher is better. */
  scores: number[]
  receipt: Receipt
  /** As in `EmbeddingResult`. */
  rate: RateLimitState | null
}

/** Comparisons of documents with a query, under the same rules as completions. */
export interface Reranking {
  rerank(call: RerankCall): Promise<RerankResult>
}
