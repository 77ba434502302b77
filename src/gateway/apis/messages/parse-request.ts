import type { z } from 'zod'
import {
  type ContentBlockBody,
  countTokensRequestSchema,
  type MessageBody,
  type MessagesBody,
  messagesRequestSchema,
  type PromptBody,
} from '../../../contract/gateway-v2-messages.ts'
import { quickReader } from '../../../contract/quick-reader.ts'
import { readFields, sentence } from '../../../contract/validation.ts'
import { isObject, invalidField } from '../../../platform/kernel/index.ts'
import { isParts } from '../../conversation/index.ts'
import { type NativeRequest, type ProviderMessage, type ProviderRequest, unwrapReplay } from '../../providers/index.ts'
import {
  fieldName,
  type FieldPath,
  invalid,
  readList,
  readObject,
  readSchema,
  requestLimits,
  unsupported,
} from '../limits.ts'
import { marksHour } from './cache-mark.ts'
import { readHosted } from './hosted-tools.ts'
import { toTextPart } from './map-blocks.ts'
import { isReasoning, tokenOf, toTurns } from './map-turns.ts'
import { countVendorTools, parseTools } from './parse-tools.ts'
import { toMovable } from '../../../platform/bodies/index.ts'

export interface ParsedMessages {
  model: string
  stream: boolean
  request: ProviderRequest
  /** Tools that Anthropic defines: it adds their descriptions to the prompt. */
  vendorTools: number
  /** The client reads no thinking text. */
  omitsThinking: boolean
  /** Fields that change nothing, for `x-ignored-params`. */
  ignored: string[]
  /** Fields that were changed, for `x-adjusted-params`. */
  adjusted: string[]
}

/** Reads a body of `POST /messages`. Throws AppError `invalid_request` or `unsupported_parameter` with the field. */
export function parseMessages(body: unknown): ParsedMessages {
  const fields = readMessages(body)
  const ignored: string[] = []
  // Some clients send -1 for "not set".
  const set = (name: 'top_k' | 'top_p') => {
    const value = fields[name]
    if (value === undefined || value >= 0) return value
    ignored.push(name)
    return undefined
  }
  const topK = set('top_k')
  const topP = set('top_p')
  const parsed = parsePrompt(fields, ignored)
  const { temperature, stop_sequences: stop, metadata, service_tier: serviceTier } = fields
  Object.assign(parsed.request, {
    maxOutputTokens: fields.max_tokens,
    // The API's range is 0 to 1 for every model.
    ...(temperature !== undefined && { temperature, temperatureIsExact: true }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(stop && stop.length > 0 && { stop }),
    ...(metadata?.user_id !== undefined && { user: metadata.user_id }),
    ...(serviceTier !== undefined && { serviceTier: serviceTier === 'standard_only' ? 'default' : serviceTier }),
  } satisfies Partial<ProviderRequest>)
  return { ...parsed, stream: fields.stream ?? false, ignored }
}

/** Reads a body of `POST /messages/count_tokens`. Throws AppError. */
export function parseCountTokens(body: unknown): Omit<ParsedMessages, 'stream'> {
  const ignored: string[] = []
  return { ...parsePrompt(readPrompt(body), ignored), ignored }
}

const readMessages = readerOf(messagesRequestSchema)
const readPrompt = readerOf(countTokensRequestSchema)

function readerOf<Schema extends typeof messagesRequestSchema | typeof countTokensRequestSchema>(schema: Schema) {
  const readQuickly = quickReader(schema)
  return (body: unknown): z.output<Schema> => {
    refuseState(body)
    const quick = readQuickly(body)
    if (quick !== undefined) return quick
    const fields = readFields(schema, body)
    if ('value' in fields) return fields.value as z.output<Schema>
    const { param, words } = fields.problem
    const name = fieldName(param.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part)))
    throw invalidField(name, sentence(param === '' ? 'the body' : `\`${name}\``, words))
  }
}

