import { responsesSettingsSchema, type ResponsesSettings } from '../../../contract/gateway-v2-responses.ts'
import { quickReader } from '../../../contract/quick-reader.ts'
import { readValue } from '../../../contract/validation.ts'
import { decodeTexts, JsonText } from '../../../platform/bodies/index.ts'
import { AppError, isObject, invalidField } from '../../../platform/kernel/index.ts'
import type { ProviderRequest, ResponseFormat } from '../../providers/index.ts'
import { invalid, readSchema, unsupported } from '../limits.ts'
import { hostedFields } from './hosted-tools.ts'
import { longFields } from './parse-content.ts'
import { readInput } from './parse-input.ts'
import { readTools, type ReadTools } from './parse-tools.ts'
import { nameUnknown, type Reading, startReading } from './reading.ts'
import { type RequestedSettings, renderSettings } from './render-settings.ts'

export interface ParsedResponses {
  model: string
  stream: boolean
  request: ProviderRequest
  /** Fields without effect, for `x-ignored-params`. */
  ignored: string[]
  /** Fields that were changed, for `x-adjusted-params`. */
  adjusted: string[]
  /** Names of tools whose calls are custom tool calls in the answer. */
  customTools: string[]
  /** The members of the response object that repeat the request, as JSON without braces. */
  settings: string
}

/** Fields of the API that Portico does not serve, with what to send instead. Null counts as absent. */
const refused: Record<string, { neutral?: (value: unknown) => boolean; why: string }> = {
  store: {
    neutral: (value) => value === false,
    why: 'Portico stores no responses; leave it out or send false, and send the whole conversation in `input`',
  },
  background: {
    neutral: (value) => value === false,
    why: 'Portico runs no response in the background; leave it out or send false, and use `stream` for long answers',
  },
  previous_response_id: {
    why: 'Portico stores no responses; send the items of the earlier turns, with the output of each response, in `input`',
  },
  conversation: { why: 'Portico stores no conversations; send the items of the earlier turns in `input`' },
  prompt: { why: 'Portico stores no prompts; send the text in `instructions` and `input`' },
  context_management: { why: 'Portico does not compact conversations; send a shorter `input`' },
  moderation: { why: 'moderation is not supported; leave it out' },
}

/** Fields that are read; the others are named in `x-ignored-params`. */
export const knownFields = [
  ...Object.keys(responsesSettingsSchema.shape),
  'input',
  'tools',
  'tool_choice',
  ...Object.keys(refused),
]

/**
 * Reads a body of the Responses API. Throws AppError `invalid_request` or `unsupported_parameter` with `param`. `unread` names fields that
 * were left out before. Texts may be `JsonText`; those of messages stay so.
 */
export function parseResponses(body: unknown, unread: readonly string[] = []): ParsedResponses {
  if (!isObject(body) || body instanceof JsonText)
    throw new AppError('invalid_request', 'The body must be a JSON object.')
  decodeOtherTexts(body)
  refuseUnsupported(body)
  const reading = startReading(unread)
  nameUnknown(body, knownFields, '', reading)
  const fields = readFields(body)
  const tools = readTools(body.tools, body.tool_choice, reading)
  const messages = readInput(body.input, fields.instructions, reading)
  const request: ProviderRequest = { messages, ...readSampling(fields, reading), ...toolFields(tools, fields, reading) }
  const format = readFormat(fields)
  if (format) request.responseFormat = format
  if (fields.text?.verbosity) request.verbosity = fields.text.verbosity
  return {
    model: fields.model,
    stream: fields.stream ?? false,
    request,
    ignored: [...reading.ignored],
    adjusted: [...reading.adjusted],
    customTools: tools.customTools,
    settings: renderSettings(settingsOf(fields, tools)),
  }
}

/** Only texts and media of messages, and outputs of tools, may stay bytes. Changes `body`. */
function decodeOtherTexts(body: Record<string, unknown>): void {
  for (const name in body) if (name !== 'input') body[name] = decodeTexts(body[name])
  decodeShortFields(body.input)
}

/** The nesting of `value` is bounded. */
function decodeShortFields(value: unknown): void {
  if (typeof value !== 'object' || value === null || value instanceof JsonText) return
  const members = value as Record<string, unknown>
  for (const name in members) {
    const member = members[name]
    if (!(member instanceof JsonText)) decodeShortFields(member)
    else if (!longFields.has(name)) members[name] = member.toString()
  }
}

function refuseUnsupported(body: Record<string, unknown>): void {
  for (const [field, { neutral, why }] of Object.entries(refused)) {
    const value = body[field]
    if (value === undefined || value === null || neutral?.(value)) continue
    throw unsupported([field], why)
  }
}

/** The fields other than `input`, `tools` and `tool_choice`, whose schemas name the place of an error less precisely than their readers. */
function readFields(body: Record<string, unknown>): ResponsesSettings {
  const fields = readQuickly(body) ?? readBySchema(body)
  if (fields.stream_options !== undefined && fields.stream !== true)
    throw invalid(['stream_options'], 'is only allowed when stream is true')
  return fields
}

