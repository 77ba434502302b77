import { isBlankText, JsonText, textOf } from '../../platform/bodies/index.ts'
import { isParts, type MessageContent, type PromptText, type TextPart, textOfContent } from '../conversation/index.ts'
import type { ProviderMessage } from './port.ts'
import { type JsonObject, parseJsonObject } from './wire-json.ts'

/** Turns for formats with a top-level system text and strictly alternating roles. */
export interface Conversation<Block> {
  /** Texts of system and developer messages, in order, without blank ones. */
  system: TextPart[]
  turns: { role: 'user' | 'assistant'; blocks: Block[] }[]
  /** The assistant began; a user turn was inserted before it. */
  opened: boolean
}

/**
 * Separates system texts and merges adjacent messages of one role into one turn; tool results belong to the user. A message that maps to no
 * blocks is omitted. A conversation that begins with the assistant gets `opening` first: these formats refuse it otherwise.
 */
export function shapeConversation<Block>(
  messages: ProviderMessage[],
  toBlocks: (message: ProviderMessage) => Block[],
  opening: Block,
): Conversation<Block> {
  const conversation: Conversation<Block> = { system: [], turns: [], opened: false }
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'developer') {
      conversation.system.push(...textsOf(message.content))
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

/** The texts of instructions; those without marks are one. */
function textsOf(content: MessageContent): TextPart[] {
  const isMarked = isParts(content) && content.some((part) => part.type === 'text' && part.cache)
  const texts = isMarked
    ? content.filter((part): part is TextPart => part.type === 'text')
    : [{ type: 'text' as const, text: textOfContent(content) }]
  return texts.filter(({ text }) => !isBlankText(text))
}

/**
 * Removes white space at the end of a last assistant turn, which Claude refuses at Anthropic and on Bedrock
 * (https://github.com/vercel/ai/pull/3115).
 */
export function trimFinalTurn(turns: Conversation<JsonObject>['turns']): Conversation<JsonObject>['turns'] {
  const final = turns.at(-1)
  if (final?.role !== 'assistant') return turns
  const at = final.blocks.findLastIndex(({ text }) => typeof text === 'string' || text instanceof JsonText)
  const blocks = final.blocks.map((block, position) =>
    position === at ? { ...block, text: textOf(block.text as PromptText).trimEnd() } : block,
  )
  return [...turns.slice(0, -1), { role: 'assistant', blocks }]
}

/**
 * For formats without ids of calls: results in the order of their calls, which is all that links them if two calls have one name. Messages
 * in order are returned as they are.
 */
export function orderResults(messages: ProviderMessage[]): ProviderMessage[] {
  const ordered: ProviderMessage[] = []
  let places = new Map<string | undefined, number>()
  let run: ProviderMessage[] = []
  const flush = () => {
    ordered.push(...run.toSorted((left, right) => placeOf(left) - placeOf(right)))
    run = []
  }
  const placeOf = ({ toolCallId }: ProviderMessage) => places.get(toolCallId) ?? places.size
  for (const message of messages) {
    if (message.role === 'tool') {
      run.push(message)
      continue
    }
    flush()
    if (message.toolCalls) places = new Map(message.toolCalls.map(({ id }, index) => [id, index]))
    ordered.push(message)
  }
  flush()
  return ordered
}

/** Arguments of a tool call as an object, for formats with parsed arguments; empty if they are not an object. */
export function toolArguments(argumentsJson: string): JsonObject {
  return parseJsonObject(argumentsJson) ?? {}
}

/** For formats that require the tool's name in its result: the name of the call that `message` answers. */
export function nameOfAnsweredTool(messages: ProviderMessage[], message: ProviderMessage): string {
  for (const earlier of messages) {
    const call = earlier.toolCalls?.find((toolCall) => toolCall.id === message.toolCallId)
    if (call) return call.name
  }
  return message.toolCallId ?? 'tool'
}
