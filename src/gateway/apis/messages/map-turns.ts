import type { BlockOf, ContentBlockBody, MessageBody } from '../../../contract/gateway-v2-messages.ts'
import { isBlankText } from '../../../platform/bodies/index.ts'
import {
  type ContentPart,
  type MessageContent,
  type ProviderMessage,
  type ReasoningReplay,
  unwrapReplay,
} from '../../providers/index.ts'
import { type CallLinks, createCallLinks, type FieldPath, invalid } from '../limits.ts'
import { toCacheMark } from './cache-mark.ts'
import { isShown, type OnlyNative, toParts } from './map-blocks.ts'

export type ReasoningBlock = BlockOf<'thinking' | 'redacted_thinking'>

/** The messages of a body in the terms of the port. Throws AppError with the field. */
export function toTurns(messages: readonly MessageBody[], only: OnlyNative): ProviderMessage[] {
  const links = createCallLinks()
  const turns = messages.flatMap((message, index) => {
    const path = ['messages', index, 'content']
    link(links, message, path)
    const { role, content } = message
    if (typeof content === 'string') return [{ role, content }]
    return role === 'assistant' ? [assistantTurn(content, path, only)] : userTurns(content, role, path, only)
  })
  links.assertAnswered()
  assertAsks(messages.at(-1)!, ['messages', messages.length - 1, 'content'])
  return turns
}

/** Each call is answered once, in the message after it. Instructions may be between them. */
function link(links: CallLinks, { role, content }: MessageBody, path: FieldPath) {
  const blocks = typeof content === 'string' ? [] : content
  for (const [index, block] of blocks.entries())
    if (block.type === 'tool_result') links.answered(block.tool_use_id, [...path, index, 'tool_use_id'])
  if (role !== 'system') links.assertAnswered()
  for (const [index, block] of blocks.entries())
    if (block.type === 'tool_use') links.called(block.id, [...path, index, 'id'])
}

function assistantTurn(blocks: readonly ContentBlockBody[], path: FieldPath, only: OnlyNative): ProviderMessage {
  const parts: ContentPart[] = []
  const toolCalls: NonNullable<ProviderMessage['toolCalls']> = []
  const reasoning: ReasoningBlock[] = []
  let isMarked = false
  for (const [index, block] of blocks.entries()) {
    const at = [...path, index]
    if (block.type === 'tool_result') throw misplaced(at, block.type, 'user')
    if (isShown(block)) parts.push(...toParts(block, at, only))
    else if (isReasoning(block)) reasoning.push(block)
    else if (block.type === 'tool_use') {
      toolCalls.push({ id: block.id, name: block.name, argumentsJson: JSON.stringify(block.input) })
      isMarked ||= block.cache_control !== undefined
    } else only(at)
  }
  const replay = toReplay(reasoning)
  return {
    role: 'assistant',
    content: plainWherePossible(parts),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(replay && { replay }),
    ...(isMarked && { cacheUpToHere: true }),
  }
}

/** Results come first, because they must follow their calls. */
function userTurns(
  blocks: readonly ContentBlockBody[],
  role: 'user' | 'system',
  path: FieldPath,
  only: OnlyNative,
): ProviderMessage[] {
  const results: ProviderMessage[] = []
  const parts: ContentPart[] = []
  for (const [index, block] of blocks.entries()) {
    const at = [...path, index]
    if (block.type === 'tool_result' && role === 'user') results.push(toResult(block, at, only))
    else if (isShown(block)) parts.push(...toParts(block, at, only))
    else if (block.type === 'tool_search_tool_result' || block.type === 'mcp_tool_result') only(at)
    else throw misplaced(at, block.type, block.type === 'tool_result' ? 'user' : 'assistant')
  }
  if (parts.length === 0 && results.length > 0) return results
  return [...results, { role, content: plainWherePossible(parts) }]
}

function toResult(block: BlockOf<'tool_result'>, path: FieldPath, only: OnlyNative): ProviderMessage {
  const { content = '' } = block
  const parts: ContentPart[] =
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : content.flatMap((inner, index) => {
          const at = [...path, 'content', index]
          if (isShown(inner)) return toParts(inner, at, only)
          only(at)
          return []
        })
  const cache = toCacheMark(block.cache_control)
  const last = parts.at(-1)
  if (cache && last && last.type !== 'audio' && last.type !== 'refusal') parts[parts.length - 1] = { ...last, cache }
  return {
    role: 'tool',
    toolCallId: block.tool_use_id,
    content: plainWherePossible(parts),
    ...(block.is_error && { isError: true }),
  }
}

export function isReasoning(block: ContentBlockBody): block is ReasoningBlock {
  return block.type === 'thinking' || block.type === 'redacted_thinking'
}

/** The opaque text of a block of reasoning. */
export function tokenOf(block: ReasoningBlock): string {
  return block.type === 'thinking' ? (block.signature ?? '') : block.data
}

/** The reasoning of another provider, or that of a host of this API. Unsigned thinking is of no use to any provider. */
function toReplay(blocks: readonly ReasoningBlock[]): ReasoningReplay | undefined {
  const native: Record<string, unknown>[] = []
  let wrapped: ReasoningReplay | undefined
  for (const block of blocks) {
    const token = tokenOf(block)
    const replay = unwrapReplay(token)
    if (replay && replay.format === wrapped?.format) wrapped.blocks.push(...replay.blocks)
    else if (replay) wrapped = replay
    else if (token !== '') native.push(block)
  }
  return wrapped ?? (native.length > 0 ? { format: 'anthropic', blocks: native } : undefined)
}

function plainWherePossible(parts: ContentPart[]): MessageContent {
  const [first] = parts
  if (parts.length === 0) return ''
  return parts.length === 1 && first?.type === 'text' && !first.cache ? first.text : parts
}

/** The last message of the user must ask something: several providers refuse a blank one, each in different words. */
function assertAsks({ role, content }: MessageBody, path: FieldPath) {
  if (role !== 'user') return
  const isBlank =
    typeof content === 'string'
      ? isBlankText(content)
      : content.every((block) => block.type === 'text' && isBlankText(block.text))
  if (isBlank) throw invalid(path, 'must not be blank: the last message asks the question')
}

function misplaced(path: FieldPath, type: string, role: 'user' | 'assistant') {
  return invalid(path, `has the type \`${type}\`, which is only allowed in messages of the role ${role}`)
}
