import { toFunctionTools } from '../function-tools.ts'
import { jsonRequest } from '../json-request.ts'
import { acceptCall } from '../accept-call.ts'
import { isBlankText } from '../../../platform/bodies/index.ts'
import { isParts, type MessageContent, textOfContent, toPlainSchema } from '../../conversation/index.ts'
import { type ModelTraits, resolveTraits } from '../model-traits/index.ts'
import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { addressOf, isMedia, moveResultMedia, refusedPart } from '../media.ts'
import { usableSchema } from '../structured-answer.ts'
import { Adjustments, fieldsOfOpenAi, mapSampling } from '../sampling.ts'
import type { WireRequest } from '../wire-adapter.ts'
import type { JsonObject } from '../wire-json.ts'

const defaultBaseUrl = 'https://api.cohere.com'
/** Cohere's temperature ranges from 0 to 1, ours from 0 to 2. */
const temperatureFactor = 0.5
/** `p` of 1 is refused. */
const maximumTopP = 0.99
/** Cohere's penalties range from 0 to 1, those of the compatible API from -2 to 2. */
const penaltyFactor = 0.5
const maximumStopSequences = 5

/** Maps a call to a request to `POST /v2/chat`. */
export function toChatRequest(
  call: ProviderCall,
  options: { stream: boolean },
  settings: ProviderSettings,
): WireRequest {
  const adjustments = new Adjustments()
  const traits = resolveTraits('cohere', call.model)
  const body = toBody(acceptCall(call, settings, traits, adjustments), traits, settings, adjustments)
  // The API reference makes `stream` a required field of the request.
  return jsonRequest(
    `${apiRoot(settings)}/v2/chat`,
    { ...body, stream: options.stream },
    { accept: options.stream ? 'text/event-stream' : 'application/json', adjusted: adjustments.names() },
  )
}

/** The address before the version; operators may configure it with or without. */
export function apiRoot(settings: ProviderSettings): string {
  return (settings.baseUrl ?? defaultBaseUrl).replace(/\/+$/, '').replace(/\/v[12]$/, '')
}

function toBody(
  call: ProviderCall,
  traits: ModelTraits,
  settings: ProviderSettings,
  adjustments: Adjustments,
): JsonObject {
  const { request, model } = call
  const factor = settings.quirks?.temperatureFactor ?? temperatureFactor
  const { temperature, topP } = mapSampling(call, { factor, traits, maximumTopP }, adjustments)
  const frequencyPenalty = mapPenalty(request, 'frequencyPenalty', adjustments)
  const presencePenalty = mapPenalty(request, 'presencePenalty', adjustments)
  const stop = request.stop?.slice(0, maximumStopSequences)
  if (stop && stop.length !== request.stop?.length) adjustments.note('stop')
  adjustments.drop(request, ...droppedFields)
  return {
    model: model.id,
    messages: moveResultMedia(request.messages, adjustments)
      .map(toMessage)
      .filter((message) => message !== null),
    ...(request.maxOutputTokens !== undefined && { max_tokens: request.maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { p: topP }),
    ...(stop && stop.length > 0 && { stop_sequences: stop }),
    ...(request.seed !== undefined && { seed: request.seed }),
    ...(frequencyPenalty !== undefined && { frequency_penalty: frequencyPenalty }),
    ...(presencePenalty !== undefined && { presence_penalty: presencePenalty }),
    ...toThinking(call, adjustments),
    ...(request.topK !== undefined && { k: request.topK }),
    ...toOutputFormat(request),
    ...toTools(request),
  }
}

/** A penalty below 0 requests more repetition, which Cohere does not support. */
function mapPenalty(
  request: ProviderRequest,
  field: 'frequencyPenalty' | 'presencePenalty',
  adjustments: Adjustments,
): number | undefined {
  const penalty = request[field]
  if (!penalty) return undefined
  adjustments.note(field)
  return penalty < 0 ? undefined : Math.min(1, penalty * penaltyFactor)
}

/** Blank system and assistant texts are refused, so they are omitted. */
function toMessage(message: ProviderMessage): JsonObject | null {
  const content = textOfContent(message.content)
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.toolCallId ?? '', content }
  if (message.role === 'user') return { role: 'user', content: toUserContent(message.content) }
  if (message.role !== 'assistant') return isBlankText(content) ? null : { role: 'system', content }
  if (!message.toolCalls || message.toolCalls.length === 0)
    return isBlankText(content) ? null : { role: 'assistant', content }
  return {
    role: 'assistant',
    // The text of a turn before its tool calls is its plan.
    ...(!isBlankText(content) && { tool_plan: content }),
    tool_calls: message.toolCalls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.argumentsJson === '' ? '{}' : call.argumentsJson },
    })),
  }
}

/** Fields without a place in Cohere's API. */
const droppedFields = ['user', 'metadata', 'parallelToolCalls', ...fieldsOfOpenAi] as const

/** https://docs.cohere.com/v2/docs/image-inputs */
function toUserContent(content: MessageContent): unknown {
  if (!isParts(content) || !content.some(isMedia)) return textOfContent(content)
  return content.map((part) => {
    if (!isMedia(part)) return { type: 'text', text: part.text }
    if (part.type !== 'image') throw refusedPart(part)
    const { detail } = part
    return { type: 'image_url', image_url: { url: addressOf(part.source), ...(detail !== undefined && { detail }) } }
  })
}

function toOutputFormat({ responseFormat }: ProviderRequest): JsonObject | undefined {
  if (!responseFormat) return undefined
  if (responseFormat.type === 'json_object') return { response_format: { type: 'json_object' } }
  const { schema } = responseFormat
  return { response_format: { type: 'json_object', json_schema: usableSchema(() => toPlainSchema(schema)) } }
}

/** Cohere's reasoning models support only on and off. */
function toThinking(call: ProviderCall, adjustments: Adjustments): JsonObject {
  const effort = call.request.reasoningEffort
  if (effort === undefined) return {}
  if (!call.model.reasoning) {
    adjustments.note('reasoningEffort')
    return {}
  }
  if (effort !== 'none' && effort !== 'high') adjustments.note('reasoningEffort')
  return { thinking: { type: effort === 'none' ? 'disabled' : 'enabled' } }
}

function toTools(request: ProviderRequest): JsonObject {
  if (!request.tools || request.tools.length === 0) return {}
  const choices = { auto: undefined, none: 'NONE', required: 'REQUIRED' } as const
  const named = typeof request.toolChoice === 'object' ? request.toolChoice.name : undefined
  const choice = typeof request.toolChoice === 'object' ? 'REQUIRED' : request.toolChoice && choices[request.toolChoice]
  // The only tool that a call must use is the one that is offered.
  const offered = named === undefined ? request.tools : request.tools.filter(({ name }) => name === named)
  return {
    tools: toFunctionTools(offered),
    ...(request.tools.some(({ strict }) => strict) && { strict_tools: true }),
    ...(choice && { tool_choice: choice }),
  }
}
