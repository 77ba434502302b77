import { JsonText } from '../../../platform/bodies/index.ts'
import { isObject, lookUp } from '../../../platform/kernel/index.ts'
import { isBlankContent, type MessageContent, partsOf } from '../../conversation/index.ts'
import { type ProviderMessage, type ReasoningReplay, unwrapReplay } from '../../providers/index.ts'
import {
  createCallLinks,
  type FieldPath,
  invalid,
  isPresent,
  readChoice,
  readList,
  readName,
  readObject,
  readText,
  readToolName,
  requestLimits,
  unsupported,
} from '../limits.ts'
import { textReplay } from './items.ts'
import { readContent } from './parse-content.ts'
import { customArguments } from './parse-tools.ts'
import { nameUnknown, type Reading } from './reading.ts'

/** Members of an item that are read or repeat what Portico does not need; the others are named in `x-ignored-params`. */
export const itemMembers = [
  'type',
  'id',
  'status',
  'role',
  'content',
  'phase',
  'call_id',
  'name',
  'arguments',
  'input',
  'output',
  'summary',
  'encrypted_content',
] as const

/** A message with the results of the calls in it: a client may send them later than providers expect them. */
interface Turn {
  message: ProviderMessage
  /** Of the messages in a turn of the model. */
  contents: MessageContent[]
  results: ProviderMessage[]
}

interface Conversation {
  turns: Turn[]
  /** The turn of the model that further items of the model belong to. */
  open: Turn | undefined
  /** Where each call was made. */
  callers: Map<string, Turn>
  links: ReturnType<typeof createCallLinks>
  reading: Reading
}

/** `input` as messages. Adjacent items of the model become one turn; results follow the turn with their calls. Throws AppError. */
export function readInput(value: unknown, instructions: string | undefined, reading: Reading): ProviderMessage[] {
  const conversation: Conversation = {
    turns: [],
    open: undefined,
    callers: new Map(),
    links: createCallLinks(),
    reading,
  }
  const path = ['input']
  if (typeof value === 'string' || value instanceof JsonText) addTurn(conversation, { role: 'user', content: value })
  else {
    for (const [index, item] of readList(value, path, requestLimits.messages).entries())
      addItem(conversation, readObject(item, [...path, index]), [...path, index])
  }
  conversation.links.assertAnswered()
  const messages = conversation.turns.filter(isSent(reading)).flatMap(toMessages)
  const last = messages.at(-1)
  if (!last) throw invalid(path, 'must not be empty')
  // Several providers refuse it, each in different words.
  if (last.role === 'user' && isBlankContent(last.content))
    throw invalid(path, 'must not end with a blank message: the last one asks the question')
  return instructions === undefined ? messages : [{ role: 'system', content: instructions }, ...messages]
}

/** A turn with nothing but reasoning has no place at providers. */
const isSent =
  ({ adjusted }: Reading) =>
  ({ message, contents }: Turn): boolean => {
    const isEmpty = message.role === 'assistant' && !message.toolCalls && contents.length === 0
    if (isEmpty && message.replay) adjusted.add('input.reasoning')
    return !isEmpty
  }

function toMessages({ message, contents, results }: Turn): ProviderMessage[] {
  if (message.role === 'assistant') message.content = contents.length === 1 ? contents[0]! : contents.flatMap(partsOf)
  return [message, ...results]
}

type ItemReader = (conversation: Conversation, item: Record<string, unknown>, path: FieldPath) => void

const readers: Record<string, ItemReader> = {
  message: addMessage,
  function_call: (conversation, item, path) =>
    addCall(conversation, item, path, readText(item.arguments, [...path, 'arguments'])),
  custom_tool_call: (conversation, item, path) =>
    addCall(conversation, item, path, customArguments(readText(item.input, [...path, 'input']))),
  function_call_output: addResult,
  custom_tool_call_output: addResult,
  reasoning: addReasoning,
  item_reference: refuseReference,
}

/** Items that record what a provider ran for an earlier answer, whose text repeats what came of it. */
const recordsOfHostedTools = [
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'mcp_approval_response',
  'tool_search_call',
  'tool_search_output',
]

