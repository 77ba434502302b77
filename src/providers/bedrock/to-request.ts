import { knowsEffort } from '../claude-traits.ts'
import { isBlank, shapeConversation, toolArguments } from '../conversation.ts'
import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { type Adjustments, createAdjustments, mapSampling, withoutRejected } from '../sampling.ts'
import type { WireRequest } from '../wire-adapter.ts'
import type { JsonObject } from '../wire-json.ts'

/** Converse takes temperatures of 0 to 1 for every model (API reference, InferenceConfiguration), ours go from 0 to 2. */
const temperatureFactor = 0.5
/** `requestMetadata`: at most 16 pairs of limited characters, else the call is refused. */
const maximumMetadataPairs = 16
const metadataPattern = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/
/** A conversation must begin with the user; one that begins with a greeting of the assistant gets this in front. */
const openingTurn = { role: 'user' as const, blocks: [{ text: '(The conversation begins.)' }] }

/** A call as a request to `Converse` or `ConverseStream`. */
export function toConverseRequest(
  call: ProviderCall,
  options: { stream: boolean },
  settings: ProviderSettings,
  root: string,
): WireRequest {
  const adjustments = createAdjustments()
  const body = toBody(withoutRejected(call, settings, adjustments), settings, adjustments)
  return {
    method: 'POST',
    url: `${root}/model/${encodeURIComponent(call.model.id)}/${options.stream ? 'converse-stream' : 'converse'}`,
    headers: {
      'content-type': 'application/json',
      accept: options.stream ? 'application/vnd.amazon.eventstream' : 'application/json',
    },
    body,
    adjusted: adjustments.names(),
  }
}

function toBody(call: ProviderCall, settings: ProviderSettings, adjustments: Adjustments): JsonObject {
  const { request } = call
  const { system, turns } = shapeConversation(request.messages, toContentBlocks)
  if (turns[0]?.role === 'assistant') {
    turns.unshift(openingTurn)
    adjustments.noteName('messages')
  }
  const inferenceConfig = toInferenceConfig(call, settings, adjustments)
  const toolConfig = toToolConfig(request, adjustments)
  adjustments.drop(request, 'seed', 'presencePenalty', 'frequencyPenalty', 'user', 'serviceTier')
  return {
    messages: turns.map((turn) => ({ role: turn.role, content: turn.blocks })),
    ...(system.length > 0 && { system: system.map((text) => ({ text })) }),
    ...(Object.keys(inferenceConfig).length > 0 && { inferenceConfig }),
    ...(toolConfig && { toolConfig }),
    ...toEffort(call, adjustments),
    ...toMetadata(request, adjustments),
  }
}

function toInferenceConfig(call: ProviderCall, settings: ProviderSettings, adjustments: Adjustments): JsonObject {
  const { request, model } = call
  const claude = isClaude(model.baseModel)
  const factor = settings.quirks?.temperatureFactor ?? temperatureFactor
  const { temperature, topP } = mapSampling(call, { factor, together: !claude }, adjustments)
  // Claude refuses stop sequences of white space, every model an empty one.
  const stop = request.stop?.filter((sequence) => (claude ? !isBlank(sequence) : sequence !== ''))
  if (stop && stop.length !== request.stop?.length) adjustments.note('stop')
  return {
    ...(request.maxOutputTokens !== undefined && { maxTokens: request.maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop && stop.length > 0 && { stopSequences: stop }),
  }
}

function isClaude(baseModel: string): boolean {
  return baseModel.includes('claude')
}

/** Blank text blocks are refused, so a blank text gives none; a tool's blank result must say something. */
function toContentBlocks(message: ProviderMessage): JsonObject[] {
  if (message.role === 'tool') {
    const text = isBlank(message.content) ? '(no output)' : message.content
    return [{ toolResult: { toolUseId: message.toolCallId ?? '', content: [{ text }] } }]
  }
  const text = isBlank(message.content) ? [] : [{ text: message.content }]
  const calls = (message.toolCalls ?? []).map((call) => ({
    toolUse: { toolUseId: call.id, name: call.name, input: toolArguments(call.argumentsJson) },
  }))
  return [...text, ...calls]
}

/**
 * Converse has no way to forbid tools. They are left out instead, unless the conversation already holds calls, which are
 * refused without the definitions.
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
  return request.toolChoice === 'auto' ? { tools, toolChoice: { auto: {} } } : { tools }
}

/** Claude takes an effort by a field of Converse, gpt-oss by its own one; other models know none. */
function toEffort(call: ProviderCall, adjustments: Adjustments): JsonObject {
  const { reasoningEffort } = call.request
  if (reasoningEffort === undefined) return {}
  const common = ['low', 'medium', 'high'].includes(reasoningEffort)
  if (common && knowsEffort(call.model.baseModel)) return { outputConfig: { effort: reasoningEffort } }
  if (common && call.model.baseModel.includes('gpt-oss')) {
    return { additionalModelRequestFields: { reasoning_effort: reasoningEffort } }
  }
  adjustments.note('reasoningEffort')
  return {}
}

function toMetadata(request: ProviderRequest, adjustments: Adjustments): JsonObject {
  if (request.metadata === undefined) return {}
  const pairs = Object.entries(request.metadata)
  const fits = ([key, value]: [string, string]) => metadataPattern.test(key) && metadataPattern.test(value)
  const usable = pairs.filter(fits).slice(0, maximumMetadataPairs)
  if (usable.length !== pairs.length) adjustments.note('metadata')
  return usable.length > 0 ? { requestMetadata: Object.fromEntries(usable) } : {}
}
