import type { ModelTraits } from './model-traits/index.ts'
import type { ProviderCall, ProviderMessage, ProviderSettings } from './port.ts'

export interface CachePlan {
  /** A mark goes behind the system texts. */
  system: boolean
  /** Turns behind which a mark goes. */
  marked: ReadonlySet<ProviderMessage>
}

const noMarks: CachePlan = { system: false, marked: new Set() }
/** Anthropic and Bedrock take four marks in one request. */
const maximumMarks = 4
/** Marks behind a prefix that is shorter than the host caches change nothing, so the estimate may be too high. */
const charactersPerToken = 3

/**
 * Where a prompt is cached at its host: behind messages with `cacheUpToHere`, and, where the operator switched it on for a provider,
 * behind the system texts and the last turn, so that the next call of a conversation finds all but its newest turn.
 */
export function planCache(
  { request }: ProviderCall,
  settings: ProviderSettings,
  { cachePrefixTokens }: ModelTraits,
): CachePlan {
  if (cachePrefixTokens === undefined) return noMarks
  const { messages } = request
  const always = settings.quirks?.promptCaching === true
  const lastInstruction = messages.findLast(isInstruction)
  const wanted = messages.filter(
    (message) => message.cacheUpToHere || (always && (message === lastInstruction || message === messages.at(-1))),
  )
  if (wanted.length === 0) return noMarks
  // Tools stand before everything else.
  let characters = JSON.stringify(request.tools ?? '').length
  const longEnough: ProviderMessage[] = []
  for (const message of messages) {
    characters += message.content.length
    if (wanted.includes(message) && characters >= cachePrefixTokens * charactersPerToken) longEnough.push(message)
  }
  const system = longEnough.some(isInstruction)
  const turns = longEnough.filter((message) => !isInstruction(message))
  return { system, marked: new Set(turns.slice(-(maximumMarks - (system ? 1 : 0)))) }
}

const isInstruction = ({ role }: ProviderMessage) => role === 'system' || role === 'developer'
