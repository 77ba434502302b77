import { chatSettingsSchema } from '../../../contract/gateway-v2-chat.ts'
import { decodeTexts, JsonText } from '../../../platform/bodies/index.ts'
import { AppError, isObject } from '../../../platform/kernel/index.ts'
import { type CacheMark, isBlankContent, isParts, type PromptText } from '../../conversation/index.ts'
import type { ProviderMessage, ProviderRequest } from '../../providers/index.ts'
import { hasOnlyUsualFields, readUsualRequest } from '../../gateway/index.ts'
import { assertCharacters, invalid, settingsReader, unsupported } from '../limits.ts'
import { messageFields, parseMessages, partFields } from './parse-messages.ts'
import { parseTools } from './parse-tools.ts'

export interface ParsedChat {
  model: string
  stream: boolean
  includeUsage: boolean
  /** False: the client does not want the text of the reasoning. */
  showsReasoning: boolean
  /** The request has `functions`; the answer then has `function_call`. */
  isLegacy: boolean
  request: ProviderRequest
  ignored: string[]
}

type Body = Record<string, unknown>
type Settings = ReturnType<typeof readSettings>

const readSettings = settingsReader(chatSettingsSchema)

/** Fields that are read outside of the schema of single values. */
const structures = [
  'messages',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'response_format',
  'web_search_options',
] as const

/** Fields whose meaning no deployment offers; null counts as absent. */
const refused: Record<string, string> = {
  audio: 'audio answers are not supported',
  moderation: 'moderation is not supported',
}

/** Names of the same fields at other hosts of the family. */
const synonyms: Record<string, string> = { random_seed: 'seed' }

/** Fields that are read; the others are ignored and named in `x-ignored-params`. */
export const chatFields: ReadonlySet<string> = new Set([
  ...Object.keys(chatSettingsSchema.shape),
  ...structures,
  ...Object.keys(refused),
  ...Object.keys(synonyms),
  'modalities',
])

/**
 * Reads a chat-completions body of version 2. Throws AppError `invalid_request` or `unsupported_parameter` with the field. `unread` names
 * fields that were left out before. Texts may be `JsonText`; those of messages stay so.
 */
export function parseChat(body: unknown, unread: string[] = []): ParsedChat {
  if (!isObject(body) || body instanceof JsonText)
    throw new AppError('invalid_request', 'The body must be a JSON object.')
  const plain = unread.length === 0 ? parsePlain(body) : undefined
  if (plain) return plain
  decodeOtherTexts(body)
  const ignored = new Set(unread)
  refuseFields(body)
  const settings = readChatSettings(body, ignored)
  const { isLegacy, ignored: unused, ...tools } = parseTools(body)
  for (const field of unused) ignored.add(field)
  const messages = parseMessages(body.messages)
  assertAsks(messages)
  noteUnknown(body, ignored)
  noteUnused(settings, ignored)
  return {
    model: settings.model,
    stream: settings.stream ?? false,
    includeUsage: settings.stream_options?.include_usage ?? false,
    showsReasoning: settings.reasoning?.exclude !== true,
    isLegacy,
    request: {
      ...toRequest(messages, settings),
      ...tools,
      ...(marksHour(messages, tools.tools) && { writesHourCache: true }),
    },
    ignored: [...ignored],
  }
}

/** A body that has only texts and the usual fields, which is read as in version 1 and has the same result; undefined for others. */
function parsePlain(body: Body): ParsedChat | undefined {
  const fields = hasOnlyUsualFields(body) ? readUsualRequest(body) : undefined
  if (!fields) return undefined
  const messages = fields.messages as ProviderMessage[]
  for (let index = 0; index < messages.length; index++)
    assertCharacters([messages[index]!.content as PromptText], ['messages', index, 'content'])
  assertAsks(messages)
  return {
    model: fields.model,
    stream: fields.stream ?? false,
    includeUsage: fields.stream_options?.include_usage ?? false,
    showsReasoning: true,
    isLegacy: false,
    request: toRequest(messages, fields),
    ignored: [],
  }
}

/** Only texts and media of messages may stay bytes. */
function decodeOtherTexts(body: Body) {
  decodeMembers(body, ['messages'])
  if (body.messages instanceof JsonText) body.messages = body.messages.toString()
  for (const message of entriesOf(body.messages)) {
    decodeMembers(message, ['content'])
    for (const part of entriesOf(message.content)) decodeMembers(part, ['text', 'image_url', 'file', 'input_audio'])
  }
}

function decodeMembers(value: Body, except: readonly string[]) {
  for (const name in value)
    if (typeof value[name] === 'object' && !except.includes(name)) value[name] = decodeTexts(value[name])
}

function entriesOf(list: unknown): Body[] {
  return Array.isArray(list) ? list.filter((entry) => isObject(entry) && !(entry instanceof JsonText)) : []
}

function refuseFields(body: Body) {
  for (const [field, why] of Object.entries(refused)) {
    if (body[field] !== undefined && body[field] !== null) throw unsupported([field], why)
  }
  const { modalities } = body
  if (modalities === undefined || modalities === null) return
  if (!Array.isArray(modalities) || modalities.some((modality) => modality !== 'text'))
    throw unsupported(['modalities'], 'only text answers are supported; leave it out or send `["text"]`')
}

