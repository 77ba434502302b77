import {
  completionRequestSchema,
  maximumCharactersPerMessage,
  maximumMessages,
  maximumMetadataPairs,
  maximumPartsPerMessage,
} from '../../contract/gateway.ts'
import { readValue } from '../../contract/validation.ts'
import {
  type BodyReader,
  type BodyShape,
  countCharacters,
  decodeTexts,
  joinTexts,
  JsonText,
  LongTexts,
  textOf,
  toMovable,
  wholeMembers,
} from '../../platform/bodies/index.ts'
import { AppError, isObject, invalidField } from '../../platform/kernel/index.ts'
import { isBlankContent, textOfContent } from '../conversation/index.ts'
import type { ProviderMessage, ProviderRequest } from '../providers/index.ts'
import type { TokenEstimate } from '../tokens/index.ts'
import { estimatePromptAtOnce } from './prompt-size.ts'
import { type Fields, hasOnlyUsualFields, isText, readUsualRequest } from './usual-request.ts'

interface ParsedCompletion {
  model: string
  stream: boolean
  includeUsage: boolean
  request: ProviderRequest
  /** Fields that are unknown or change nothing, and were left out: for `x-ignored-params`. */
  ignored: string[]
}

const useVersion2 = 'use version 2 of the gateway, with the base URL `/v2/gateway`'
const noTools = 'tool calling is not supported'

/** Fields whose meaning the gateway does not offer; null counts as absent. */
const refusedFields: Record<string, string> = {
  tools: `${noTools}; leave \`tools\` out or send an empty array, or ${useVersion2}`,
  functions: `${noTools}; leave \`functions\` out or send an empty array, or ${useVersion2}`,
  tool_choice: `${noTools}; leave it out or send "none", or ${useVersion2}`,
  function_call: `${noTools}; leave it out or send "none", or ${useVersion2}`,
  parallel_tool_calls: `${noTools}; ${useVersion2}`,
  logprobs: `log probabilities are not supported; leave it out or send false, or ${useVersion2}`,
  top_logprobs: 'log probabilities are not supported; leave it out or send 0',
  logit_bias: '`logit_bias` is not supported; leave it out or send {}',
  audio: 'audio is not supported',
  prediction: 'predicted outputs are not supported',
  web_search_options: 'web search is not supported',
  moderation: 'moderation is not supported',
  n: `only one choice per request is supported; send 1 or leave it out, or ${useVersion2}`,
  response_format: `structured outputs are not supported; leave it out or send {"type": "text"}, or ${useVersion2}`,
  modalities: 'only text is supported; leave it out or send ["text"]',
}

/** Values of refused fields that describe the gateway's own behaviour. They are accepted silently. */
const plainValues: Record<string, (value: unknown) => boolean> = {
  n: (value) => value === 1,
  response_format: (value) => isObject(value) && value.type === 'text',
  modalities: (value) => Array.isArray(value) && value.length === 1 && value[0] === 'text',
}

const isEmptyArray = (value: unknown) => Array.isArray(value) && value.length === 0
/** Without tools, which are refused, these choices change nothing. */
const choosesNoTool = (value: unknown) => value === 'none' || value === 'auto'

/** Values that change nothing: left out and named in `x-ignored-params`. */
const neutralValues: Record<string, (value: unknown) => boolean> = {
  tools: isEmptyArray,
  functions: isEmptyArray,
  tool_choice: choosesNoTool,
  function_call: choosesNoTool,
  parallel_tool_calls: (value) => typeof value === 'boolean',
  logprobs: (value) => value === false,
  top_logprobs: (value) => value === 0,
  logit_bias: (value) => isObject(value) && Object.keys(value).length === 0,
  store: (value) => value === true,
  service_tier: (value) => typeof value === 'string' && value !== 'auto' && value !== 'default',
  user: (value) => typeof value === 'number',
}

