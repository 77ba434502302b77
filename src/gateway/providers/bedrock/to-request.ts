import { jsonRequest } from '../json-request.ts'
import { acceptCall, mapEffort, openingText } from '../accept-call.ts'
import { isBlankText } from '../../../platform/kernel/index.ts'
import { textOfContent } from '../../conversation/index.ts'
import { shapeConversation, toolArguments, trimFinalTurn } from '../conversation.ts'
import { type ModelTraits, resolveTraits } from '../model-traits/index.ts'
import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { type CachePlan, planCache } from '../prompt-cache.ts'
import { Adjustments, mapSampling } from '../sampling.ts'
import type { WireRequest } from '../wire-adapter.ts'
import type { JsonObject } from '../wire-json.ts'

/** Converse accepts temperatures of 0 to 1 for every model (API reference, InferenceConfiguration); ours range from 0 to 2. */
const temperatureFactor = 0.5
/** `requestMetadata`: at most 16 pairs with a limited character set, else the call is refused. */
const maximumMetadataPairs = 16
const metadataPattern = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/
const cachePoint = { cachePoint: { type: 'default' } }

/**
 * Maps a call to a request to `Converse` or `ConverseStream`. Some models cannot call tools in a stream: then the whole answer is
 * requested, which the stream reader accepts too.
 */
export function toConverseRequest(
  call: ProviderCall,
  options: { stream: boolean },
  settings: ProviderSettings,
  root: string,
): WireRequest {
  const adjustments = new Adjustments()
  const traits = resolveTraits('bedrock', call.model)
  const accepted = acceptCall(call, settings, traits, adjustments)
  const body = toBody(accepted, traits, settings, adjustments)
  const stream = options.stream && !(body.toolConfig && traits.streamedTools === false)
  return jsonRequest(
    `${root}/model/${encodeURIComponent(call.model.id)}/${stream ? 'converse-stream' : 'converse'}`,
    body,
    { accept: stream ? 'application/vnd.amazon.eventstream' : 'application/json', adjusted: adjustments.names() },
  )
}

function toBody(
  call: ProviderCall,
  traits: ModelTraits,
  settings: ProviderSettings,
  adjustments: Adjustments,
): JsonObject {
  const { request } = call
  const cache = planCache(call, settings, traits)
  const opening = { text: openingText }
  const { system, turns, opened } = shapeConversation(request.messages, (message) => toBlocks(message, cache), opening)
  if (opened) adjustments.noteName('messages')
  const inferenceConfig = toInferenceConfig(call, traits, settings, adjustments)
  const toolConfig = toToolConfig(request, adjustments)
  adjustments.drop(request, 'seed', 'presencePenalty', 'frequencyPenalty', 'user', 'serviceTier')
  return {
    messages: trimFinalTurn(turns).map((turn) => ({ role: turn.role, content: turn.blocks })),
    ...(system.length > 0 && { system: [...system.map((text) => ({ text })), ...(cache.system ? [cachePoint] : [])] }),
    ...(Object.keys(inferenceConfig).length > 0 && { inferenceConfig }),
    ...(toolConfig && { toolConfig }),
    ...toEffort(call, traits, adjustments),
    ...toMetadata(request, adjustments),
  }
}

function toInferenceConfig(
  call: ProviderCall,
  traits: ModelTraits,
  settings: ProviderSettings,
  adjustments: Adjustments,
): JsonObject {
  const { request } = call
  const factor = settings.quirks?.temperatureFactor ?? temperatureFactor
  const { temperature, topP } = mapSampling(call, { factor, traits }, adjustments)
  // Every model refuses an empty one.
  const stop = request.stop?.filter((sequence) => (traits.refusesBlankStop ? !isBlankText(sequence) : sequence !== ''))
  if (stop && stop.length !== request.stop?.length) adjustments.note('stop')
  return {
    ...(request.maxOutputTokens !== undefined && { maxTokens: request.maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop && stop.length > 0 && { stopSequences: stop }),
  }
}

/** Reasoning is sent back unchanged before the text and calls that followed it: its signature is verified. */
function toBlocks(message: ProviderMessage, { marked }: CachePlan): JsonObject[] {
  const blocks = toContentBlocks(message)
  const reasoning = message.replay?.format === 'bedrock' ? message.replay.blocks : []
  return [...reasoning, ...blocks, ...(blocks.length > 0 && marked.has(message) ? [cachePoint] : [])]
}

/** Blank text blocks are refused, so a blank text becomes no block; a blank tool result gets a text. */
function toContentBlocks(message: ProviderMessage): JsonObject[] {
  const content = textOfContent(message.content)
  if (message.role === 'tool') {
    const text = isBlankText(content) ? '(no output)' : content
    return [{ toolResult: { toolUseId: message.toolCallId ?? '', content: [{ text }] } }]
  }
  const text = isBlankText(content) ? [] : [{ text: content }]
  const calls = (message.toolCalls ?? []).map((call) => ({
    toolUse: { toolUseId: call.id, name: call.name, input: toolArguments(call.argumentsJson) },
  }))
  return [...text, ...calls]
}

/**
 * Converse cannot forbid tools. They are omitted instead, unless the conversation contains calls, which are refused without the
 * definitions.
 */
function toToolConfig(request: ProviderRequest, adjustments: Adjustments): JsonObject | undefined {
  if (!request.tools || request.tools.length === 0) return undefined
  if (request.toolChoice === 'none') {
    if (!request.messages.some((message) => message.toolCalls?.length || message.role === 'tool')) return undefined
    adjustments.note('toolChoice')
  }
  const tools = request.tools.map((tool) => ({
    toolSpec: { name: tool.name, description: tool.description, inputSchema: { json: tool.parameters } },
  }))
  if (request.toolChoice === 'required') return { tools, toolChoice: { any: {} } }
  if (typeof request.toolChoice === 'object') return { tools, toolChoice: { tool: { name: request.toolChoice.name } } }
  return request.toolChoice === 'auto' ? { tools, toolChoice: { auto: {} } } : { tools }
}

/** Claude's effort is a field of Converse; other models have separate fields, which Converse forwards. */
function toEffort(call: ProviderCall, traits: ModelTraits, adjustments: Adjustments): JsonObject {
  // A model refuses a field that it does not support, so an unknown model gets none.
  const effort = mapEffort(call, { ...traits, efforts: traits.efforts ?? {} }, adjustments)
  if (effort === undefined) return {}
  return traits.effortField === 'output_config'
    ? { outputConfig: { effort } }
    : { additionalModelRequestFields: { reasoning_effort: effort } }
}

function toMetadata(request: ProviderRequest, adjustments: Adjustments): JsonObject {
  if (request.metadata === undefined) return {}
  const pairs = Object.entries(request.metadata)
  const fits = ([key, value]: [string, string]) => metadataPattern.test(key) && metadataPattern.test(value)
  const usable = pairs.filter(fits).slice(0, maximumMetadataPairs)
  if (usable.length !== pairs.length) adjustments.note('metadata')
  return usable.length > 0 ? { requestMetadata: Object.fromEntries(usable) } : {}
}
