import type { FlavourName } from '../openai/flavours.ts'
import type { WireFormat } from '../port.ts'

/**
 * What a model accepts on the wire, as data. `*-rules.ts` contain the facts with their sources, resolve.ts selects those of one model;
 * adapters read the result and contain no model names. An absent field means that nothing special is known: the client's value is sent.
 */
export interface ModelTraits {
  /** It reasons before it answers. Absent: as in the price list. */
  reasoning?: boolean
  /** False: it refuses `temperature` and `top_p`. Absent: as in the price list. */
  acceptsTemperature?: boolean
  /** The only accepted values. They are its defaults, so they are never sent; other values are dropped and reported. */
  fixedTemperature?: number
  fixedTopP?: number
  /** It refuses `temperature` and `top_p` in one request; the temperature is kept. */
  temperatureOrTopP?: boolean
  /** Public names of optional fields that it refuses, even with values that have no effect. */
  refuses?: readonly string[]
  /** It refuses stop sequences that are only white space. */
  refusesBlankStop?: boolean
  /** Values of `reasoning_effort`: requested → sent. A missing value is dropped and reported. */
  efforts?: Readonly<Record<string, string>>
  /** The same as a number of thinking tokens, for wires that require one. */
  thinkingBudgets?: Readonly<Record<string, number>>
  /** Bedrock: the field of the value; absent: one of the model's additional fields. */
  effortField?: 'output_config'
  /** Sent as `reasoning_effort` with every request that declares tools, whatever the client requested. */
  effortWithTools?: string
  /** Values of `service_tier`: requested → sent. */
  serviceTiers?: Readonly<Record<string, string>>
  /** False: it does not support tools; they are omitted. */
  tools?: boolean
  /** False: calls with tools are made unstreamed. */
  streamedTools?: boolean
  /** Field of an assistant turn that sends its reasoning back in a conversation with tools. */
  reasoningReplay?: 'reasoning_content' | 'reasoning_details'
  /** Tool calls that are sent back require the signature of their thought. */
  signedToolCalls?: boolean
  /** `alternating`: user and assistant must take turns, and the user begins. */
  turns?: 'any' | 'alternating'
  /** False: it refuses messages without text. */
  blankTurns?: boolean
  /** False: it refuses a turn with both text and tool calls; the text is omitted. */
  textWithToolCalls?: boolean
  /** Role of instructions; `user`: the model has no such role, and instructions precede its first question. */
  systemRole?: 'system' | 'developer' | 'user'
  capField?: 'max_tokens' | 'max_completion_tokens'
  /** Output cap, if the price list does not contain the model. */
  maxOutputTokens?: number
  /** Size of its context, if the price list does not contain the model. */
  contextTokens?: number
  /** Smallest prefix that its host caches at a marker, in tokens. Absent: no markers are sent. */
  cachePrefixTokens?: number
  /**
   * Body of an embedding call on hosts with several forms: several texts at once (`texts`), a text without options (`text_only`), or the
   * content of a message (`content`).
   */
  embeddingForm?: 'texts' | 'text_only' | 'content'
  /** Upper bound on the texts of one embedding call. */
  embeddingBatch?: number
  /** Form of the ids of tool calls; ids of other providers are replaced. */
  toolCallIds?: { characters: 'alphanumeric' | 'word'; least: number; most: number }
  /** Longest `user`, in characters. */
  userCharacters?: number
}

/** A format, or a flavour of the OpenAI-compatible family. */
export type HostName = WireFormat | FlavourName

/** One fact, or several with one source. Later rules win over earlier ones, field by field. */
export interface TraitRule {
  /** `*`: every host. */
  hosts: readonly HostName[] | '*'
  /** Matched against the plain name of the model (plainName in resolve.ts). */
  models: RegExp
  traits: ModelTraits
  /** Reference of the vendor, or a user's report. */
  source: string
  /** Day on which the source was read. */
  checked: string
}

export interface ResolvedTraits extends ModelTraits {
  /** Sources of the facts. */
  sources: readonly { source: string; checked: string }[]
}
