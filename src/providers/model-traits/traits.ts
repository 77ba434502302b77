import type { FlavourName } from '../openai/flavours.ts'
import type { WireFormat } from '../port.ts'

/**
 * What a model accepts on the wire, as data. `*-rules.ts` hold the facts with their sources, resolve.ts finds those of one model; adapters
 * read the result and know no model by name. An absent field means that nothing special is known: what the client sent is sent on.
 */
export interface ModelTraits {
  /** It thinks before it answers. Absent: what the price list says. */
  reasoning?: boolean
  /** False: it refuses `temperature` and `top_p`. Absent: what the price list says. */
  acceptsTemperature?: boolean
  /** The only values it takes. They are its defaults, so they are never sent; another value is dropped and reported. */
  fixedTemperature?: number
  fixedTopP?: number
  /** It refuses `temperature` and `top_p` in one request; the temperature is kept. */
  temperatureOrTopP?: boolean
  /** Public names of optional fields that it refuses, also with values that change nothing. */
  refuses?: readonly string[]
  /** It refuses stop sequences of white space only. */
  refusesBlankStop?: boolean
  /** Words of `reasoning_effort`: asked for → sent. A word that is missing here is dropped and reported. */
  efforts?: Readonly<Record<string, string>>
  /** The same as a number of thinking tokens, where the wire takes those. */
  thinkingBudgets?: Readonly<Record<string, number>>
  /** Bedrock: where the word goes; absent: among the model's own fields. */
  effortField?: 'output_config'
  /** Sent as `reasoning_effort` with every request that declares tools, whatever the client asked for. */
  effortWithTools?: string
  /** Words of `service_tier`: asked for → sent. */
  serviceTiers?: Readonly<Record<string, string>>
  /** False: it takes no tools; they are left out. */
  tools?: boolean
  /** False: calls with tools are made unstreamed. */
  streamedTools?: boolean
  /** Field of an assistant turn by which its reasoning goes back in a conversation with tools. */
  reasoningReplay?: 'reasoning_content' | 'reasoning_details'
  /** Tool calls that go back need the signature of the thought behind them. */
  signedToolCalls?: boolean
  /** `alternating`: user and assistant must take turns, and the user begins. */
  turns?: 'any' | 'alternating'
  /** False: it refuses messages without text. */
  blankTurns?: boolean
  /** False: it refuses a turn that has both text and tool calls; the text is left out. */
  textWithToolCalls?: boolean
  /** Who speaks instructions; `user`: the model knows no instructions, and they stand before its first question. */
  systemRole?: 'system' | 'developer' | 'user'
  capField?: 'max_tokens' | 'max_completion_tokens'
  /** Most tokens of one answer, where the price list does not know the model. */
  maxOutputTokens?: number
  /** Size of its context, where the price list does not know the model. */
  contextTokens?: number
  /** Smallest prefix that its host caches at a marked position, tokens. Absent: no marks are sent. */
  cachePrefixTokens?: number
  /**
   * Body of an embedding call where a host has several: several texts at once (`texts`), a text without options (`text_only`), or the
   * content of a message (`content`).
   */
  embeddingForm?: 'texts' | 'text_only' | 'content'
  /** Most texts of one embedding call. */
  embeddingBatch?: number
  /** Form of the ids of tool calls; ids of other providers are replaced. */
  toolCallIds?: { characters: 'alphanumeric' | 'word'; least: number; most: number }
  /** Longest `user`, characters. */
  userCharacters?: number
}

/** A format, or a flavour of the OpenAI-compatible family. */
export type HostName = WireFormat | FlavourName

/** One fact, or several from one source. Later rules win over earlier ones, field by field. */
export interface TraitRule {
  /** `*`: every host. */
  hosts: readonly HostName[] | '*'
  /** Matched against the plain name of the model (resolve.ts, plainName); absent: every model of the hosts. */
  models?: RegExp
  traits: ModelTraits
  /** Reference of the vendor, or a report of a user. */
  source: string
  /** Day on which the source was read. */
  checked: string
}

export interface ResolvedTraits extends ModelTraits {
  /** Where the facts come from. */
  sources: readonly { source: string; checked: string }[]
}