function addItem(conversation: Conversation, item: Record<string, unknown>, path: FieldPath): void {
  // Without a type: a message, or a reference if there is nothing but an id.
  const type = isPresent(item.type)
    ? readText(item.type, [...path, 'type'])
    : isPresent(item.role) || !isPresent(item.id)
      ? 'message'
      : 'item_reference'
  const reader = lookUp(readers, type)
  if (reader) {
    nameUnknown(item, itemMembers, 'input.', conversation.reading)
    return reader(conversation, item, path)
  }
  if (recordsOfHostedTools.includes(type)) return void conversation.reading.adjusted.add(`input.${type}`)
  throw unsupported(
    [...path, 'type'],
    `items of the type \`${type.slice(0, 60)}\` are not supported; send messages, reasoning, and calls of function and custom tools with their outputs`,
  )
}

function refuseReference(_conversation: Conversation, _item: Record<string, unknown>, path: FieldPath): void {
  throw unsupported(
    path,
    'Portico stores no items, so it cannot resolve an item_reference; send the item itself, and set store to false in your SDK so that it does',
  )
}

function addMessage(conversation: Conversation, item: Record<string, unknown>, path: FieldPath): void {
  const role = readChoice(item.role, [...path, 'role'], ['user', 'assistant', 'system', 'developer'])
  const of = role === 'user' || role === 'assistant' ? role : 'instruction'
  const content = readContent(item.content, [...path, 'content'], of, conversation.reading)
  if (role !== 'assistant') return addTurn(conversation, { role, content })
  if (isPresent(item.phase)) conversation.reading.ignored.add('input.phase')
  openTurn(conversation).contents.push(content)
}

function addCall(
  conversation: Conversation,
  item: Record<string, unknown>,
  path: FieldPath,
  argumentsJson: string,
): void {
  const idPath = [...path, 'call_id']
  const id = readName(item.call_id, idPath, requestLimits.callIdCharacters)
  const name = readToolName(item.name, [...path, 'name'])
  conversation.links.called(id, idPath)
  const turn = openTurn(conversation)
  turn.message.toolCalls ??= []
  turn.message.toolCalls.push({ id, name, argumentsJson })
  conversation.callers.set(id, turn)
}

function addResult(conversation: Conversation, item: Record<string, unknown>, path: FieldPath): void {
  const idPath = [...path, 'call_id']
  const toolCallId = readName(item.call_id, idPath, requestLimits.callIdCharacters)
  conversation.links.answered(toolCallId, idPath)
  const content = readContent(item.output, [...path, 'output'], 'tool', conversation.reading)
  conversation.callers.get(toolCallId)!.results.push({ role: 'tool', toolCallId, content })
  conversation.open = undefined
}

/** Reasoning that Portico wrapped returns in the provider's form; other reasoning only as its text, for models that want it back. */
function addReasoning(conversation: Conversation, item: Record<string, unknown>, path: FieldPath): void {
  const { message } = openTurn(conversation)
  if (isPresent(item.encrypted_content)) {
    const replay = unwrapReplay(readText(item.encrypted_content, [...path, 'encrypted_content']))
    if (replay) {
      message.replay = joinReplays(message.replay, replay)
      return
    }
    conversation.reading.adjusted.add('input.encrypted_content')
  }
  const text = [...textsOf(item.content), ...textsOf(item.summary)].join('\n\n')
  if (text !== '') message.replay ??= textReplay(text)
}

function joinReplays(earlier: ReasoningReplay | undefined, later: ReasoningReplay): ReasoningReplay {
  if (earlier?.format !== later.format || isTextOnly(earlier)) return later
  for (const block of later.blocks) earlier.blocks.push(block)
  return earlier
}

/** Made from the texts of an item, which the wrapped reasoning of the same turn repeats. */
function isTextOnly({ format, blocks }: ReasoningReplay): boolean {
  return (
    format === 'openai' && blocks.length === 1 && Array.isArray(blocks[0]!.details) && blocks[0]!.details.length === 0
  )
}

function textsOf(parts: unknown): string[] {
  if (!Array.isArray(parts)) return []
  return parts.flatMap((part) =>
    isObject(part) && typeof part.text === 'string' && part.text !== '' ? [part.text] : [],
  )
}

function addTurn(conversation: Conversation, message: ProviderMessage): void {
  conversation.open = undefined
  conversation.turns.push({ message, contents: [], results: [] })
}

function openTurn(conversation: Conversation): Turn {
  if (!conversation.open) {
    addTurn(conversation, { role: 'assistant', content: [] })
    conversation.open = conversation.turns.at(-1)!
  }
  return conversation.open
}
