/**
 * Token counts of one call and what the provider states about its bill. Providers report them and billing charges for them; neither room
 * may import the other.
 */

/**
 * Kinds of tools that a provider runs during an answer. `code_execution` counts containers, the others calls. As in
 * contract/hosted-tools.ts, which this room cannot import.
 */
export type HostedToolKind = 'web_search' | 'web_fetch' | 'code_execution' | 'tool_search' | 'mcp'

/** Uses of such tools that the provider bills, by kind. */
export type ToolUses = Readonly<Partial<Record<HostedToolKind, number>>>

/** promptTokens include cached and cache-written tokens; completionTokens include reasoning tokens. */
export interface TokenCounts {
  promptTokens: number
  completionTokens: number
  /** Part of promptTokens that was read from the provider's cache. */
  cachedTokens: number
  /** Part of promptTokens that was written to the provider's cache. */
  cacheWriteTokens: number
  /** Part of cacheWriteTokens that the cache keeps for an hour, which costs more. Absent: none. */
  cacheWriteHourTokens?: number
  /** Part of completionTokens. */
  reasoningTokens: number
  /** Uses of tools that the provider ran; each has a separate price. Absent: none. */
  toolUses?: ToolUses
}

export const noUsage: Readonly<TokenCounts> = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
}

/** What a provider states about its bill in addition to the counts. */
export interface StatedUsage {
  /** The provider's usage object, for the receipt. */
  raw: Record<string, unknown> | null
  /** Base cost in attoUsd (1e-18 US dollars); preferred over tokens times our prices. */
  costAttoUsd: bigint | null
  /** Absent: the host is not known to state US dollars, so an implausible cost is not billed. */
  costIsDocumented?: true
  /** Tokens that the provider bills, if they differ from the counts (Cohere's `billed_units`). */
  billedUnits: { inputTokens: number; outputTokens: number } | null
}
