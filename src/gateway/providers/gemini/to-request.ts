import { jsonRequest } from '../json-request.ts'
import { acceptCall, effortWord, openingText } from '../accept-call.ts'
import { isBlankText, joinTexts, textOf } from '../../../platform/bodies/index.ts'
import { type ContentPart, isBlankContent, isParts, textOfContent, toGeminiSchema } from '../../conversation/index.ts'
import { nameOfAnsweredTool, orderResults, shapeConversation, toolArguments } from '../conversation.ts'
import { type ModelTraits, resolveTraits } from '../model-traits/index.ts'
import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { definitionsFor } from '../hosted-forms.ts'
import { isMedia } from '../media.ts'
import { Adjustments, mapSampling } from '../sampling.ts'
import type { WireRequest } from '../wire-adapter.ts'
import { type JsonObject, parseJsonObject } from '../wire-json.ts'
import { usableSchema } from '../structured-answer.ts'
import { geminiModelPath } from './addresses.ts'
import { decodeToolCallId } from './tool-call-id.ts'
import { lookUp } from '../../../platform/kernel/index.ts'

/** Google accepts up to five stop sequences. */
const maximumStopSequences = 5
/** `seed` is an int32 on the wire. */
const maximumSeed = 2 ** 31 - 1
/** Google's documented value for a call without its thought signature, for example a call that another model made. */
const signatureOfForeignCall = 'skip_thought_signature_validator'

/** Maps a call to a request to `generateContent` or `streamGenerateContent` of the model at `modelUrl`. */
export function toGenerateContentRequest(
  call: ProviderCall,
  options: { stream: boolean },
  settings: ProviderSettings,
  modelUrl: string,
): WireRequest {
  const adjustments = new Adjustments()
  const traits = resolveTraits(settings.format, call.model)
  const body = toBody(acceptCall(call, settings, traits, adjustments), traits, settings, adjustments)
  return jsonRequest(
    options.stream ? `${modelUrl}:streamGenerateContent?alt=sse` : `${modelUrl}:generateContent`,
    body,
    { accept: options.stream ? 'text/event-stream' : 'application/json', adjusted: adjustments.names() },
  )
}

/** Fields of a request that are a part of the prompt. */
const countedFields = ['systemInstruction', 'contents', 'tools'] as const

/** The same for `countTokens`, which has two forms: the Gemini API counts a whole request, Vertex AI the fields of a prompt. */
export function toCountTokensRequest(call: ProviderCall, settings: ProviderSettings, modelUrl: string): WireRequest {
  const adjustments = new Adjustments()
  const traits = resolveTraits(settings.format, call.model)
  const body = toBody(acceptCall(call, settings, traits, adjustments), traits, settings, adjustments)
  const prompt = Object.fromEntries(countedFields.flatMap((name) => (body[name] ? [[name, body[name]]] : [])))
  const counted =
    settings.format === 'vertex'
      ? prompt
      : { generateContentRequest: { model: geminiModelPath(call.model.id), ...prompt } }
  return jsonRequest(`${modelUrl}:countTokens`, counted)
}

function toBody(
  call: ProviderCall,
  traits: ModelTraits,
  settings: ProviderSettings,
  adjustments: Adjustments,
): JsonObject {
  const { request } = call
  const messages = orderResults(request.messages)
  const signed = traits.signedToolCalls === true
  const { system, turns, opened } = shapeConversation<JsonObject>(
    traits.systemRole === 'user' ? withoutInstructions(messages) : messages,
    (message) => (message.role === 'tool' ? toFunctionResponse(message, messages) : toParts(message, signed)),
    { text: openingText },
  )
  if (opened) adjustments.noteName('messages')
  const generationConfig = toGenerationConfig(call, traits, settings, adjustments)
  adjustments.drop(request, 'user', 'metadata', 'verbosity', 'logitBias', 'choices', 'parallelToolCalls')
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system.map(({ text }) => ({ text })) } }),
    contents: turns.map((turn) => ({ role: turn.role === 'assistant' ? 'model' : 'user', parts: turn.blocks })),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...toTools(request, adjustments),
  }
}

/** Instructions as user text before the messages that follow them. */
function withoutInstructions(messages: ProviderMessage[]): ProviderMessage[] {
  return messages.map((message) =>
    message.role === 'system' || message.role === 'developer'
      ? {
          role: 'user',
          content: isBlankContent(message.content) ? '' : joinTexts([textOfContent(message.content), ''], '\n\n'),
        }
      : message,
  )
}

function toGenerationConfig(
  call: ProviderCall,
  traits: ModelTraits,
  settings: ProviderSettings,
  adjustments: Adjustments,
): JsonObject {
  const { request } = call
  const factor = settings.quirks?.temperatureFactor ?? 1
  const { temperature, topP } = mapSampling(call, { factor, traits }, adjustments)
  const thinkingConfig = mapThinking(traits, request, adjustments)
  const stop = request.stop?.slice(0, maximumStopSequences)
  if (stop && stop.length !== request.stop?.length) adjustments.note('stop')
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
    ...(stop && stop.length > 0 && { stopSequences: stop }),
    ...(request.seed !== undefined && { seed: mapSeed(request.seed, adjustments) }),
    ...(request.presencePenalty !== undefined && { presencePenalty: request.presencePenalty }),
    ...(request.frequencyPenalty !== undefined && { frequencyPenalty: request.frequencyPenalty }),
    ...(request.topK !== undefined && { topK: request.topK }),
    ...(request.logprobs && { responseLogprobs: true, logprobs: request.topLogprobs ?? 0 }),
    ...toOutputFormat(request),
    ...(thinkingConfig && { thinkingConfig }),
  }
}