/** Fields that are read; the others are ignored. */
const knownFields: ReadonlySet<string> = new Set([
  ...Object.keys(completionRequestSchema.shape),
  ...Object.keys(refusedFields),
  ...Object.keys(neutralValues),
])
/** Fields of a message besides role and content that SDKs copy from an earlier answer; they may be empty. */
const emptyMessageFields = ['tool_calls', 'function_call', 'audio', 'refusal', 'tool_call_id']

const part: BodyShape = { members: wholeMembers(['type', 'text', 'refusal']) }
const message: BodyShape = {
  members: new Map([
    ...wholeMembers(['role', ...emptyMessageFields]),
    ['content', { maximumItems: maximumPartsPerMessage, items: part }],
  ]),
}

export type ReadCompletion = ParsedCompletion & { promptEstimate: TokenEstimate }

/**
 * How the body of a completion is read: what is not a known field is never built. The prompt is estimated here, because bodies with many short
 * texts or unusual fields are read in a thread: 100 KB take 0.7 ms.
 */
export const completionBody: BodyReader<ReadCompletion> = {
  module: import.meta.url,
  exportName: 'completionBody',
  shape: {
    members: new Map([
      ...wholeMembers(knownFields),
      ['metadata', { maximumMembers: maximumMetadataPairs }],
      ['messages', { maximumItems: maximumMessages, items: message }],
    ]),
  },
  // Each part is an object with two values; the rest is for the messages themselves and the other fields.
  maximumValues: 3 * maximumMessages * maximumPartsPerMessage + 100_000,
  readUsual,
  startLong() {
    const texts = new LongTexts()
    return { push: (bytes) => texts.push(bytes), finish: () => readUsual(texts.finish()) }
  },
  read(value, ignored) {
    const parsed = parseCompletion(value, ignored)
    for (const message of parsed.request.messages) message.content = toMovable(textOfContent(message.content))
    return { ...parsed, promptEstimate: estimatePromptAtOnce(parsed.request.messages) }
  },
}

function readUsual(value: unknown): ReadCompletion | undefined {
  const parsed = parseUsualCompletion(value)
  return parsed && { ...parsed, promptEstimate: estimatePromptAtOnce(parsed.request.messages) }
}

/**
 * Reads a chat-completions body. Throws AppError `invalid_request` or `unsupported_parameter` with `param` naming the field, and
 * the limit in the message. `unread` names fields that were left out before.
 */
export function parseCompletion(body: unknown, unread: string[] = []): ParsedCompletion {
  if (!isObject(body) || body instanceof JsonText)
    throw new AppError('invalid_request', 'The body must be a JSON object.')
  decodeOtherTexts(body)
  refuseUnsupported(body)
  const { kept, left } = leaveOutNeutral(body)
  return toCompletion(readUsualRequest(kept) ?? readFields(kept), () => [...left, ...unread, ...ignoredFields(body)])
}

/** The same for a body that has only fields of `readUsualRequest`; undefined for others. Throws as `parseCompletion`. */
function parseUsualCompletion(body: unknown): ParsedCompletion | undefined {
  const fields = isObject(body) && hasOnlyUsualFields(body) ? readUsualRequest(body) : undefined
  return fields && toCompletion(fields, () => [])
}

function toCompletion(fields: Fields, ignored: () => string[]): ParsedCompletion {
  const messages = fields.messages.map(flattenMessage)
  assertMessageOrder(messages)
  if (fields.stream_options !== undefined && fields.stream !== true) {
    throw invalidField('stream_options', 'stream_options is only allowed when stream is true.')
  }
  return {
    model: fields.model,
    stream: fields.stream ?? false,
    includeUsage: fields.stream_options?.include_usage ?? false,
    ignored: ignored(),
    request: {
      messages,
      temperature: fields.temperature,
      topP: fields.top_p,
      maxOutputTokens: outputCap(fields.max_completion_tokens, fields.max_tokens),
      stop: typeof fields.stop === 'string' ? [fields.stop] : fields.stop,
      seed: fields.seed,
      presencePenalty: fields.presence_penalty,
      frequencyPenalty: fields.frequency_penalty,
      reasoningEffort: fields.reasoning_effort,
      user: fields.user,
      metadata: fields.metadata,
      serviceTier: fields.service_tier,
    },
  }
}

