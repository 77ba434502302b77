import { jsonRequest } from '../json-request.ts'
import { acceptCall, openingText } from '../accept-call.ts'
import { isBlankText, joinTexts, textOf } from '../../../platform/kernel/index.ts'
import { isBlankContent, textOfContent } from '../../conversation/index.ts'
import { nameOfAnsweredTool, shapeConversation, toolArguments } from '../conversation.ts'
import { type ModelTraits, resolveTraits } from '../model-traits/index.ts'
import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { Adjustments, mapSampling } from '../sampling.ts'
import type { WireRequest } from '../wire-adapter.ts'
import { type JsonObject, parseJsonObject } from '../wire-json.ts'
import { mapThinking } from './map-thinking.ts'
import { decodeToolCallId } from './tool-call-id.ts'

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

function toBody(
  call: ProviderCall,
  traits: ModelTraits,
  settings: ProviderSettings,
  adjustments: Adjustments,
): JsonObject {
  const { request } = call
  const signed = traits.signedToolCalls === true
  const { system, turns, opened } = shapeConversation<JsonObject>(
    traits.systemRole === 'user' ? withoutInstructions(request.messages) : request.messages,
    (message) => (message.role === 'tool' ? [toFunctionResponse(message, request.messages)] : toParts(message, signed)),
    { text: openingText },
  )
  if (opened) adjustments.noteName('messages')
  const generationConfig = toGenerationConfig(call, traits, settings, adjustments)
  adjustments.drop(request, 'user', 'metadata')
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system.map((text) => ({ text })) } }),
    contents: turns.map((turn) => ({ role: turn.role === 'assistant' ? 'model' : 'user', parts: turn.blocks })),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...toTools(request),
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
  const thinkingConfig = mapThinking(traits, request.reasoningEffort, adjustments)
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
    ...(thinkingConfig && { thinkingConfig }),
  }
}

function mapSeed(seed: number, adjustments: Adjustments): number {
  if (Math.abs(seed) <= maximumSeed) return seed
  adjustments.note('seed')
  return seed % maximumSeed
}

function toParts(message: ProviderMessage, signed: boolean): JsonObject[] {
  const content = textOfContent(message.content)
  const text = isBlankText(content) ? [] : [{ text: content }]
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
  return [...text, ...calls]
}

/** The result of a tool must be an object with the tool's name; our ids contain the name, for other ids it is looked up. */
function toFunctionResponse(message: ProviderMessage, messages: ProviderMessage[]): JsonObject {
  const identity = decodeToolCallId(message.toolCallId ?? '')
  const content = textOfContent(message.content)
  return {
    functionResponse: {
      ...(identity?.wireId && { id: identity.wireId }),
      name: identity?.name ?? nameOfAnsweredTool(messages, message),
      response: parseJsonObject(textOf(content)) ?? { result: content },
    },
  }
}

function toTools(request: ProviderRequest): JsonObject {
  if (!request.tools || request.tools.length === 0) return {}
  const choice = request.toolChoice
  const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const
  const functionDeclarations = request.tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    // `parameters` accepts only a part of OpenAPI's schema; this field accepts JSON Schema.
    parametersJsonSchema: tool.parameters,
  }))
  return {
    tools: [{ functionDeclarations }],
    ...(choice !== undefined && {
      toolConfig: {
        functionCallingConfig:
          typeof choice === 'object' ? { mode: 'ANY', allowedFunctionNames: [choice.name] } : { mode: modes[choice] },
      },
    }),
  }
}
