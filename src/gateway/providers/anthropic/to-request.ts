import { jsonRequest } from '../json-request.ts'
import { acceptCall, mapEffort, openingText } from '../accept-call.ts'
import { isBlankText, joinTexts } from '../../../platform/bodies/index.ts'
import { isParts, type PromptText, type TextPart, toClaudeSchema } from '../../conversation/index.ts'
import { shapeConversation, toolArguments, trimFinalTurn } from '../conversation.ts'
import { resolveTraits } from '../model-traits/index.ts'
import { nativeSchemaOrTool, useAnswerTool } from '../structured-answer.ts'
import { toBlocksOfParts, toCacheMark } from './content-blocks.ts'
import { toThinking } from './thinking.ts'
import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { definitionsFor } from '../hosted-forms.ts'
import { isNative } from './is-native.ts'
import { fitThinking, toNativeBody } from './to-native.ts'
import { type CachePlan, planCache } from '../prompt-cache.ts'
import { Adjustments, fieldsOfOpenAi, mapSampling } from '../sampling.ts'
import type { WireRequest } from '../wire-adapter.ts'
import type { JsonObject } from '../wire-json.ts'

const defaultBaseUrl = 'https://api.anthropic.com'
/** The only dated version of the Messages API; sent unless the operator sets another one. */
const defaultVersion = '2023-06-01'
/** Anthropic's temperature ranges from 0 to 1, ours from 0 to 2. */
const temperatureFactor = 0.5

/** Maps a call to a request to `POST /v1/messages`. */
export function toMessagesRequest(
  call: ProviderCall,
  options: { stream: boolean },
  settings: ProviderSettings,
): WireRequest {
  const adjustments = new Adjustments()
  const body = toMessagesBody(call, options, settings, adjustments)
  return jsonRequest(`${apiRoot(settings)}/v1/messages`, body, {
    accept: options.stream ? 'text/event-stream' : 'application/json',
    headers: { ...versionHeader(settings), ...betaHeader(call.request) },
    adjusted: adjustments.names(),
  })
}

/** Fields of a prompt: the count has no others. */
const countedFields = [
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'cache_control',
  'context_management',
  'mcp_servers',
]

/** Maps a call to a request to `POST /v1/messages/count_tokens`. */
export function toCountRequest(call: ProviderCall, settings: ProviderSettings): WireRequest {
  const body = toMessagesBody(call, { stream: false }, settings, new Adjustments())
  const counted = Object.fromEntries(Object.entries(body).filter(([name]) => countedFields.includes(name)))
  return jsonRequest(`${apiRoot(settings)}/v1/messages/count_tokens`, counted, {
    accept: 'application/json',
    headers: { ...versionHeader(settings), ...betaHeader(call.request) },
    adjusted: [],
  })
}

/** The address before `/v1`; operators may configure it with or without. */
export function apiRoot(settings: ProviderSettings): string {
  return (settings.baseUrl ?? defaultBaseUrl).replace(/\/+$/, '').replace(/\/v1$/, '')
}

export function versionHeader(settings: ProviderSettings): Record<string, string> {
  return { 'anthropic-version': settings.apiVersion ?? defaultVersion }
}

function betaHeader({ betas }: ProviderRequest): Record<string, string> {
  return betas && betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}
}