function readChatSettings(body: Body, ignored: Set<string>) {
  const values: Body = { ...body }
  for (const [synonym, field] of Object.entries(synonyms)) {
    if (body[synonym] === undefined) continue
    if (values[field] === undefined) values[field] = body[synonym]
    else ignored.add(synonym)
  }
  leaveOutNeutral(values, ignored)
  return readSettings(values)
}

/** Values that change nothing, as in version 1. */
const neutralValues: Record<string, (value: unknown) => boolean> = {
  store: (value) => value === true,
  service_tier: (value) => typeof value === 'string' && value !== 'auto' && value !== 'default',
  user: (value) => typeof value === 'number',
  logit_bias: (value) => isObject(value) && Object.keys(value).length === 0,
}

function leaveOutNeutral(values: Body, ignored: Set<string>) {
  for (const [field, isNeutral] of Object.entries(neutralValues)) {
    if (!isNeutral(values[field])) continue
    delete values[field]
    ignored.add(field)
  }
  const { metadata } = values
  if (!isObject(metadata)) return
  const pairs = Object.entries(metadata)
  values.metadata = Object.fromEntries(pairs.filter(([, value]) => typeof value === 'string'))
  for (const [key, value] of pairs) if (typeof value !== 'string') ignored.add(`metadata.${key}`)
}

function toRequest(messages: ProviderMessage[], settings: Partial<Settings>): ProviderRequest {
  assertConsistent(settings)
  const { reasoning, n, top_logprobs: topLogprobs } = settings
  const options: ProviderRequest = {
    messages,
    temperature: settings.temperature,
    topP: settings.top_p,
    maxOutputTokens: settings.max_completion_tokens ?? settings.max_tokens,
    stop: typeof settings.stop === 'string' ? [settings.stop] : settings.stop,
    seed: settings.seed,
    presencePenalty: settings.presence_penalty,
    frequencyPenalty: settings.frequency_penalty,
    reasoningEffort: settings.reasoning_effort ?? reasoning?.effort,
    user: settings.user ?? settings.safety_identifier,
    metadata: settings.metadata,
    serviceTier: settings.service_tier,
  }
  if (settings.top_k !== undefined) options.topK = settings.top_k
  if (settings.verbosity !== undefined) options.verbosity = settings.verbosity
  if (settings.logit_bias !== undefined) options.logitBias = settings.logit_bias
  if (settings.parallel_tool_calls !== undefined) options.parallelToolCalls = settings.parallel_tool_calls
  if (settings.logprobs) options.logprobs = true
  if (topLogprobs !== undefined && topLogprobs > 0) options.topLogprobs = topLogprobs
  if (n !== undefined && n > 1) options.choices = n
  const reasoningOptions = toReasoning(reasoning)
  if (reasoningOptions) options.reasoning = reasoningOptions
  return options
}

function assertConsistent(settings: Partial<Settings>) {
  const { max_completion_tokens: cap, max_tokens: otherCap } = settings
  if (cap !== undefined && otherCap !== undefined && cap !== otherCap)
    throw invalid(['max_tokens'], 'differs from `max_completion_tokens`, its other name; send one')
  if (settings.stream_options !== undefined && settings.stream !== true)
    throw invalid(['stream_options'], 'is only allowed when stream is true')
  if (settings.top_logprobs && settings.logprobs !== true) throw invalid(['top_logprobs'], 'needs `logprobs: true`')
}

function toReasoning(reasoning: Settings['reasoning']): ProviderRequest['reasoning'] {
  if (!reasoning) return undefined
  const { enabled, max_tokens: budgetTokens, summary } = reasoning
  if (enabled === undefined && budgetTokens === undefined && summary === undefined) return undefined
  return {
    ...(enabled !== undefined && { mode: enabled ? ('enabled' as const) : ('disabled' as const) }),
    ...(budgetTokens !== undefined && { budgetTokens }),
    ...(summary !== undefined && { summary }),
  }
}

/** Several providers refuse a blank question, each in different words. */
function assertAsks(messages: ProviderMessage[]) {
  const last = messages.at(-1)!
  if (last.role === 'user' && isBlankContent(last.content))
    throw invalid(['messages', messages.length - 1, 'content'], 'must not be blank: the last message asks the question')
}

/** A hint for the cache of one provider, and a second name of the user. */
function noteUnused(
  { user, safety_identifier: identifier, prompt_cache_key: cacheKey }: Settings,
  ignored: Set<string>,
) {
  if (cacheKey !== undefined) ignored.add('prompt_cache_key')
  if (identifier !== undefined && user !== undefined && user !== identifier) ignored.add('safety_identifier')
}

function marksHour(messages: readonly ProviderMessage[], tools: ProviderRequest['tools'] = []): boolean {
  const isHour = (marked: object) => 'cache' in marked && (marked.cache as CacheMark | undefined)?.ttl === '1h'
  return tools.some(isHour) || messages.some(({ content }) => isParts(content) && content.some(isHour))
}

function noteUnknown(body: Body, ignored: Set<string>) {
  for (const field in body) if (!chatFields.has(field)) ignored.add(field)
  for (const message of entriesOf(body.messages)) {
    noteOthers(message, messageFields, 'messages', ignored)
    for (const part of entriesOf(message.content)) noteOthers(part, partFields, 'messages.content', ignored)
  }
}

function noteOthers(value: Body, known: readonly string[], where: string, ignored: Set<string>) {
  for (const name in value) if (!known.includes(name)) ignored.add(`${where}.${name}`)
}