const readQuickly = quickReader(responsesSettingsSchema)

function readBySchema(body: Record<string, unknown>): ResponsesSettings {
  const read = readValue(responsesSettingsSchema, body, 'the body')
  if ('problem' in read) throw invalidField(read.problem.param, read.problem.message)
  return read.value
}

function readSampling(fields: ResponsesSettings, { adjusted, ignored }: Reading): Partial<ProviderRequest> {
  const sampling: Partial<ProviderRequest> = {}
  const set = <Name extends keyof ProviderRequest>(name: Name, value: ProviderRequest[Name] | undefined) => {
    if (value !== undefined) sampling[name] = value
  }
  set('temperature', fields.temperature)
  set('topP', fields.top_p)
  set('maxOutputTokens', fields.max_output_tokens)
  set('presencePenalty', fields.presence_penalty)
  set('frequencyPenalty', fields.frequency_penalty)
  set('user', fields.user ?? fields.safety_identifier)
  set('metadata', fields.metadata)
  set('reasoningEffort', fields.reasoning?.effort)
  const summary = fields.reasoning?.summary ?? fields.reasoning?.generate_summary
  if (summary !== undefined) sampling.reasoning = { summary }
  if (fields.service_tier === 'auto' || fields.service_tier === 'default') sampling.serviceTier = fields.service_tier
  else if (fields.service_tier !== undefined) adjusted.add('service_tier')
  if (fields.truncation === 'auto') adjusted.add('truncation')
  readLogprobs(fields, sampling)
  for (const name of withoutEffect) if (fields[name] !== undefined) ignored.add(name)
  for (const value of fields.include ?? []) if (!servedIncludes.includes(value)) ignored.add(`include.${value}`)
  if (fields.stream_options?.include_obfuscation) ignored.add('stream_options.include_obfuscation')
  return sampling
}

/** Hints for the caches and the tools of one provider; they change no answer. */
const withoutEffect = ['prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'] as const
const servedIncludes = [
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
  'web_search_call.action.sources',
  'web_search_call.results',
  'code_interpreter_call.outputs',
]

function readLogprobs(fields: ResponsesSettings, sampling: Partial<ProviderRequest>): void {
  const count = fields.top_logprobs ?? 0
  if (count === 0 && !fields.include?.includes('message.output_text.logprobs')) return
  sampling.logprobs = true
  if (count > 0) sampling.topLogprobs = count
}

function toolFields(
  { tools, hostedTools, toolChoice }: ReadTools,
  { parallel_tool_calls: parallel, max_tool_calls: maxToolCalls, include }: ResponsesSettings,
  reading: Reading,
): Partial<ProviderRequest> {
  const { ignored } = reading
  if (hostedTools.length === 0 && maxToolCalls !== undefined) ignored.add('max_tool_calls')
  if (tools.length === 0 && hostedTools.length === 0) {
    if (parallel === false) ignored.add('parallel_tool_calls')
    return {}
  }
  return {
    ...(tools.length > 0 && { tools }),
    ...(hostedTools.length > 0 && hostedFields(hostedTools, { maxToolCalls, include }, reading)),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(parallel !== undefined && { parallelToolCalls: parallel }),
  }
}

function readFormat({ text }: ResponsesSettings): ResponseFormat | undefined {
  const format = text?.format
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  const { name, description, strict } = format
  return {
    type: 'json_schema',
    name,
    schema: readSchema(format.schema, ['text', 'format', 'schema']),
    ...(description !== undefined && { description }),
    ...(strict !== undefined && { strict }),
  }
}

function settingsOf(fields: ResponsesSettings, { described }: ReadTools): RequestedSettings {
  return {
    instructions: fields.instructions ?? null,
    maxOutputTokens: fields.max_output_tokens ?? null,
    maxToolCalls: fields.max_tool_calls ?? null,
    metadata: fields.metadata ?? {},
    parallelToolCalls: fields.parallel_tool_calls ?? true,
    temperature: fields.temperature ?? 1,
    topP: fields.top_p ?? 1,
    topLogprobs: fields.top_logprobs ?? 0,
    presencePenalty: fields.presence_penalty ?? 0,
    frequencyPenalty: fields.frequency_penalty ?? 0,
    reasoning: {
      effort: fields.reasoning?.effort ?? null,
      summary: fields.reasoning?.summary ?? fields.reasoning?.generate_summary ?? null,
    },
    format: fields.text?.format ?? { type: 'text' },
    verbosity: fields.text?.verbosity ?? 'medium',
    tools: described.tools,
    toolChoice: described.toolChoice,
    user: fields.user,
    safetyIdentifier: fields.safety_identifier ?? null,
    promptCacheKey: fields.prompt_cache_key ?? null,
  }
}
