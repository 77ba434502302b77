import { joinTexts, JsonText } from '../../../platform/bodies/index.ts'
import { isObject } from '../../../platform/kernel/index.ts'
import type { CacheMark, ContentPart, MessageContent, PromptText } from '../../conversation/index.ts'
import { type ProviderMessage, type ReasoningReplay, type ToolCall, unwrapReplay } from '../../providers/index.ts'
import {
  assertCharacters,
  type CallLinks,
  createCallLinks,
  type FieldPath,
  invalid,
  isPresent,
  nameOfType,
  readChoice,
  readList,
  readName,
  readObject,
  readOpaque,
  readPromptText,
  readText,
  readToolName,
  requestLimits,
  unsupported,
} from '../limits.ts'
import { readAudioData, readFileData, readImageUrl } from '../media.ts'
import { readCacheMark } from './parse-tools.ts'

type Body = Record<string, unknown>

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const

/** Fields of a message that are read. */
export const messageFields = [
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'refusal',
  'audio',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'cache_control',
] as const
/** Fields of a part that are read. */
export const partFields = ['type', 'text', 'refusal', 'image_url', 'file', 'input_audio', 'cache_control'] as const

/** The conversation of a chat-completions body. Texts and media may be `JsonText`. Throws AppError with the field. */
export function parseMessages(value: unknown): ProviderMessage[] {
  const messages = readList(value, ['messages'], requestLimits.messages)
  if (messages.length === 0) throw invalid(['messages'], 'must not be empty')
  const reading: Reading = { links: createCallLinks(), images: 0 }
  const parsed = messages.map((message, index) =>
    parseMessage(reading, readObject(message, ['messages', index]), index),
  )
  reading.links.assertAnswered()
  return parsed
}

interface Reading {
  links: CallLinks
  images: number
}

function parseMessage(reading: Reading, message: Body, index: number): ProviderMessage {
  const path = ['messages', index]
  const role = readChoice(message.role, [...path, 'role'], roles)
  if (role !== 'tool' && role !== 'function') reading.links.assertAnswered()
  const cache = readCacheMark(message.cache_control, [...path, 'cache_control'])
  const name = !isPresent(message.name) ? {} : { name: readName(message.name, [...path, 'name']) }
  switch (role) {
    case 'system':
    case 'developer':
      return { role, content: withCache(readContent(reading, message.content, path, textTypes), cache), ...name }
    case 'user':
      return { role, content: withCache(readContent(reading, message.content, path, userTypes), cache), ...name }
    case 'assistant':
      return parseAssistant(reading, message, path, cache)
    case 'tool':
    case 'function': {
      const toolCallId = readAnswered(reading, message, path)
      const content = withCache(readContent(reading, message.content, path, resultTypes), cache)
      return { role: 'tool', toolCallId, content }
    }
  }
}

/** Results of the older `functions`, and of hosts without ids, belong to the first call without a result. */
function readAnswered({ links }: Reading, message: Body, path: FieldPath): string {
  const at = [...path, 'tool_call_id']
  if (!isPresent(message.tool_call_id) || message.tool_call_id === '') return links.answeredNext(at)
  const id = readName(message.tool_call_id, at, requestLimits.callIdCharacters)
  links.answered(id, at)
  return id
}

