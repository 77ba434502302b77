/**
 * The port to AI providers. A wire format is a folder of pure mappings (to-request, from-response, from-stream, map-usage,
 * map-error) behind `Provider`; this file is what the rest of Portico knows of them.
 */

import type { ProviderFormat } from '../contract/provider-formats.ts'
import type { StatedUsage, TokenCounts } from '../kernel/index.ts'
import type { ModelTraits } from './model-traits/index.ts'

/** Words of the compatible API; `tool_calls` occurs only where tools were sent (Space chat). */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls'

export interface TokenUsage extends TokenCounts {
  /** The provider counted the output only; promptTokens is 0 and the caller counts the prompt. */
  promptUncounted?: true
  /** Present if the provider states more about its bill than these counts. */
  stated?: StatedUsage
}

/** A source that the provider names for its answer; the compatible API's `url_citation`. */
export interface UrlCitation {
  url: string
  title: string
  /** Characters of the answer's text that it supports; 0 and 0 where the provider names none. */
  startIndex: number
  endIndex: number
}

export interface ProviderMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
  content: string
  /** On assistant turns that called tools. */
  toolCalls?: { id: string; name: string; argumentsJson: string }[]
  /** On tool turns: which call this answers. */
  toolCallId?: string
  /** On assistant turns that called tools: what the provider gave to be sent back with them. */
  replay?: ReasoningReplay
  /** What stands up to here comes again in later calls: a mark for the provider's cache goes behind it, where it is long enough. */
  cacheUpToHere?: boolean
}

/**
 * Reasoning as the format gave it. Models refuse the second round of a conversation with tools without it, or think again. Never shown
 * to clients; an adapter of another format leaves it out.
 */
export interface ReasoningReplay {
  format: ProviderFormat
  /** Blocks, in order, in the words of the format. */
  blocks: Record<string, unknown>[]
}

export interface ToolDefinition {
  name: string
  description: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
}

/** A request in our words; adapters map it to the wire and say what they had to change. */
export interface ProviderRequest {
  messages: ProviderMessage[]
  /** 0..2; adapters scale it to the provider's range. */
  temperature?: number
  topP?: number
  maxOutputTokens?: number
  stop?: string[]
  seed?: number
  presencePenalty?: number
  frequencyPenalty?: number
  reasoningEffort?: string
  user?: string
  metadata?: Record<string, string>
  serviceTier?: string
  tools?: ToolDefinition[]
  toolChoice?: 'auto' | 'none' | 'required'
}

/** What an adapter must know of the model it speaks to; comes from the catalogue. */
export interface WireModel {
  /** The id (or deployment name) on the wire. */
  id: string
  /** The model behind a deployment name; decides quirks. Equals `id` where they are one. */
  baseModel: string
  /** False: temperature and top_p are never sent and are reported in `adjusted`. */
  acceptsTemperature: boolean
  /** True: reasoning model; system → developer and max_completion_tokens in the OpenAI family. */
  reasoning: boolean
  /** Most tokens of one answer: sent where a provider requires a cap and the client gave none; a client's cap above it is lowered. */
  maxOutputTokens: number
  /** Size of the context, where it is known. */
  contextTokens?: number
  /** What the operator says of the model beyond the fields above; wins over what is known (model-traits/). */
  traits?: ModelTraits
}

export interface ProviderCall {
  model: WireModel
  request: ProviderRequest
  /** From the client's socket to the provider's socket. */
  signal: AbortSignal
  /** Whose share of the connections the call uses; absent: the service's own. */
  tenant?: string
  /** Id of the deployment, by which refused fields are remembered; absent: the model's id on the wire. */
  deployment?: string
  /** Ours; sent on as a header where the provider knows one. */
  requestId: string
}

export interface ProviderAnswer {
  text: string
  reasoningText: string
  refusal: string | null
  toolCalls: { id: string; name: string; argumentsJson: string }[]
  finishReason: FinishReason
  wireFinishReason: string | null
  /** Sources that the provider names, in its order: `[1]` in the text is the first. Absent: none. */
  citations?: UrlCitation[]
  /** Present on answers that call tools, where the format wants its reasoning back. */
  replay?: ReasoningReplay
  /** null: the wire carried none; the caller counts and marks it as estimated. Never invented zeros. */
  usage: TokenUsage | null
  /** The provider's own id of the answer, for the log. */
  providerRequestId: string | null
  /** Fields of the request that were scaled, renamed beyond a synonym or left out, for `x-adjusted-params`. */
  adjusted: string[]
}

/** Events of a stream in order: any number of text/reasoning/refusal/tool_call, one finish, at most one usage, then the end. */
export type ProviderEvent =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'refusal'; text: string }
  | { type: 'tool_call'; index: number; id?: string; name?: string; argumentsDelta: string }
  /** Sources that the provider names; the last one counts and comes before `finish`. */
  | { type: 'citations'; citations: UrlCitation[] }
  /** Comes before `finish` of an answer that calls tools. */
  | { type: 'replay'; replay: ReasoningReplay }
  | { type: 'finish'; finishReason: FinishReason; wireFinishReason: string | null }
  /** The last one counts; adapters emit it when its value is final. */
  | { type: 'usage'; usage: TokenUsage }

