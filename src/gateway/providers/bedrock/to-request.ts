import { jsonRequest } from '../json-request.ts'
import { acceptCall, mapEffort, openingText } from '../accept-call.ts'
import { isBlankText } from '../../../platform/bodies/index.ts'
import { type TextPart, toClaudeSchema } from '../../conversation/index.ts'
import { shapeConversation, toolArguments, trimFinalTurn } from '../conversation.ts'
import { type ModelTraits, resolveTraits } from '../model-traits/index.ts'
import { toThinking } from '../anthropic/thinking.ts'
import { formatName } from '../openai/response-format.ts'
import { nativeSchemaOrTool, useAnswerTool } from '../structured-answer.ts'
import { toBlocksOfContent, toCachePoint } from './content-blocks.ts'
import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { type CachePlan, planCache } from '../prompt-cache.ts'
import { Adjustments, fieldsOfOpenAi, mapSampling } from '../sampling.ts'
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

/** Fields of a request that are a part of the prompt. */
const countedFields = ['messages', 'system', 'toolConfig'] as const
/** Inference profiles of a geography: CountTokens takes the id of the model only (https://github.com/pydantic/pydantic-ai/pull/3367). */
const profilePrefix = /^(us|us-gov|eu|apac|jp|au|ca|sa|global)\./

/** The same for `CountTokens`, which answers in the region of the provider. */
export function toCountTokensRequest(call: ProviderCall, settings: ProviderSettings, root: string): WireRequest {
  const adjustments = new Adjustments()
  const traits = resolveTraits('bedrock', call.model)
  const body = toBody(acceptCall(call, settings, traits, adjustments), traits, settings, adjustments)
  const converse = Object.fromEntries(countedFields.flatMap((name) => (body[name] ? [[name, body[name]]] : [])))
  const id = encodeURIComponent(call.model.id.replace(profilePrefix, ''))
  return jsonRequest(`${root}/model/${id}/count-tokens`, { input: { converse } })
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
  const textFormat = toTextFormat(request)
  const toolConfig = toToolConfig(request, traits, adjustments)
  adjustments.drop(request, ...droppedFields)
  return {
    messages: trimFinalTurn(turns).map((turn) => ({ role: turn.role, content: turn.blocks })),
    ...(system.length > 0 && { system: toSystem(system, cache) }),
    ...(Object.keys(inferenceConfig).length > 0 && { inferenceConfig }),
    ...(toolConfig && { toolConfig }),
    ...toModelFields(call, traits, textFormat, adjustments),
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
  const blocks = toBlocksOfContent(message.content)
  if (message.role === 'tool') {
    const content = blocks.length === 0 ? [{ text: '(no output)' }] : blocks
    const status = message.isError && { status: 'error' }
    return [{ toolResult: { toolUseId: message.toolCallId ?? '', content, ...status } }]
  }
  const calls = (message.toolCalls ?? []).map((call) => ({
    toolUse: { toolUseId: call.id, name: call.name, input: toolArguments(call.argumentsJson) },
  }))
  return [...blocks, ...calls]
}

/**
 * Converse cannot forbid tools. They are omitted instead, unless the conversation contains calls, which are refused without the
 * definitions.
 */
function toToolConfig(request: ProviderRequest, traits: ModelTraits, adjustments: Adjustments): JsonObject | undefined {
  if (!request.tools || request.tools.length === 0) return undefined
  if (request.toolChoice === 'none') {
    if (!request.messages.some((message) => message.toolCalls?.length || message.role === 'tool')) return undefined
    adjustments.note('toolChoice')
  }
  const tools = request.tools.flatMap((tool) => [
    {
      toolSpec: {
        name: tool.name,
        ...(tool.description && { description: tool.description }),
        inputSchema: { json: tool.parameters },
        ...(tool.strict && traits.structured !== 'tool' && { strict: true }),
      },
    },
    ...toCachePoint(tool.cache),
  ])
  if (request.toolChoice === 'required') return { tools, toolChoice: { any: {} } }
  if (typeof request.toolChoice === 'object') return { tools, toolChoice: { tool: { name: request.toolChoice.name } } }
  return request.toolChoice === 'auto' ? { tools, toolChoice: { auto: {} } } : { tools }
}

/** Converse has a field for the effort and the form of the answer; other fields are the model's own, which Converse forwards. */
function toModelFields(
  call: ProviderCall,
  traits: ModelTraits,
  textFormat: JsonObject | undefined,
  adjustments: Adjustments,
): JsonObject {
  const { request } = call
  // A model refuses a field that it does not support, so an unknown model gets none.
  const effort = mapEffort(call, { ...traits, efforts: traits.efforts ?? {} }, adjustments)
  const isClaude = traits.effortField === 'output_config'
  const thinking = isClaude ? toThinking(request, traits, adjustments) : undefined
  if (!isClaude) adjustments.drop(request, 'topK')
  const own = {
    ...(effort !== undefined && !isClaude && { reasoning_effort: effort }),
    ...(thinking && { thinking }),
    ...(isClaude && request.topK !== undefined && { top_k: request.topK }),
    ...(isClaude && request.betas && request.betas.length > 0 && { anthropic_beta: request.betas }),
  }
  const output = { ...(effort !== undefined && isClaude && { effort }), ...textFormat }
  return {
    ...(Object.keys(output).length > 0 && { outputConfig: output }),
    ...(Object.keys(own).length > 0 && { additionalModelRequestFields: own }),
  }
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_JsonSchemaDefinition.html: the schema is a text. */
function toTextFormat(request: ProviderRequest): JsonObject | undefined {
  const format = request.responseFormat
  if (format?.type === 'json_object') useAnswerTool(request, { type: 'object' })
  const schema = nativeSchemaOrTool(request, toClaudeSchema)
  if (!schema || format?.type !== 'json_schema') return undefined
  const jsonSchema = {
    schema: JSON.stringify(schema),
    name: formatName(format.name),
    ...(format.description !== undefined && { description: format.description }),
  }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

function toSystem(texts: TextPart[], cache: CachePlan): JsonObject[] {
  return [
    ...texts.flatMap(({ text, cache: mark }) => [{ text }, ...toCachePoint(mark)]),
    ...(cache.system ? [cachePoint] : []),
  ]
}

/** Fields without a place in Converse. */
const droppedFields = [
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'user',
  'serviceTier',
  'parallelToolCalls',
  ...fieldsOfOpenAi,
] as const

function toMetadata(request: ProviderRequest, adjustments: Adjustments): JsonObject {
  if (request.metadata === undefined) return {}
  const pairs = Object.entries(request.metadata)
  const fits = ([key, value]: [string, string]) => metadataPattern.test(key) && metadataPattern.test(value)
  const usable = pairs.filter(fits).slice(0, maximumMetadataPairs)
  if (usable.length !== pairs.length) adjustments.note('metadata')
  return usable.length > 0 ? { requestMetadata: Object.fromEntries(usable) } : {}
}