function parseAssistant(
  reading: Reading,
  message: Body,
  path: FieldPath,
  cache: CacheMark | undefined,
): ProviderMessage {
  if (isPresent(message.audio))
    throw unsupported([...path, 'audio'], 'audio of earlier answers is not stored; send its transcript as content')
  const toolCalls = readToolCalls(reading, message, path)
  const refusal = !isPresent(message.refusal) ? '' : readText(message.refusal, [...path, 'refusal'])
  let content: MessageContent = !isPresent(message.content)
    ? ''
    : readContent(reading, message.content, path, assistantTypes)
  if (refusal !== '') {
    const before = typeof content === 'string' && content === '' ? [] : asParts(content)
    content = [...before, { type: 'refusal', text: refusal }]
  }
  const replay = readReplay(message, path)
  return {
    role: 'assistant',
    content: withCache(content, cache),
    ...(isPresent(message.name) && { name: readName(message.name, [...path, 'name']) }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(replay && { replay }),
  }
}

function readToolCalls({ links }: Reading, message: Body, path: FieldPath): ToolCall[] {
  const calls = !isPresent(message.tool_calls)
    ? []
    : readList(message.tool_calls, [...path, 'tool_calls'], requestLimits.tools)
  const read = calls.map((entry, index) => {
    const at = [...path, 'tool_calls', index]
    const call = readObject(entry, at)
    if (isPresent(call.type) && call.type !== 'function')
      throw unsupported([...at, 'type'], 'only calls of functions are supported')
    // Some hosts have no ids; the results follow in the same order.
    const id = !isPresent(call.id) || call.id === '' ? links.newId() : readId(call.id, [...at, 'id'])
    links.called(id, [...at, 'id'])
    return { id, ...readFunctionCall(call.function, [...at, 'function']) }
  })
  if (!isPresent(message.function_call)) return read
  if (read.length > 0) throw invalid([...path, 'function_call'], 'must not be combined with `tool_calls`')
  const id = links.newId()
  links.called(id, [...path, 'function_call'])
  return [{ id, ...readFunctionCall(message.function_call, [...path, 'function_call']) }]
}

const readId = (value: unknown, path: FieldPath) => readName(value, path, requestLimits.callIdCharacters)

function readFunctionCall(value: unknown, path: FieldPath): { name: string; argumentsJson: string } {
  const { name, arguments: given } = readObject(value, path)
  const at = [...path, 'arguments']
  return {
    name: readToolName(name, [...path, 'name']),
    // Some hosts return an object.
    argumentsJson: !isPresent(given)
      ? ''
      : isObject(given)
        ? JSON.stringify(readOpaque(given, at))
        : readText(given, at),
  }
}

/** Reasoning of an earlier answer, in the forms in which answers of this API have it. */
function readReplay(message: Body, path: FieldPath): ReasoningReplay | undefined {
  const details = !isPresent(message.reasoning_details)
    ? []
    : readList(message.reasoning_details, [...path, 'reasoning_details'], requestLimits.partsPerMessage).map(
        (detail, index) => readOpaque(detail, [...path, 'reasoning_details', index]),
      )
  for (const { data } of details) {
    const restored = typeof data === 'string' ? unwrapReplay(data) : null
    if (restored) return restored
  }
  const field = !isPresent(message.reasoning_content) ? 'reasoning' : 'reasoning_content'
  const content = !isPresent(message[field]) ? '' : readText(message[field], [...path, field])
  return content === '' && details.length === 0 ? undefined : { format: 'openai', blocks: [{ content, details }] }
}

type PartType = 'text' | 'image_url' | 'file' | 'input_audio' | 'refusal'
const textTypes: readonly PartType[] = ['text']
const userTypes: readonly PartType[] = ['text', 'image_url', 'file', 'input_audio']
const assistantTypes: readonly PartType[] = ['text', 'refusal']
const resultTypes: readonly PartType[] = ['text', 'image_url', 'file']

function readContent(
  reading: Reading,
  value: unknown,
  messagePath: FieldPath,
  types: readonly PartType[],
): MessageContent {
  const path = [...messagePath, 'content']
  if (isPromptText(value)) {
    assertCharacters([value], path)
    return value
  }
  if (!Array.isArray(value)) throw invalid(path, `must be a string or an array of parts, not ${nameOfType(value)}`)
  const parts = readList(value, path, requestLimits.partsPerMessage).map((part, index) =>
    readPart(reading, readObject(part, [...path, index]), [...path, index], types),
  )
  assertCharacters(
    parts.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : [])),
    path,
  )
  const texts = parts.flatMap((part) => (part.type === 'text' && !part.cache ? [part.text] : []))
  // As in version 1. Every host takes one text.
  return texts.length === parts.length ? joinTexts(texts, '') : parts
}

const isPromptText = (value: unknown): value is PromptText => typeof value === 'string' || value instanceof JsonText

function readPart(reading: Reading, part: Body, path: FieldPath, types: readonly PartType[]): ContentPart {
  const type = readName(part.type, [...path, 'type'])
  if (!types.includes(type as PartType)) {
    throw unsupported([...path, 'type'], `must be ${types.map((known) => `"${known}"`).join(', ')} in this role`)
  }
  const cache = readCacheMark(part.cache_control, [...path, 'cache_control'])
  const marked = cache ? { cache } : {}
  switch (type as PartType) {
    case 'text':
      return { type: 'text', text: readPromptText(part.text, [...path, 'text']), ...marked }
    case 'refusal':
      return { type: 'refusal', text: readText(part.refusal, [...path, 'refusal']) }
    case 'image_url':
      if (++reading.images > requestLimits.images)
        throw invalid(path, `is above the limit of ${requestLimits.images} images in a request`)
      return { ...readImage(part.image_url, [...path, 'image_url']), ...marked }
    case 'file':
      return { ...readFile(part.file, [...path, 'file']), ...marked }
    case 'input_audio':
      return readAudio(part.input_audio, [...path, 'input_audio'])
  }
}

function readImage(value: unknown, path: FieldPath): ContentPart {
  // Some clients send the address alone.
  const { url, detail } = isPromptText(value) ? { url: value, detail: undefined } : readObject(value, path)
  const at = [...path, 'url']
  return {
    type: 'image',
    source: readImageUrl(readPromptText(url, at), at),
    ...(isPresent(detail) && { detail: readChoice(detail, [...path, 'detail'], ['auto', 'low', 'high']) }),
  }
}

function readFile(value: unknown, path: FieldPath): ContentPart {
  const { file_id: fileId, file_data: data, filename } = readObject(value, path)
  if (isPresent(fileId) || !isPresent(data))
    throw unsupported([...path, !isPresent(fileId) ? 'file_data' : 'file_id'], 'files are not stored; send `file_data`')
  const at = [...path, 'file_data']
  return {
    type: 'file',
    source: readFileData(readPromptText(data, at), at),
    ...(isPresent(filename) && { name: readName(filename, [...path, 'filename']) }),
  }
}

function readAudio(value: unknown, path: FieldPath): ContentPart {
  const { data, format } = readObject(value, path)
  const at = [...path, 'data']
  return { type: 'audio', source: readAudioData(readName(format, [...path, 'format']), readPromptText(data, at), at) }
}

const asParts = (content: MessageContent): readonly ContentPart[] =>
  typeof content === 'string' || content instanceof JsonText ? [{ type: 'text', text: content }] : content

/** A mark of the whole message is one of its last part. */
function withCache(content: MessageContent, cache: CacheMark | undefined): MessageContent {
  if (!cache) return content
  const parts = [...asParts(content)]
  const last = parts.at(-1)
  if (last && last.type !== 'audio' && last.type !== 'refusal') parts[parts.length - 1] = { ...last, cache }
  return parts
}
