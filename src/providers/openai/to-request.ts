import { toFunctionTools } from '../function-tools.ts'
import { jsonRequest } from '../json-request.ts'
import { acceptCall, mapEffort, shapeMessages } from '../accept-call.ts'
import { type ModelTraits, resolveTraits } from '../model-traits/index.ts'
import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { type Adjustments, createAdjustments, mapSampling } from '../sampling.ts'
import type { WireRequest } from '../wire-adapter.ts'
import type { JsonObject } from '../wire-json.ts'
import type { Endpoint } from './endpoint.ts'
import type { Flavour, FlavourName } from './flavours.ts'
import { toReplayedFields } from './replay.ts'

export interface RequestContext {
  settings: ProviderSettings
  /** Name of the flavour. */
  host: FlavourName
  flavour: Flavour
  endpoint: Endpoint
}

/** Maps a call to a request to `POST …/chat/completions`. */
export function toChatRequest(call: ProviderCall, options: { stream: boolean }, context: RequestContext): WireRequest {
  const { settings, host, flavour, endpoint } = context
  const adjustments = createAdjustments()
  const rejects = [...flavour.rejects, ...(settings.quirks?.rejects ?? [])]
  const traits = resolveTraits(host, call.model)
  const accepted = acceptCall(call, { ...settings, quirks: { rejects } }, traits, adjustments)
  const body = toChatBody(accepted, options, { ...context, traits }, adjustments)
  return jsonRequest(endpoint('chat/completions', call.model.id), body, {
    accept: options.stream ? 'text/event-stream' : 'application/json',
    headers: flavour.requestIdField ? { [flavour.requestIdField]: call.requestId } : {},
    adjusted: adjustments.names(),
  })
}

function toChatBody(
  call: ProviderCall,
  options: { stream: boolean },
  { settings, flavour, traits }: Pick<RequestContext, 'settings' | 'flavour'> & { traits: ModelTraits },
  adjustments: Adjustments,
): JsonObject {
  const { model, request } = call
  const { quirks } = settings
  const factor = quirks?.temperatureFactor ?? flavour.temperatureFactor
  const { temperature, topP } = mapSampling(call, { factor, traits }, adjustments)
  const effort = mapEffort(call, traits, adjustments)
  const capField =
    quirks?.capField ??
    (reasonsAsOpenAi(call, flavour) ? 'max_completion_tokens' : (traits.capField ?? flavour.capField))
  const roles = {
    system: quirks?.systemRole ?? (reasonsAsOpenAi(call, flavour) ? 'developer' : (traits.systemRole ?? 'system')),
  }
  const messages = shapeMessages(request.messages, traits, adjustments)
  return {
    model: model.id,
    messages: markPrefix(
      messages.map((message) => toWireMessage(message, roles.system, call, traits)),
      flavour,
    ),
    ...(temperature !== undefined && { temperature: aboveZero(temperature, flavour, adjustments) }),
    ...(topP !== undefined && { top_p: topP }),
    ...(request.maxOutputTokens !== undefined && { [capField]: request.maxOutputTokens }),
    ...(request.stop && { stop: request.stop }),
    ...(request.seed !== undefined && { [flavour.seedField]: request.seed }),
    ...(request.presencePenalty !== undefined && { presence_penalty: request.presencePenalty }),
    ...(request.frequencyPenalty !== undefined && { frequency_penalty: request.frequencyPenalty }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(request.user !== undefined && { user: request.user }),
    ...(request.metadata !== undefined && { metadata: request.metadata }),
    ...(request.serviceTier !== undefined && { service_tier: request.serviceTier }),
    ...toTools(request, flavour),
    ...(options.stream && toStreamFields(quirks?.streamOptions ?? flavour.streamUsage === 'ask')),
  }
}

/** Operators may declare a reasoning model of OpenAI under a name that matches no rule. */
const reasonsAsOpenAi = ({ model }: ProviderCall, flavour: Flavour) => flavour.openAiReasoning && model.reasoning

function toWireMessage(
  message: ProviderMessage,
  systemRole: string,
  { model }: ProviderCall,
  traits: ModelTraits,
): JsonObject {
  if (message.role === 'system' || message.role === 'developer') return { role: systemRole, content: message.content }
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.toolCallId ?? '', content: message.content }
  }
  if (!message.toolCalls || message.toolCalls.length === 0) return { role: message.role, content: message.content }
  return {
    role: message.role,
    content: message.content === '' || traits.textWithToolCalls === false ? null : message.content,
    ...toReplayedFields(message, model, traits),
    tool_calls: message.toolCalls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.argumentsJson },
    })),
  }
}

function markPrefix(messages: JsonObject[], { marksPrefix }: Flavour): JsonObject[] {
  const last = messages.at(-1)
  if (!marksPrefix || last?.role !== 'assistant' || last.tool_calls !== undefined) return messages
  return [...messages.slice(0, -1), { ...last, prefix: true }]
}

function aboveZero(temperature: number, flavour: Flavour, adjustments: Adjustments): number {
  if (temperature !== 0 || flavour.temperatureForZero === undefined) return temperature
  adjustments.note('temperature')
  return flavour.temperatureForZero
}

function toTools(request: ProviderRequest, flavour: Flavour): JsonObject {
  if (!request.tools || request.tools.length === 0) return {}
  const choice = request.toolChoice === 'required' ? flavour.requiredToolChoice : request.toolChoice
  return {
    tools: toFunctionTools(request.tools),
    ...(choice !== undefined && { tool_choice: choice }),
  }
}

/** Usage is always requested; the gateway decides whether the client sees it. */
function toStreamFields(askForUsage: boolean): JsonObject {
  return { stream: true, ...(askForUsage && { stream_options: { include_usage: true } }) }
}
