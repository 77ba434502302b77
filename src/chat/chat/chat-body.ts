import { type ChatRequest, chatRequestSchema, filteredChatRequestSchema } from '../../contract/chat.ts'
import { maximumCharactersPerMessage, maximumMessages } from '../../contract/gateway.ts'
import type { MetadataFilter } from '../../contract/metadata-filter.ts'
import { readValue } from '../../contract/validation.ts'
import { type BodyReader, decodeTexts, JsonText, LongTexts, textOf, toMovable } from '../../platform/bodies/index.ts'
import { AppError, createTimeSlices, isObject } from '../../platform/kernel/index.ts'
import type { AnswerCall } from './port.ts'

const message = {
  members: new Map([
    ['role', {}],
    ['content', {}],
  ]),
}

type ReadMessage = Omit<ChatRequest['messages'][number], 'content'> & { content: string | JsonText }

export interface ReadChat extends Omit<ChatRequest, 'messages'> {
  messages: ReadMessage[]
  /** Of version 2. */
  filter?: MetadataFilter | null | undefined
  /** Names of the fields that were ignored, for `x-ignored-params`. */
  ignored: string[]
}

const members = { messages: { maximumItems: maximumMessages, items: message }, streaming: {} }

/** Reads the body of a Space chat. Values of unknown fields are skipped without being parsed. */
export const chatBody: BodyReader<ReadChat> = {
  module: import.meta.url,
  exportName: 'chatBody',
  shape: { members: new Map(Object.entries(members)) },
  maximumValues: 10 * maximumMessages,
  startLong() {
    const texts = new LongTexts()
    return { push: (bytes) => texts.push(bytes), finish: () => readUsual(texts.finish(), []) }
  },
  read: (value, ignored) => readUsual(value, ignored) ?? readBySchema(chatRequestSchema, value, ignored),
}

/** The same for version 2, whose bodies may have a filter. */
export const filteredChatBody: BodyReader<ReadChat> = {
  ...chatBody,
  exportName: 'filteredChatBody',
  shape: { members: new Map(Object.entries({ ...members, filter: {} })) },
  read: (value, ignored) => readUsual(value, ignored) ?? readBySchema(filteredChatRequestSchema, value, ignored),
}

type ChatSchema = typeof chatRequestSchema | typeof filteredChatRequestSchema

function readBySchema(schema: ChatSchema, value: unknown, ignored: string[]): ReadChat {
  const read = readValue(schema, decodeTexts(value), 'the request body')
  if ('problem' in read)
    throw new AppError('invalid_request', read.problem.message, { param: read.problem.param || undefined })
  const messages = read.value.messages.map(({ role, content }) => ({ role, content: toMovable(content) }))
  return { ...read.value, messages, ignored }
}

/** What has no other fields and is surely valid, with the result of the schema; undefined for all else. */
function readUsual(value: unknown, ignored: string[]): ReadChat | undefined {
  if (!isObject(value)) return undefined
  const { messages, streaming } = value
  for (const name in value) if (name !== 'messages' && name !== 'streaming') return undefined
  if (streaming !== undefined && streaming !== null && typeof streaming !== 'boolean') return undefined
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > maximumMessages) return undefined
  if (!messages.every(isUsualMessage) || messages.at(-1)!.role !== 'user') return undefined
  return streaming === undefined ? { messages, ignored } : { messages, streaming, ignored }
}

function isUsualMessage(value: unknown): value is ReadMessage {
  if (!isObject(value)) return false
  for (const name in value) if (name !== 'role' && name !== 'content') return false
  const { role, content } = value
  if (role !== 'user' && role !== 'assistant') return false
  if (content instanceof JsonText) return content.maximumCharacters <= maximumCharactersPerMessage
  return typeof content === 'string' && content.length <= maximumCharactersPerMessage
}

/** Bytes of JSON of the latest messages that are read: four times the longest context window of today's models, 10 million tokens. */
const maximumReadBytes = 64 * 1024 * 1024

/**
 * The latest messages as text, without blocking the event loop. No model's window has room for earlier ones, and a text takes up to twice the memory of
 * its bytes.
 */
export async function readConversation(messages: ReadChat['messages']): Promise<AnswerCall['messages']> {
  const recent: AnswerCall['messages'] = []
  const slice = createTimeSlices()
  let bytes = 0
  for (const { role, content } of messages.toReversed()) {
    bytes += typeof content === 'string' ? content.length : content.bytes
    if (bytes > maximumReadBytes && recent.length > 0) break
    await slice()
    recent.push({ role, content: textOf(content) })
  }
  return recent.toReversed()
}