/** Fields that use what the provider keeps for its account, which all organisations share, or that have another price. */
const refused: Readonly<Record<string, string>> = {
  container: "containers of the provider's account are not offered; leave it out",
  inference_geo: 'choose the region with the prefix `eu/` of the model',
  speed: 'only the standard speed is offered; leave it out',
  fallbacks: 'fallback models are not offered; leave it out',
  thread: 'threads are not offered; send all messages',
}
export const refusedFields = Object.keys(refused)

const isNeutral = (name: string, value: unknown) =>
  value === undefined ||
  value === null ||
  (name === 'speed' && value === 'standard') ||
  (Array.isArray(value) && value.length === 0)

function refuseState(body: unknown) {
  if (typeof body !== 'object' || body === null) return
  for (const [name, why] of Object.entries(refused)) {
    const value = (body as Record<string, unknown>)[name]
    if (!isNeutral(name, value)) throw unsupported([name], why)
  }
}

function parsePrompt(fields: PromptBody | MessagesBody, ignored: string[]) {
  const only: FieldPath[] = []
  const onlyNative = (path: FieldPath) => void only.push(path)
  moveBodyTexts(fields)
  const system = systemTurn(fields.system)
  const turns = toTurns(fields.messages, onlyNative)
  assertImages(turns)
  if (fields.cache_control) markLast(turns)
  if (fields.context_management) {
    if (changesPrompt(fields.context_management)) onlyNative(['context_management'])
    else ignored.push('context_management')
  }
  const format = readFormat(fields)
  const effort = fields.output_config?.effort
  const tools = parseTools(fields, onlyNative)
  const adjusted = new Set<string>()
  const hosted = readHosted(fields, adjusted)
  if (fields.mcp_servers && fields.mcp_servers.length > 0) onlyNative(['mcp_servers'])
  const request: ProviderRequest = {
    messages: [...system, ...turns],
    ...tools,
    ...hosted,
    ...(format && { responseFormat: { type: 'json_schema', name: 'answer', schema: format, strict: true } }),
    ...(effort !== undefined && { reasoningEffort: effort }),
    ...(fields.thinking && { reasoning: toReasoning(fields.thinking) }),
    native: toNative(fields, only[0] && fieldName(only[0])),
    ...(marksHour(fields) && { writesHourCache: true }),
  }
  const { thinking } = fields
  return {
    model: fields.model,
    request,
    vendorTools: countVendorTools(fields),
    adjusted: [...adjusted],
    omitsThinking: thinking !== undefined && 'display' in thinking && thinking.display === 'omitted',
  }
}

function assertImages(turns: readonly ProviderMessage[]) {
  let images = 0
  for (const { content } of turns) if (isParts(content)) for (const { type } of content) if (type === 'image') images++
  if (images > requestLimits.images) throw invalid(['messages'], `must have at most ${requestLimits.images} images`)
}

function systemTurn(system: PromptBody['system']): ProviderMessage[] {
  if (system === undefined || system.length === 0) return []
  if (typeof system === 'string') return [{ role: 'system', content: system }]
  const [first] = system
  const isPlain = system.length === 1 && !first!.cache_control
  return [{ role: 'system', content: isPlain ? first!.text : system.map(toTextPart) }]
}

function readFormat({ output_config, output_format }: PromptBody): Record<string, unknown> | undefined {
  if (output_config?.format) return readSchema(output_config.format.schema, ['output_config', 'format', 'schema'])
  return output_format && readSchema(output_format.schema, ['output_format', 'schema'])
}

function toReasoning(thinking: NonNullable<PromptBody['thinking']>): NonNullable<ProviderRequest['reasoning']> {
  if (thinking.type === 'enabled') return { mode: 'enabled', budgetTokens: thinking.budget_tokens }
  return { mode: thinking.type }
}

/** The mark of the whole request: the prompt may be kept up to its end. */
function markLast(turns: ProviderMessage[]) {
  const last = turns.at(-1)
  if (last) turns[turns.length - 1] = { ...last, cacheUpToHere: true }
}

