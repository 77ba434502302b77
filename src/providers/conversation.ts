import type { ProviderMessage } from './port.ts'
import { type JsonObject, parseJsonObject } from './wire-json.ts'

/** Turns as formats with a top-level system text and strictly alternating roles want them. */
export interface Conversation<Block> {
  /** Texts of system and developer messages, in order, blank ones left out. */
  system: string[]
  turns: { role: 'user' | 'assistant'; blocks: Block[] }[]
  /** The assistant began; a turn of the user was put in front. */
  opened: boolean
}

/**
 * Takes system texts out of the row and merges neighbours of one role into one turn; tool results speak as the user.
 * A message that maps to no blocks is left out. A conversation that the assistant begins gets `opening` in front: these formats refuse
 * one that the user does not begin.
 */
export function shapeConversation<Block>(
  messages: ProviderMessage[],
  toBlocks: (message: ProviderMessage) => Block[],
  opening: Block,
): Conversation<Block> {
  const conversation: Conversation<Block> = { system: [], turns: [], opened: false }
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'developer') {
      if (!isBlank(message.content)) conversation.system.push(message.content)
      continue
    }
    const blocks = toBlocks(message)
    if (blocks.length === 0) continue
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const last = conversation.turns.at(-1)
    if (last?.role === role) last.blocks.push(...blocks)
    else conversation.turns.push({ role, blocks })
  }
  if (conversation.turns[0]?.role === 'assistant') {
    conversation.turns.unshift({ role: 'user', blocks: [opening] })
    conversation.opened = true
  }
  return conversation
}

/**
 * The turns without white space at the end of a last turn of the assistant, which Claude refuses at Anthropic and on Bedrock
 * (https://github.com/vercel/ai/pull/3115).
 */
export function trimFinalTurn(turns: Conversation<JsonObject>['turns']): Conversation<JsonObject>['turns'] {
  const final = turns.at(-1)
  if (final?.role !== 'assistant') return turns
  const at = final.blocks.findLastIndex(({ text }) => typeof text === 'string')
  const blocks = final.blocks.map((block, position) =>
    position === at ? { ...block, text: String(block.text).trimEnd() } : block,
  )
  return [...turns.slice(0, -1), { role: 'assistant', blocks }]
}

export function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** Arguments of a tool call as the object that formats with parsed arguments want; what is no object becomes an empty one. */
export function toolArguments(argumentsJson: string): JsonObject {
  return parseJsonObject(argumentsJson) ?? {}
}

/** Where the tool's name must stand beside its result: the name of the call that `message` answers. */
export function nameOfAnsweredTool(messages: ProviderMessage[], message: ProviderMessage): string {
  for (const earlier of messages) {
    const call = earlier.toolCalls?.find((toolCall) => toolCall.id === message.toolCallId)
    if (call) return call.name
  }
  return message.toolCallId ?? 'tool'
}
