/**
 * The port to AI providers. A wire format is a folder of pure mappings (to-request, from-response, from-stream, map-usage, map-error)
 * behind `Provider`; the rest of Portico uses this file only.
 */

import type { ProviderFormat } from '../../contract/provider-formats.ts'
import type { EndSignal, HostedToolKind, Peer, StatedUsage, TokenCounts } from '../../platform/kernel/index.ts'
import type { HostedTool, HostedToolLimits } from './hosted-tool.ts'
import type { CacheMark, MessageContent } from '../conversation/index.ts'
import type { ModelTraits } from './model-traits/index.ts'

export type * from '../conversation/index.ts'
export type * from './hosted-tool.ts'

/** Values of the compatible API; `tool_calls` occurs only if tools were sent (Space chat). */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls'

export interface TokenUsage extends TokenCounts {
  /** The provider counted the output only; promptTokens is 0 and the caller counts the prompt. */
  promptUncounted?: true
  /** Present if the provider states more about its bill than these counts. */
  stated?: StatedUsage
}

/** A source that the provider cites; the compatible API's `url_citation`. */
export interface UrlCitation {
  url: string
  title: string
  /** Range of characters in the answer's text that it supports; 0 and 0 if the provider names none. */
  startIndex: number
  endIndex: number
}

export interface ProviderMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
  content: MessageContent
  /** Of the participant, where the host has a place for it. */
  name?: string
  /** On assistant turns that called tools. */
  toolCalls?: ToolCall[]
  /** On tool turns: which call this answers. */
  toolCallId?: string
  /** On tool turns: the tool failed, and the content states why. */
  isError?: true
  /** On assistant turns: reasoning that the provider requires back, above all with tool calls. */
  replay?: ReasoningReplay
  /** Later calls repeat the messages up to here: the provider's cache marker follows this message if the prefix is long enough. */
  cacheUpToHere?: boolean
}

export interface ToolCall {
  id: string
  name: string
  /** The model's bytes; usually JSON. */
  argumentsJson: string
}

/**
 * Reasoning in the provider's format. Without it some models reject the second round of a conversation with tools, or reason again. Never
 * shown to clients; adapters of other formats omit it.
 */
export interface ReasoningReplay {
  format: ProviderFormat
  /** Blocks in the format's shape, in order. */
  blocks: Record<string, unknown>[]
}

export interface ToolDefinition {
  name: string
  description?: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
  /** The arguments must match the schema. */
  strict?: boolean
  cache?: CacheMark
}

export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }

/** The form that the answer's text must have. */
export type ResponseFormat =
  | { type: 'json_object' }
  | { type: 'json_schema'; name: string; description?: string; schema: Record<string, unknown>; strict?: boolean }

/** How a model reasons, beyond `reasoningEffort`. */
export interface ReasoningOptions {
  /** Absent: the model's default. `adaptive`: the model decides. */
  mode?: 'disabled' | 'enabled' | 'adaptive'
  budgetTokens?: number
  /** Which summary of the reasoning the client wants to read. */
  summary?: string
}

/** How likely one token of the answer was, in the compatible API's form. */
export interface TokenLogprob {
  token: string
  logprob: number
  bytes: number[] | null
  top: { token: string; logprob: number; bytes: number[] | null }[]
}

/**
 * A prompt in the form of a client API that is also a wire format. Hosts of this family receive it as it is. The other fields of the
 * request have the same meaning in the compatible API's terms.
 */
export interface NativeRequest {
  family: 'anthropic'
  /** Fields of the body, without the model, the cap, sampling, user and stream. */
  body: Record<string, unknown>
  /** The first field without another form: only hosts of this family can serve the request. */
  only?: string
}

/** A request in the compatible API's terms; adapters map it to the wire and report what they changed. */
export interface ProviderRequest {
  messages: ProviderMessage[]
  /** 0..2; adapters scale it to the provider's range. */
  temperature?: number
  /** The temperature is already in the range of the model's provider. */
  temperatureIsExact?: boolean
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
  hostedTools?: HostedTool[]
  /** Present with `hostedTools`. */
  hostedLimits?: HostedToolLimits
  toolChoice?: ToolChoice
  /** False: at most one call in an answer. */
  parallelToolCalls?: boolean
  responseFormat?: ResponseFormat
  reasoning?: ReasoningOptions
  verbosity?: string
  topK?: number
  logprobs?: boolean
  topLogprobs?: number
  /** Answers to the same prompt; absent: one. */
  choices?: number
  logitBias?: Record<string, number>
  /** Anthropic's opt-ins, already checked against the allowed ones. */
  betas?: string[]
  native?: NativeRequest
  /** A mark lets the provider's cache keep the prompt for an hour, which costs more than five minutes. */
  writesHourCache?: boolean
}