export interface ProviderStream {
  /**
   * Ends normally only when the answer's own end was seen; otherwise it throws a ProviderError. Yields the events of one
   * network read together, so that the relay writes once per read.
   */
  events: AsyncIterable<ProviderEvent[]>
  adjusted: string[]
  providerRequestId: string | null
}

export interface EmbeddingAnswer {
  /** One per input, in order. */
  vectors: Float32Array[]
  /** null: the wire carried none. */
  promptTokens: number | null
}

export interface Provider {
  readonly id: string
  complete(call: ProviderCall): Promise<ProviderAnswer>
  /**
   * Resolves when the provider has begun to answer (status, headers and the first bytes are in), rejects with a ProviderError
   * before: also where those bytes are an error inside a 200.
   */
  stream(call: ProviderCall): Promise<ProviderStream>
  /** Absent where the provider has no embeddings. */
  embed?(call: {
    model: WireModel
    texts: string[]
    dimensions?: number
    purpose: 'document' | 'query'
    /** Called when a request of several has been answered, with all so far: what the provider bills although a later one fails. */
    onPart?: (answered: { texts: number; promptTokens: number | null }) => void
    signal: AbortSignal
    /** As in ProviderCall. */
    tenant?: string
    requestId: string
  }): Promise<EmbeddingAnswer>
  /** Ids the provider's own listing names; absent where it has none. */
  listModels?(signal: AbortSignal): Promise<string[]>
  /** Closes the connection pool. */
  close(): Promise<void>
}

export type ProviderErrorClass =
  | 'authentication'
  | 'invalid_request'
  | 'model_not_found'
  | 'context_length'
  | 'rate_limit'
  /** An account limit at the provider (billing, spend limit): not retried there. */
  | 'quota'
  | 'overloaded'
  | 'content_filter'
  | 'server_error'
  /** No usable answer: refused, reset, cut, unparsable. */
  | 'connection'
  | 'timeout'
  /** Not sent: the organisation's own calls use up its share of the connections to this provider. */
  | 'share_exhausted'
  /** Not sent: all connections to this provider are in use. */
  | 'capacity'
  | 'cancelled'

/** A failed call to a provider. `message` has had secrets cut out and is fit for the client where the class lets it through. */
export class ProviderError extends Error {
  readonly errorClass: ProviderErrorClass
  /** The same call may succeed later or at another deployment. */
  readonly retryable: boolean
  readonly status: number | null
  readonly retryAfterSeconds: number | null
  readonly param: string | null
  readonly code: string | null
  /** True when bytes of an answer had already been received: the provider may have billed the call. */
  readonly afterFirstByte: boolean

  constructor(
    errorClass: ProviderErrorClass,
    message: string,
    fields: {
      retryable: boolean
      status?: number | null
      retryAfterSeconds?: number | null
      param?: string | null
      code?: string | null
      afterFirstByte?: boolean
      cause?: unknown
    },
  ) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.name = 'ProviderError'
    this.errorClass = errorClass
    this.retryable = fields.retryable
    this.status = fields.status ?? null
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null
    this.param = fields.param ?? null
    this.code = fields.code ?? null
    this.afterFirstByte = fields.afterFirstByte ?? false
  }
}

/** `offline` is the built-in model, which needs no provider. */
export type WireFormat = ProviderFormat | 'offline'

/** Everything that is needed to reach one account at one provider. Secrets arrive decrypted and live only in memory. */
export interface ProviderSettings {
  /** Chosen by the operator; names the provider in the catalogue, the log and the receipts. */
  id: string
  format: WireFormat
  baseUrl?: string
  apiKey?: string
  /** Extra headers (`OpenAI-Organization`, gateway tokens …). Values are treated as secrets. */
  headers?: Record<string, string>
  /** Bedrock and Vertex. */
  region?: string
  project?: string
  /** AWS: `accessKeyId:secretAccessKey[:sessionToken]`; else the default credential chain. Google: service-account JSON; else ADC. */
  credentials?: string
  /** Azure `api-version`, Anthropic `anthropic-version`. */
  apiVersion?: string
  /** How this host differs from its family; defaults come from the format and `flavour`. */
  quirks?: {
    /** Factor on our 0..2 temperature; Mistral 0.5. */
    temperatureFactor?: number
    capField?: 'max_tokens' | 'max_completion_tokens'
    systemRole?: 'system' | 'developer'
    /** Request fields never to send. */
    rejects?: string[]
    /** False where `stream_options` is refused. */
    streamOptions?: boolean
    /** True: marks the beginning of long prompts for the provider's cache, where the model has one that needs marks (Claude). */
    promptCaching?: boolean
  }
  /** A preset of quirks of the OpenAI-compatible family: `openai`, `mistral`, `groq`, `deepseek`, `xai`, `together`, `openrouter`, `perplexity`, `cerebras`, `ollama`, `vllm` … */
  flavour?: string
  limits?: {
    connectTimeoutMs?: number
    /** Until status and headers. */
    headersTimeoutMs?: number
    /** Longest silence inside a body. */
    idleTimeoutMs?: number
    /** One organisation uses at most half of them. */
    maximumConnections?: number
    maximumResponseBytes?: number
  }
}
