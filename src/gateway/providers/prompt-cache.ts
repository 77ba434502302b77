import { isParts, textOfContent } from '../conversation/index.ts'
import type { ModelTraits } from './model-traits/index.ts'
import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from './port.ts'

export interface CachePlan {
  /** A cache marker follows the system texts. */
  system: boolean
  /** Turns followed by a cache marker. */
  marked: ReadonlySet<ProviderMessage>
}

const noMarks: CachePlan = { system: false, marked: new Set() }
/** Anthropic and Bedrock accept four markers in one request. */
const maximumMarks = 4
/** Markers after a prefix that is too short for the host's cache have no effect, so a high estimate is harmless. */
const charactersPerToken = 3

/**
 * Positions of the cache markers: after messages with `cacheUpToHere` and, if the operator enabled it for a provider, after the system
 * texts and the last turn, so that the next call of a conversation reads all but its newest turn from the cache.
 */
export function planCache(
  { request }: ProviderCall,
  settings: ProviderSettings,
  { cachePrefixTokens }: ModelTraits,
): CachePlan {
  if (cachePrefixTokens === undefined) return noMarks
  const { messages } = request
  // The client's own marks are at most as many as the host accepts.
  if (hasClientMarks(request)) return noMarks
  const always = settings.quirks?.promptCaching === true
  const lastInstruction = messages.findLast(isInstruction)
  const wanted = messages.filter(
    (message) => message.cacheUpToHere || (always && (message === lastInstruction || message === messages.at(-1))),
  )
  if (wanted.length === 0) return noMarks
  // Tools precede everything else.
  let characters = JSON.stringify(request.tools ?? '').length
  const longEnough: ProviderMessage[] = []
  for (const message of messages) {
    const content = textOfContent(message.content)
    characters += typeof content === 'string' ? content.length : content.maximumCharacters
    if (wanted.includes(message) && characters >= cachePrefixTokens * charactersPerToken) longEnough.push(message)
  }
  const system = longEnough.some(isInstruction)
  const turns = longEnough.filter((message) => !isInstruction(message))
  return { system, marked: new Set(turns.slice(-(maximumMarks - (system ? 1 : 0)))) }
}

export function hasClientMarks({ messages, tools }: ProviderRequest): boolean {
  if (tools?.some(({ cache }) => cache)) return true
  return messages.some(({ content }) => isParts(content) && content.some((part) => 'cache' in part && part.cache))
}

const isInstruction = ({ role }: ProviderMessage) => role === 'system' || role === 'developer'