/**
 * Whether the edits remove something. Coding agents send one that keeps all thinking with every request. Edits that send the prompt once
 * more (compaction) are not offered, because their cost is not bounded before the call.
 */
function changesPrompt({ edits }: Record<string, unknown>): boolean {
  if (edits === undefined || edits === null) return false
  const path = ['context_management', 'edits']
  const types = readList(edits, path, maximumEdits).map((edit, index) => {
    const { type, keep } = readObject(edit, [...path, index])
    if (typeof type === 'string' && /^clear_[a-z_]+_\d{8}$/.test(type))
      return !(type.startsWith('clear_thinking_') && keep === 'all')
    throw unsupported([...path, index, 'type'], 'only edits that clear something are offered')
  })
  return types.includes(true)
}

const maximumEdits = 16

/** The prompt as the client sent it, for hosts of this API. */
function toNative(fields: PromptBody | MessagesBody, only: string | undefined): NativeRequest {
  const { system, tools, tool_choice, thinking, output_config, output_format, cache_control } = fields
  const body = {
    messages: toNativeTurns(fields.messages),
    system,
    tools: tools && tools.length > 0 ? tools : undefined,
    tool_choice: tools && tools.length > 0 ? tool_choice : undefined,
    thinking,
    output_config,
    output_format,
    cache_control,
    context_management: fields.context_management,
    mcp_servers: fields.mcp_servers && fields.mcp_servers.length > 0 ? fields.mcp_servers : undefined,
  }
  const present = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
  return { family: 'anthropic', body: present, ...(only !== undefined && { only }) }
}

/**
 * Turns the long texts and media of a body into bytes, in place: they move from the thread that has read them without a copy, and both
 * forms of the request share them. Their type stays that of the schema; what reads them takes either form.
 */
function moveBodyTexts({ messages, system }: PromptBody): void {
  if (Array.isArray(system)) moveBlocks(system as ContentBlockBody[])
  for (const message of messages) {
    if (typeof message.content === 'string') message.content = moved(message.content)
    else moveBlocks(message.content)
  }
}

function moveBlocks(blocks: ContentBlockBody[]): void {
  for (const block of blocks) {
    if (block.type === 'text') block.text = moved(block.text)
    else if (block.type === 'image' || block.type === 'document') {
      if (block.source.type === 'base64') block.source.data = moved(block.source.data)
    } else if (block.type === 'tool_result') {
      if (Array.isArray(block.content)) moveBlocks(block.content as ContentBlockBody[])
      else if (block.content !== undefined) block.content = moved(block.content)
    }
  }
}

const moved = (text: string) => toMovable(text) as string

/**
 * The messages for a host of this API. What another provider has made in earlier turns is left out: reasoning, unsigned thinking and
 * citations of searches, because the host verifies them.
 */
function toNativeTurns(messages: readonly MessageBody[]): MessageBody[] {
  return messages.map((message) => {
    const { role, content } = message
    if (role !== 'assistant' || typeof content === 'string') return message
    if (!content.some((block) => isReasoning(block) || isCited(block))) return message
    return { role, content: content.flatMap(ownReasoning).map(withoutForeignCitations) }
  })
}

const isCited = (block: ContentBlockBody) => block.type === 'text' && block.citations !== undefined

function withoutForeignCitations(block: ContentBlockBody): ContentBlockBody {
  if (block.type !== 'text' || !block.citations) return block
  const citations = block.citations.filter((citation) => !(isObject(citation) && citation.encrypted_index === ''))
  return { ...block, citations: citations.length > 0 ? citations : undefined }
}

function ownReasoning(block: ContentBlockBody): ContentBlockBody[] {
  if (!isReasoning(block)) return [block]
  const token = tokenOf(block)
  if (token === '') return []
  const replay = unwrapReplay(token)
  if (!replay) return [block]
  // A client can forge a token: nothing but reasoning comes out of it.
  return replay.format === 'anthropic' ? (replay.blocks as unknown as ContentBlockBody[]).filter(isReasoning) : []
}