function mapSeed(seed: number, adjustments: Adjustments): number {
  if (Math.abs(seed) <= maximumSeed) return seed
  adjustments.note('seed')
  return seed % maximumSeed
}

function toParts(message: ProviderMessage, signed: boolean): JsonObject[] {
  const { content } = message
  const parts = isParts(content)
    ? content.flatMap((part) => toContentParts(part))
    : isBlankText(content)
      ? []
      : [{ text: content }]
  const calls = (message.toolCalls ?? []).map((call, position) => {
    const identity = decodeToolCallId(call.id)
    // Parallel calls share one signature, which is part of the first.
    const signature = identity?.signature ?? (signed && position === 0 ? signatureOfForeignCall : null)
    return {
      functionCall: {
        ...(identity?.wireId && { id: identity.wireId }),
        name: call.name,
        args: toolArguments(call.argumentsJson),
      },
      ...(signature !== null && { thoughtSignature: signature }),
    }
  })
  return [...parts, ...calls]
}

/** The result of a tool must be an object with the tool's name; our ids contain the name, for other ids it is looked up. */
function toFunctionResponse(message: ProviderMessage, messages: ProviderMessage[]): JsonObject[] {
  const identity = decodeToolCallId(message.toolCallId ?? '')
  const content = textOfContent(message.content)
  const text = textOf(content)
  const response = message.isError ? { error: text } : (parseJsonObject(text) ?? { result: content })
  return [
    {
      functionResponse: {
        ...(identity?.wireId && { id: identity.wireId }),
        name: identity?.name ?? nameOfAnsweredTool(messages, message),
        response,
      },
    },
    // Images follow the result in the same turn.
    ...(isParts(message.content) ? message.content.filter(isMedia).flatMap((part) => toContentParts(part)) : []),
  ]
}

/** Files of Google's storage are named by their address; everything else is sent as bytes. */
function toContentParts(part: ContentPart): JsonObject[] {
  if (!isMedia(part)) return isBlankText(part.text) ? [] : [{ text: part.text }]
  const { source } = part
  if (source.kind === 'url') return [{ fileData: { fileUri: source.url } }]
  return [{ inlineData: { mimeType: source.mediaType, data: source.data } }]
}

function toOutputFormat({ responseFormat }: ProviderRequest): JsonObject | undefined {
  if (!responseFormat) return undefined
  if (responseFormat.type === 'json_object') return { responseMimeType: 'application/json' }
  const { schema } = responseFormat
  return { responseMimeType: 'application/json', responseJsonSchema: usableSchema(() => toGeminiSchema(schema)) }
}

function toTools(request: ProviderRequest, adjustments: Adjustments): JsonObject {
  const { tools = [], hostedTools = [] } = request
  if (tools.length === 0 && hostedTools.length === 0) return {}
  const choice = request.toolChoice
  const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const
  const functionDeclarations = tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    // `parameters` accepts only a part of OpenAPI's schema; this field accepts JSON Schema.
    parametersJsonSchema: tool.parameters,
  }))
  return {
    tools: [
      ...(tools.length > 0 ? [{ functionDeclarations }] : []),
      ...definitionsFor('gemini', hostedTools, adjustments),
    ],
    ...(choice !== undefined &&
      tools.length > 0 && {
        toolConfig: {
          functionCallingConfig:
            typeof choice === 'object' ? { mode: 'ANY', allowedFunctionNames: [choice.name] } : { mode: modes[choice] },
        },
      }),
  }
}

/**
 * Maps `reasoning_effort` to Gemini's thinking: a budget or a level, depending on the model. A value without an equivalent becomes the
 * nearest one and is reported.
 */
function mapThinking(
  traits: ModelTraits,
  { reasoningEffort: effort, reasoning }: ProviderRequest,
  adjustments: Adjustments,
): JsonObject | undefined {
  const shown = reasoning?.summary !== undefined && reasoning.summary !== 'none' && { includeThoughts: true }
  const { thinkingBudgets } = traits
  const wanted = reasoning?.mode === 'disabled' ? 0 : reasoning?.budgetTokens
  if (wanted !== undefined && thinkingBudgets) return { thinkingBudget: wanted, ...shown }
  const level = effort === undefined ? undefined : toLevel(traits, effort, adjustments)
  if (wanted !== undefined && !level) adjustments.noteName('reasoning')
  return level || shown ? { ...level, ...shown } : undefined
}

function toLevel(traits: ModelTraits, effort: string, adjustments: Adjustments): JsonObject | undefined {
  const { thinkingBudgets } = traits
  if (thinkingBudgets) {
    const budget = lookUp(thinkingBudgets, effort)
    if (budget === undefined) adjustments.note('reasoningEffort')
    return budget === undefined ? undefined : { thinkingBudget: budget }
  }
  const level = effortWord(effort, { efforts: traits.efforts ?? {} })
  if (level !== effort) adjustments.note('reasoningEffort')
  return level === undefined ? undefined : { thinkingLevel: level }
}
