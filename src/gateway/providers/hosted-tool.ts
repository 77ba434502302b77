import type { HostedToolKind } from '../../platform/kernel/index.ts'

/** Hosts with the same definitions of such tools. */
export type HostedFamily = 'openai' | 'anthropic' | 'gemini'

/** A tool that the provider runs (web search, code), in the form of one family. */
export interface HostedTool {
  family: HostedFamily
  kind: HostedToolKind
  type: string
  definition: Record<string, unknown>
  /** To which the provider connects, with the field of the client's request. */
  server?: { url: string; field: string }
  /** The same tool in the form of other families; hosts of those without a form do not receive it. */
  forms?: Readonly<Partial<Record<HostedFamily, Record<string, unknown>>>>
}

/** What bounds the cost of hosted tools before the call. */
export interface HostedToolLimits {
  /** Most uses of several kinds together. */
  uses: readonly { kinds: readonly HostedToolKind[]; most: number }[]
  /** Kinds whose uses nothing limits: only a price of 0 is bounded. */
  unlimited: readonly HostedToolKind[]
  /** How often the model may read the prompt: each round adds results to it, up to the model's context. */
  rounds: number
  /** Most calls of all hosted tools, for hosts that take such a limit. */
  maxToolCalls?: number
  /** What the answer has of them, in the words of the Responses API. */
  include?: readonly string[]
}