/** Facts of the model for the adapter; from the catalogue. */
export interface WireModel {
  /** The id (or deployment name) on the wire. */
  id: string
  /** The model behind a deployment name; decides quirks. Equals `id` if there is no other. */
  baseModel: string
  /** False: temperature and top_p are never sent and are reported in `adjusted`. */
  acceptsTemperature: boolean
  /** True: reasoning model; system → developer and max_completion_tokens in the OpenAI family. */
  reasoning: boolean
  /** Output cap of the model: sent if a provider requires a cap and the client gave none; a higher cap of the client is lowered to it. */
  maxOutputTokens: number
  /** Size of the context, if known. */
  contextTokens?: number
  /** The operator's facts beyond the fields above; they win over the rules (model-traits/). */
  traits?: ModelTraits
}

export interface ProviderCall {
  model: WireModel
  request: ProviderRequest
  /** From the client's socket to the provider's socket. */
  signal: EndSignal
  /** The tenant whose share of the connections the call uses; absent: the service itself. */
  tenant?: string
  /** Id of the deployment under which refused fields are recorded; absent: the model's id on the wire. */
  deployment?: string
  /** Our request id; sent as a header if the provider supports one. */
  requestId: string
  /** Header of W3C Trace Context; undefined unless the operator lets traces continue at providers. */
  traceparent?: string | undefined
}

export interface ProviderAnswer {
  text: string
  reasoningText: string
  refusal: string | null
  toolCalls: ToolCall[]
  finishReason: FinishReason
  wireFinishReason: string | null
  logprobs?: TokenLogprob[]
  /** The second and later answers, if several were requested. */
  furtherChoices?: AnswerChoice[]
  /** Sources that the provider cites, in its order: `[1]` in the text is the first. Absent: none. */
  citations?: UrlCitation[]
  /** Present on answers that call tools, if the format requires its reasoning back. */
  replay?: ReasoningReplay
  /** Calls of tools that the provider ran, as items of the Responses API; only hosts of that API have them. */
  hostedItems?: Record<string, unknown>[]
  /** The answer as the host sent it; present if the request was native. */
  native?: Record<string, unknown>
  /** null: the wire had none; the caller counts and marks it as estimated. Never zeros by default. */
  usage: TokenUsage | null
  /** The provider's id of the answer, for the log. */
  providerRequestId: string | null
  /** Fields of the request that were scaled, renamed beyond a synonym or omitted, for `x-adjusted-params`. */
  adjusted: string[]
}

/** One of several answers to a prompt. */
export type AnswerChoice = Pick<
  ProviderAnswer,
  'text' | 'reasoningText' | 'refusal' | 'toolCalls' | 'finishReason' | 'wireFinishReason' | 'logprobs' | 'replay'
>

/**
 * Events of a stream, in order: any number of text/reasoning/refusal/tool_call, one finish, at most one usage, then the end.
 * Without `choice` they belong to the first answer; the others finish with `choice_finish`, before the first does.
 */
export type ProviderEvent =
  | { type: 'text'; text: string; choice?: number }
  | { type: 'reasoning'; text: string; choice?: number }
  | { type: 'refusal'; text: string; choice?: number }
  | { type: 'tool_call'; index: number; id?: string; name?: string; argumentsDelta: string; choice?: number }
  | { type: 'logprobs'; logprobs: TokenLogprob[]; choice?: number }
  | { type: 'choice_finish'; choice: number; finishReason: FinishReason; wireFinishReason: string | null }
  /** Sources that the provider cites; the last event wins and precedes `finish`. */
  | { type: 'citations'; citations: UrlCitation[] }
  /** The provider runs a tool; what it bills is in the usage. */
  | { type: 'hosted_use'; kind: HostedToolKind }
  /** An event of the Responses API about a tool that the provider runs. */
  | { type: 'hosted_item'; itemId: string; event: Record<string, unknown> }
  /** Precedes `finish` of an answer that calls tools. */
  | { type: 'replay'; replay: ReasoningReplay }
  /** An event as the host sent it, before the events that have its meaning; only if the request was native. */
  | { type: 'native'; event: Record<string, unknown> }
  | { type: 'finish'; finishReason: FinishReason; wireFinishReason: string | null }
  /** The last one wins; adapters emit it when its value is final. */
  | { type: 'usage'; usage: TokenUsage }

