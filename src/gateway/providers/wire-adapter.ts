import type { EndSignal } from '../../platform/kernel/index.ts'
import type { MediaPart } from '../conversation/index.ts'
import type { EncodedBody } from './encode-body.ts'
import type {
  EmbeddingAnswer,
  Provider,
  ProviderAnswer,
  ProviderCall,
  ProviderError,
  ProviderEvent,
  ProviderRequest,
  ProviderSettings,
  RerankAnswer,
  WireModel,
} from './port.ts'

/**
 * What a wire format provides: pure mappings, no I/O. `createHttpProvider` (http-provider.ts) adds the connection pool, time limits, bounds
 * on bodies, error wrapping and cancellation for every format.
 */
export interface WireAdapter {
  /** Request line, headers and body for one call. `stream` decides path and flags. Credentials are not added here. */
  toRequest(call: ProviderCall, options: { stream: boolean }): WireRequest
  /** Whether the host fetches the bytes of a part from its address; absent: none. The transport fetches them otherwise. */
  takesAddress?(part: MediaPart): boolean
  /** Maps a 2xx body to an answer. Throws ProviderError if the body is an error inside HTTP 200 or not an answer. */
  fromResponse(body: Uint8Array, request?: ProviderRequest, model?: WireModel): WireAnswer
  /** A fresh reader for one streamed 2xx body. Answers beyond those that the request asks for are ignored. */
  createStreamReader(request?: ProviderRequest, model?: WireModel): WireStreamReader
  /** Maps a non-2xx answer, or an error inside a body, to a ProviderError without secrets. */
  mapError(failure: { status: number; headers: Record<string, string>; body: string }): ProviderError
  /** Adds credentials: a header, a bearer token, a signature over the body. May do I/O for tokens. */
  authorize(request: EncodedRequest, signal: EndSignal): Record<string, string> | Promise<Record<string, string>>
  /** Header with the provider's request id. */
  requestIdHeader: string | null
  /** Counts a prompt without an answer. */
  tokenCount?: {
    toRequest(call: ProviderCall): WireRequest
    fromResponse(body: Uint8Array): number
  }
  embeddings?: {
    toRequest(call: EmbedCall): WireRequest
    fromResponse(body: Uint8Array): EmbeddingAnswer
    /** Upper bound on the inputs of one request to this model (Titan 1, Cohere 96); larger calls are split. */
    maximumBatch(model: WireModel): number
    /** The host embeds tokens, too. */
    takesTokens?: true
  }
  rerank?: {
    toRequest(call: RerankCall): WireRequest
    fromResponse(body: Uint8Array): WireRanking
    /** Upper bound on the documents of one request; larger calls are split. */
    maximumBatch: number
  }
  /** `url` is absolute like WireRequest.url (Bedrock lists on another host); fetched with GET and `authorize`. */
  models?: { url: string; fromResponse(body: Uint8Array): string[] }
}

/** An answer without what the transport adds. */
export type WireAnswer = Omit<ProviderAnswer, 'adjusted' | 'providerRequestId'>

export type EmbedCall = Pick<
  Parameters<NonNullable<Provider['embed']>>[0],
  'model' | 'texts' | 'tokens' | 'dimensions' | 'purpose'
>

export type RerankCall = Pick<Parameters<NonNullable<Provider['rerank']>>[0], 'model' | 'query' | 'documents'>

/** The answer of one rerank request, its scores in the order of the wire. */
export type WireRanking = Omit<RerankAnswer, 'scores'> & { ranks: { index: number; score: number }[] }

export interface WireRequest {
  method: 'POST' | 'GET'
  /** Absolute URL, without credentials. */
  url: string
  headers: Record<string, string>
  /** The JSON value to send; ignored for GET. */
  body: unknown
  adjusted: string[]
}

export type EncodedRequest = Omit<WireRequest, 'body' | 'adjusted'> & { body: EncodedBody }

export interface WireStreamReader {
  /** Events completed by these bytes, which may be split anywhere. Throws ProviderError on an error inside the stream. */
  push(bytes: Uint8Array): ProviderEvent[]
  /**
   * If an error follows events in the same bytes, `push` returns the events and this returns the error: the transport yields the events,
   * then throws at once instead of waiting for more bytes. Null or absent: nothing is pending.
   */
  pendingError?(): ProviderError | null
  /** At the end of the body. Throws ProviderError (`connection`) if the answer's end was not received. */
  end(): ProviderEvent[]
}

/** Builds the adapter of one format from the operator's settings. One per folder, exported by its index.ts. */
export type CreateWireAdapter = (settings: ProviderSettings) => WireAdapter