function toMessagesBody(
  original: ProviderCall,
  options: { stream: boolean },
  settings: ProviderSettings,
  adjustments: Adjustments,
): JsonObject {
  const traits = resolveTraits('anthropic', original.model)
  const call = acceptCall(original, settings, traits, adjustments)
  if (isNative(call.request)) return toNativeBody(call, options, { settings, traits }, adjustments)
  const { request, model } = call
  const cache = planCache(call, settings, traits)
  const opening = { type: 'text', text: openingText }
  const { system, turns, opened } = shapeConversation(request.messages, (message) => toBlocks(message, cache), opening)
  if (opened) adjustments.noteName('messages')
  const factor = settings.quirks?.temperatureFactor ?? temperatureFactor
  const { temperature, topP } = mapSampling(call, { factor, traits }, adjustments)
  const effort = mapEffort(call, traits, adjustments)
  const format = toOutputFormat(request)
  const cap = request.maxOutputTokens ?? model.maxOutputTokens
  const wanted = toThinking(request, traits, adjustments)
  const thinking = wanted && fitThinking(wanted, cap, adjustments)
  // Thinking leaves no choice of the temperature.
  if (thinking && thinking.type !== 'disabled' && temperature !== undefined) adjustments.note('temperature')
  const output = { ...(effort !== undefined && { effort }), ...(format && { format }) }
  const stop = mapStop(request, adjustments)
  adjustments.drop(request, ...droppedFields)
  return {
    model: model.id,
    max_tokens: cap,
    ...(system.length > 0 && { system: toSystem(system, cache) }),
    messages: trimFinalTurn(turns).map((turn) => ({ role: turn.role, content: plainWherePossible(turn.blocks) })),
    ...(temperature !== undefined && (!thinking || thinking.type === 'disabled') && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(stop !== undefined && { stop_sequences: stop }),
    ...(request.topK !== undefined && !thinking && { top_k: request.topK }),
    ...(thinking && { thinking }),
    ...((effort !== undefined || format) && { output_config: output }),
    ...(request.user !== undefined && { metadata: { user_id: request.user } }),
    ...(request.serviceTier !== undefined && { service_tier: request.serviceTier }),
    ...toTools(request, adjustments),
    ...(options.stream && { stream: true }),
  }
}

/** Fields without a place in the Messages API. */
const droppedFields = ['seed', 'presencePenalty', 'frequencyPenalty', 'metadata', ...fieldsOfOpenAi] as const

/** There is no mode for JSON without a schema. */
function toOutputFormat(request: ProviderRequest): JsonObject | undefined {
  if (request.responseFormat?.type === 'json_object') useAnswerTool(request, { type: 'object' })
  const schema = nativeSchemaOrTool(request, toClaudeSchema)
  return schema && { type: 'json_schema', schema }
}

const cacheMark = { cache_control: { type: 'ephemeral' } }

/** One text, or blocks where a mark follows one of them. */
function toSystem(texts: TextPart[], { system }: CachePlan): JsonObject[] | PromptText {
  if (texts.some(({ cache }) => cache))
    return texts.map(({ text, cache }) => ({ type: 'text', text, ...toCacheMark(cache) }))
  const [first] = texts
  const text =
    texts.length === 1
      ? first!.text
      : joinTexts(
          texts.map((part) => part.text),
          '\n\n',
        )
  return system ? [{ type: 'text', text, ...cacheMark }] : text
}

/** Thinking is sent back unchanged before the text and calls that followed it: its signature is verified. */
function toBlocks(message: ProviderMessage, { marked }: CachePlan): JsonObject[] {
  const thinking = message.replay?.format === 'anthropic' ? message.replay.blocks : []
  const blocks = toContentBlocks(message)
  const last = blocks.at(-1)
  if (last && marked.has(message)) blocks[blocks.length - 1] = { ...last, ...cacheMark }
  return [...thinking, ...blocks]
}

/** The API refuses blank text blocks, so a blank text becomes no block. Tool results precede text of the same turn. */
function toContentBlocks(message: ProviderMessage): JsonObject[] {
  const { content } = message
  if (message.role === 'tool') {
    return [
      {
        type: 'tool_result',
        tool_use_id: message.toolCallId ?? '',
        content: isParts(content) ? toBlocksOfParts(content) : content,
        ...(message.isError && { is_error: true }),
      },
    ]
  }
  const parts = isParts(content)
    ? toBlocksOfParts(content)
    : isBlankText(content)
      ? []
      : [{ type: 'text', text: content }]
  const calls = (message.toolCalls ?? []).map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: call.name,
    input: toolArguments(call.argumentsJson),
  }))
  return [...parts, ...calls]
}

function plainWherePossible(blocks: JsonObject[]): JsonObject[] | string {
  const [first] = blocks
  const plain = blocks.length === 1 && first?.type === 'text' && first.cache_control === undefined
  return plain ? String(first.text) : blocks
}

function toTools(request: ProviderRequest, adjustments: Adjustments): JsonObject {
  const { tools = [], hostedTools = [] } = request
  if (tools.length === 0 && hostedTools.length === 0) return {}
  const choices = { auto: 'auto', none: 'none', required: 'any' } as const
  const choice = request.toolChoice
  const single = request.parallelToolCalls === false
  return {
    tools: [
      ...tools.map((tool) => ({
        name: tool.name,
        description: tool.description,
        input_schema: tool.parameters,
        ...(tool.strict && { strict: true }),
        ...toCacheMark(tool.cache),
      })),
      ...definitionsFor('anthropic', hostedTools, adjustments),
    ],
    ...((choice !== undefined || single) && {
      tool_choice: {
        ...(typeof choice === 'object' ? { type: 'tool', name: choice.name } : { type: choices[choice ?? 'auto'] }),
        ...(single && choice !== 'none' && { disable_parallel_tool_use: true }),
      },
    }),
  }
}

/** The API refuses only stop sequences of white space. */
function mapStop(request: ProviderRequest, adjustments: Adjustments): string[] | undefined {
  if (!request.stop || request.stop.length === 0) return undefined
  const usable = request.stop.filter((sequence) => !isBlankText(sequence))
  if (usable.length !== request.stop.length) adjustments.note('stop')
  return usable.length > 0 ? usable : undefined
}