/** The schema reads a letter in the place of each long text; what may be too long is decoded. */
function readFields(body: Record<string, unknown>): Fields {
  const { messages } = body
  const shortened = Array.isArray(messages) ? { ...body, messages: messages.map(shortenMessage) } : body
  const read = readValue(completionRequestSchema, shortened, 'the body')
  if ('problem' in read) throw invalidField(read.problem.param, read.problem.message)
  const fields: Fields = read.value
  for (const [index, message] of fields.messages.entries()) {
    const { content } = (messages as Fields['messages'])[index]!
    if (isLongText(content)) message.content = content
    if (!Array.isArray(content)) continue
    for (const [at, { text }] of content.entries())
      if (isLongText(text)) (message.content as { text: unknown }[])[at]!.text = text
  }
  return fields
}

function shortenMessage(message: unknown): unknown {
  if (!isObject(message)) return message
  const { content } = message
  if (!Array.isArray(content)) return { ...message, content: shorten(content) }
  return {
    ...message,
    content: content.map((part: unknown) => (isObject(part) ? { ...part, text: shorten(part.text) } : part)),
  }
}

const isLongText = (text: unknown): text is JsonText => text instanceof JsonText && isText(text)
const shorten = (text: unknown) => (isLongText(text) ? 'x' : decodeTexts(text))

/** Only the contents of messages may stay bytes. */
function decodeOtherTexts(body: Record<string, unknown>) {
  decodeMembers(body, 'messages')
  decodeEntries(body, 'messages', (message) => {
    decodeMembers(message, 'content')
    if (!(message.content instanceof JsonText)) decodeEntries(message, 'content', (part) => decodeMembers(part, 'text'))
  })
}

function decodeMembers(value: Record<string, unknown>, except: string) {
  for (const name in value)
    if (name !== except && typeof value[name] === 'object') value[name] = decodeTexts(value[name])
}

/** Decodes the objects of a list by `decode`, and what is something else altogether. */
function decodeEntries(of: Record<string, unknown>, name: string, decode: (entry: Record<string, unknown>) => void) {
  const list = of[name]
  if (!Array.isArray(list)) {
    if (typeof list === 'object') of[name] = decodeTexts(list)
    return
  }
  for (let index = 0; index < list.length; index++) {
    const entry: unknown = list[index]
    if (isObject(entry) && !(entry instanceof JsonText)) decode(entry)
    else list[index] = decodeTexts(entry)
  }
}

function refuseUnsupported(body: Record<string, unknown>) {
  if (hasField(body, mayBeRefused)) {
    for (const [field, why] of Object.entries(refusedFields)) {
      const value = body[field]
      if (value === undefined || value === null || plainValues[field]?.(value) || neutralValues[field]?.(value))
        continue
      throw unsupported(field, why)
    }
  }
  if (!Array.isArray(body.messages)) return
  for (const [index, message] of body.messages.entries())
    if (isObject(message)) refuseUnsupportedMessage(message, index)
}

const mayBeRefused: ReadonlySet<string> = new Set(Object.keys(refusedFields))
const mayBeLeftOut: ReadonlySet<string> = new Set([...Object.keys(neutralValues), 'metadata'])

function hasField(body: Record<string, unknown>, fields: ReadonlySet<string>): boolean {
  for (const field in body) if (fields.has(field)) return true
  return false
}

/** The body without the values that change nothing, and the names of what was left out. */
function leaveOutNeutral(body: Record<string, unknown>): { kept: Record<string, unknown>; left: string[] } {
  const left: string[] = []
  if (!hasField(body, mayBeLeftOut)) return { kept: body, left }
  const kept = { ...body }
  for (const [field, isNeutral] of Object.entries(neutralValues)) {
    if (!(field in kept) || !isNeutral(kept[field])) continue
    delete kept[field]
    left.push(field)
  }
  const { metadata } = kept
  if (isObject(metadata)) {
    const pairs = Object.entries(metadata)
    const texts = pairs.filter(([, value]) => typeof value === 'string')
    kept.metadata = Object.fromEntries(texts)
    for (const [key, value] of pairs) if (typeof value !== 'string') left.push(`metadata.${key}`)
  }
  return { kept, left }
}