export interface ProviderStream {
  /**
   * Ends normally only if the answer's end was received; otherwise it throws a ProviderError. Yields the events of one network read
   * together, so that the relay writes once per read.
   */
  events: AsyncIterable<ProviderEvent[]>
  adjusted: string[]
  providerRequestId: string | null
}

export interface EmbeddingAnswer {
  /** One per input, in order. */
  vectors: Float32Array[]
  /** null: the wire had none. */
  promptTokens: number | null
  /** Present if the provider states the cost. */
  stated?: StatedUsage
}

export interface RerankAnswer {
  /** How well each document answers the query, in the order of the documents; comparable within one call only. */
  scores: number[]
  /** null: the wire had none. */
  promptTokens: number | null
  /** Units that the provider bills instead of tokens (Cohere); null: it bills tokens. */
  searchUnits: number | null
  /** Present if the provider states the cost. */
  stated?: StatedUsage
}

/** Connections of one provider at one moment. */
export interface ConnectionsView {
  maximum: number
  inUse: number
  /** Calls that wait for a connection. */
  waiting: number
  /** Organisations with the most connections, most first; `''` is the service itself. */
  tenants: { id: string; held: number; waiting: number }[]
}

export interface Provider {
  readonly id: string
  /** For traces. Absent in tests. */
  readonly peer?: Peer
  complete(call: ProviderCall): Promise<ProviderAnswer>
  /**
   * Resolves when the provider has begun to answer (status, headers and the first bytes). Rejects with a ProviderError before that, also if
   * those bytes are an error inside a 200.
   */
  stream(call: ProviderCall): Promise<ProviderStream>
  /** Embeddings of the model's own tokens, too. */
  readonly embedsTokens?: boolean
  /** Tokens of a prompt as the provider counts them. Absent if it does not count without an answer. */
  countTokens?(call: ProviderCall): Promise<number>
  /** Absent if the provider has no embeddings. */
  embed?(call: {
    model: WireModel
    texts: string[]
    /** Instead of `texts`, if the provider has `embedsTokens`. */
    tokens?: number[][]
    dimensions?: number
    purpose: 'document' | 'query'
    /** Called after each of several requests with the totals so far: the provider bills them even if a later one fails. */
    onPart?: (answered: { texts: number; promptTokens: number | null; stated?: StatedUsage }) => void
    signal: EndSignal
    /** As in ProviderCall. */
    tenant?: string
    requestId: string
    traceparent?: string | undefined
  }): Promise<EmbeddingAnswer>
  /** Compares documents with a query. Absent if the provider has no rerank models. */
  rerank?(call: {
    model: WireModel
    query: string
    /** At least one. */
    documents: string[]
    /** Called after each of several requests with the totals so far: the provider bills them even if a later one fails. */
    onPart?: (answered: RerankAnswer) => void
    signal: EndSignal
    /** As in ProviderCall. */
    tenant?: string
    requestId: string
    traceparent?: string | undefined
  }): Promise<RerankAnswer>
  /** Ids in the provider's listing; absent if it has none. */
  listModels?(signal: EndSignal): Promise<string[]>
  /** Absent if the provider needs no network. */
  connections?(): ConnectionsView
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
  /** No usable answer: refused, reset, truncated, unparsable. */
  | 'connection'
  | 'timeout'
  /** Not sent: the organisation's own calls use up its share of the connections to this provider. */
  | 'share_exhausted'
  /** Not sent: all connections to this provider are in use. */
  | 'capacity'
  | 'cancelled'

export interface FailureFields {
  status?: number | null
  retryAfterSeconds?: number | null
  param?: string | null
  code?: string | null
  /** True makes the error final: what was received may have been billed. */
  afterFirstByte?: boolean
  cause?: unknown
}

/** A failed call to a provider. `message` contains no secrets; the class decides whether clients see it. */
export class ProviderError extends Error {
  readonly errorClass: ProviderErrorClass
  /** The same call may succeed later or at another deployment. */
  readonly retryable: boolean
  readonly status: number | null
  readonly retryAfterSeconds: number | null
  readonly param: string | null
  readonly code: string | null
  /** True if bytes of an answer had been received: the provider may have billed the call. */
  readonly afterFirstByte: boolean

  constructor(errorClass: ProviderErrorClass, message: string, fields: FailureFields & { retryable: boolean }) {
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

/** Settings of one account at one provider. Secrets are decrypted and only in memory. */
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
    /** Request fields that are never sent. */
    rejects?: string[]
    /** False if `stream_options` is refused. */
    streamOptions?: boolean
    /** True: marks the beginning of long prompts for the provider's cache, if the model has a cache that requires marks (Claude). */
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
