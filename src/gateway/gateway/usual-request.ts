import type { z } from 'zod'
import {
  type completionRequestSchema,
  maximumCharactersPerMessage,
  maximumMessages,
  maximumModelIdLength,
  maximumPartsPerMessage,
  maximumUserLength,
} from '../../contract/gateway.ts'
import { JsonText } from '../../platform/bodies/index.ts'

type SchemaFields = z.output<typeof completionRequestSchema>
type SchemaMessage = SchemaFields['messages'][number]
/** Also of a long body, whose long texts are not built. */
type Text = string | JsonText
type Message = Omit<SchemaMessage, 'content'> & { content: Text | { type: 'text'; text: Text }[] }
export type Fields = Omit<SchemaFields, 'messages'> & { messages: Message[] }

const roles: ReadonlySet<unknown> = new Set<Message['role']>(['user', 'assistant', 'system', 'developer'])

/**
 * Reads the fields that most requests have, ten times as fast as `completionRequestSchema` and with the same result; undefined where
 * the schema must decide: a field that is rare or not valid. A test compares both.
 */
export function readUsualRequest(body: Record<string, unknown>): Fields | undefined {
  const { model, messages } = body
  if (typeof model !== 'string' || model === '' || model.length > maximumModelIdLength) return undefined
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > maximumMessages) return undefined
  const fields: Fields = { model, messages: [] } as unknown as Fields
  for (const message of messages) {
    const read = readMessage(message)
    if (!read) return undefined
    fields.messages.push(read)
  }
  for (const name in body) {
    const value = body[name]
    if (value === undefined || value === null || name === 'model' || name === 'messages') continue
    const isValid = usualFields[name]
    if (isValid === undefined || !isValid(value)) return undefined
    ;(fields as Record<string, unknown>)[name] = value
  }
  return fields
}

/** Whether no field must be named, refused or left out: those of the body are usual, messages have a role and a text only. */
export function hasOnlyUsualFields(body: Record<string, unknown>): boolean {
  for (const name in body) if (name !== 'model' && name !== 'messages' && usualFields[name] === undefined) return false
  const { messages, user } = body
  // A number as `user` is left out.
  if (!Array.isArray(messages) || typeof user === 'number') return false
  for (const message of messages) {
    if (typeof message !== 'object' || message === null || !isText((message as Message).content)) return false
    for (const name in message) if (name !== 'role' && name !== 'content') return false
  }
  return true
}

const isBetween = (least: number, most: number) => (value: unknown) =>
  typeof value === 'number' && value >= least && value <= most
const isCap = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1

/** Without a prototype, so that a field of the client finds nothing else. */
const usualFields: Record<string, ((value: unknown) => boolean) | undefined> = Object.assign(Object.create(null), {
  stream: (value: unknown) => typeof value === 'boolean',
  stream_options: isUsualStreamOptions,
  max_completion_tokens: isCap,
  max_tokens: isCap,
  temperature: isBetween(0, 2),
  top_p: isBetween(0, 1),
  presence_penalty: isBetween(-2, 2),
  frequency_penalty: isBetween(-2, 2),
  seed: Number.isSafeInteger,
  stop: (value: unknown) => typeof value === 'string',
  user: (value: unknown) => typeof value === 'string' && value.length <= maximumUserLength,
})

/** Only `include_usage`, so that the object may be used as it is. */
function isUsualStreamOptions(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const names = Object.keys(value)
  return names.length === 1 && typeof (value as Record<string, unknown>).include_usage === 'boolean'
}

/** A text that may have too many characters is counted by the schema. */
export function isText(content: unknown): content is Text {
  return (
    typeof content === 'string' ||
    (content instanceof JsonText && content.maximumCharacters <= maximumCharactersPerMessage)
  )
}

function readMessage(message: unknown): Message | undefined {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return undefined
  const { role, content } = message as Record<string, unknown>
  if (!roles.has(role)) return undefined
  if (isText(content)) return { role: role as Message['role'], content }
  if (!Array.isArray(content) || content.length === 0 || content.length > maximumPartsPerMessage) return undefined
  if (!content.every(isTextPart)) return undefined
  return { role: role as Message['role'], content: content.map(({ text }) => ({ type: 'text', text })) }
}

function isTextPart(part: unknown): part is { type: 'text'; text: Text } {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return false
  const { type, text } = part as Record<string, unknown>
  return type === 'text' && isText(text)
}