function refuseUnsupportedMessage(message: Record<string, unknown>, index: number) {
  if (message.role === 'tool' || message.role === 'function')
    throw unsupported(`messages.${index}.role`, `${noTools}; ${useVersion2}`)
  for (const field of emptyMessageFields) {
    const value = message[field]
    if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) continue
    throw unsupported(
      `messages.${index}.${field}`,
      field === 'refusal' ? 'refusals are not taken back' : `tool calling and audio are not supported; ${useVersion2}`,
    )
  }
  if (!Array.isArray(message.content)) return
  for (const [at, part] of message.content.entries()) {
    if (isObject(part) && typeof part.type === 'string' && part.type !== 'text') {
      throw unsupported(`messages.${index}.content.${at}.type`, `only text content is supported; ${useVersion2}`)
    }
  }
}

function flattenMessage(message: Fields['messages'][number], index: number): ProviderMessage {
  const { role } = message
  if (message.content instanceof JsonText) return { role, content: message.content }
  const texts = typeof message.content === 'string' ? [message.content] : message.content.map((part) => part.text)
  const joined = joinTexts(texts, '')
  // A text that may be too long is decoded and counted.
  if (joined instanceof JsonText && isText(joined)) return { role, content: joined }
  const content = textOf(joined)
  if (content.length > maximumCharactersPerMessage && countCharacters(content) > maximumCharactersPerMessage) {
    throw invalidField(
      `messages.${index}.content`,
      `\`messages.${index}.content\` must have at most ${maximumCharactersPerMessage} characters.`,
    )
  }
  return { role, content }
}

function assertMessageOrder(messages: ProviderMessage[]) {
  const isInstruction = ({ role }: ProviderMessage) => role === 'system' || role === 'developer'
  const firstTurn = messages.findIndex((message) => !isInstruction(message))
  const late =
    firstTurn === -1 ? -1 : messages.findIndex((message, index) => index > firstTurn && isInstruction(message))
  if (late !== -1) {
    throw invalidField(
      `messages.${late}.role`,
      'system and developer messages are only allowed at the start of messages.',
    )
  }
  if (messages.at(-1)!.role !== 'user') {
    throw invalidField(`messages.${messages.length - 1}.role`, 'The last message must have the role user.')
  }
  // Several providers refuse it, each in different words.
  if (isBlankContent(messages.at(-1)!.content)) {
    const param = `messages.${messages.length - 1}.content`
    throw invalidField(param, `\`${param}\` must not be blank: the last message asks the question.`)
  }
}

function outputCap(maxCompletionTokens: number | undefined, maxTokens: number | undefined): number | undefined {
  if (maxCompletionTokens !== undefined && maxTokens !== undefined && maxCompletionTokens !== maxTokens) {
    throw invalidField(
      'max_tokens',
      'max_tokens and max_completion_tokens are two names of one limit and differ; send one.',
    )
  }
  return maxCompletionTokens ?? maxTokens
}

function ignoredFields(body: Record<string, unknown>): string[] {
  const ignored = Object.keys(body).filter((field) => !knownFields.has(field))
  const ofMessages = new Set<string>()
  for (const message of body.messages as Record<string, unknown>[]) {
    for (const field in message) {
      if (field !== 'role' && field !== 'content' && !emptyMessageFields.includes(field))
        ofMessages.add(`messages.${field}`)
    }
  }
  return [...ignored, ...ofMessages]
}

function unsupported(param: string, why: string): AppError {
  return new AppError('unsupported_parameter', `\`${param}\`: ${why}.`, { param })
}
