import { toFunctionTools } from '../function-tools.ts'
import { jsonRequest } from '../json-request.ts'
import { acceptCall, mapEffort, shapeMessages } from '../accept-call.ts'
import { type ModelTraits, resolveTraits } from '../model-traits/index.ts'
import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { Adjustments, mapSampling } from '../sampling.ts'
import type { WireRequest } from '../wire-adapter.ts'
import type { JsonObject } from '../wire-json.ts'
import type { Endpoint } from './endpoint.ts'
import type { Flavour, FlavourName } from './flavours.ts'
import { toReplayedFields } from './replay.ts'

export interface RequestContext {
  settings: ProviderSettings
  /** The settings with the fields that the host refuses. */
  accepting: ProviderSettings
  /** Name of the flavour. */
  host: FlavourName
  flavour: Flavour
  endpoint: Endpoint
}

/** Maps a call to a request to `POST …/chat/completions`. */
export function toChatRequest(call: ProviderCall, options: { stream: boolean }, context: RequestContext): WireRequest {
  const { accepting, host, flavour, endpoint } = context
  const adjustments = new Adjustments()
  const traits = resolveTraits(host, call.model)
  const accepted = acceptCall(call, accepting, traits, adjustments)
  const body = toChatBody(accepted, options, context, traits, adjustments)
  return jsonRequest(endpoint('chat/completions', call.model.id), body, {
    accept: options.stream ? 'text/event-stream' : 'application/json',
    ...(flavour.requestIdField !== undefined && { headers: { [flavour.requestIdField]: call.requestId } }),
    adjusted: adjustments.names(),
  })
}

function toChatBody(
  call: ProviderCall,
  options: { stream: boolean },
  { settings, flavour }: RequestContext,
  traits: ModelTraits,
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
  const messages = shapeMessages(request.messages, traits, adjustments).map((message) =>
    toWireMessage(message, roles.system, call, traits),
  )
  // Not assembled from parts (`...(condition && { field })`), which takes several times as long.
  const body: JsonObject = { model: model.id, messages: markPrefix(messages, flavour) }
  const set = (field: string, value: unknown) => {
    if (value !== undefined) body[field] = value
  }
  if (temperature !== undefined) body.temperature = aboveZero(temperature, flavour, adjustments)
  set('top_p', topP)
  set(capField, request.maxOutputTokens)
  set('stop', request.stop)
  set(flavour.seedField, request.seed)
  set('presence_penalty', request.presencePenalty)
  set('frequency_penalty', request.frequencyPenalty)
  set('reasoning_effort', effort)
  set('user', request.user)
  set('metadata', request.metadata)
  set('service_tier', request.serviceTier)
  if (request.tools && request.tools.length > 0) Object.assign(body, toTools(request.tools, request, flavour))
  if (options.stream) Object.assign(body, toStreamFields(quirks?.streamOptions ?? flavour.streamUsage === 'ask'))
  return body
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

function toTools(tools: NonNullable<ProviderRequest['tools']>, { toolChoice }: ProviderRequest, flavour: Flavour) {
  const choice =
    typeof toolChoice === 'object'
      ? { type: 'function', function: { name: toolChoice.name } }
      : toolChoice === 'required'
        ? flavour.requiredToolChoice
        : toolChoice
  return {
    tools: toFunctionTools(tools),
    ...(choice !== undefined && { tool_choice: choice }),
  }
}

/** Usage is always requested; the gateway decides whether the client sees it. */
function toStreamFields(askForUsage: boolean): JsonObject {
  return { stream: true, ...(askForUsage && { stream_options: { include_usage: true } }) }
}
