import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { type Adjustments, createAdjustments, mapSampling, withoutRejected } from '../sampling.ts'
import type { WireRequest } from '../wire-adapter.ts'
import type { JsonObject } from '../wire-json.ts'
import type { Endpoint } from './endpoint.ts'
import type { Flavour } from './flavours.ts'

export interface RequestContext {
  settings: ProviderSettings
  flavour: Flavour
  endpoint: Endpoint
}

/** A call as a request to `POST …/chat/completions`. */
export function toChatRequest(
  call: ProviderCall,
  options: { stream: boolean },
  { settings, flavour, endpoint }: RequestContext,
): WireRequest {
  const adjustments = createAdjustments()
  const rejects = [...flavour.rejects, ...(settings.quirks?.rejects ?? [])]
  const accepted = withoutRejected(call, { ...settings, quirks: { rejects } }, adjustments)
  const body = toChatBody(accepted, options, { settings, flavour }, adjustments)
  return {
    method: 'POST',
    url: endpoint('chat/completions', call.model.id),
    headers: {
      'content-type': 'application/json',
      accept: options.stream ? 'text/event-stream' : 'application/json',
      ...(flavour.requestIdField && { [flavour.requestIdField]: call.requestId }),
    },
    body,
    adjusted: adjustments.names(),
  }
}

function toChatBody(
  call: ProviderCall,
  options: { stream: boolean },
  { settings, flavour }: Pick<RequestContext, 'settings' | 'flavour'>,
  adjustments: Adjustments,
): JsonObject {
  const { model, request } = call
  const { quirks } = settings
  const reasoningFamily = flavour.openAiReasoning && model.reasoning
  const factor = quirks?.temperatureFactor ?? flavour.temperatureFactor
  const { temperature, topP } = mapSampling(call, { factor, together: true }, adjustments)
  const capField = quirks?.capField ?? (reasoningFamily ? 'max_completion_tokens' : flavour.capField)
  const systemRole = quirks?.systemRole ?? (reasoningFamily ? 'developer' : 'system')
  return {
    model: model.id,
    messages: request.messages.map((message) => toWireMessage(message, systemRole)),
    ...(temperature !== undefined && { temperature: aboveZero(temperature, flavour, adjustments) }),
    ...(topP !== undefined && { top_p: topP }),
    ...(request.maxOutputTokens !== undefined && { [capField]: request.maxOutputTokens }),
    ...(request.stop && request.stop.length > 0 && mapStop(call, reasoningFamily, adjustments)),
    ...(request.seed !== undefined && { [flavour.seedField]: request.seed }),
    ...mapPenalties(request, reasoningFamily, adjustments),
    ...mapEffort(call, adjustments),
    ...(request.user !== undefined && { user: request.user }),
    ...(request.metadata !== undefined && { metadata: request.metadata }),
    ...(request.serviceTier !== undefined && { service_tier: request.serviceTier }),
    ...toTools(request, flavour),
    ...(options.stream && toStreamFields(quirks?.streamOptions ?? flavour.streamUsage === 'ask')),
  }
}

function toWireMessage(message: ProviderMessage, systemRole: string): JsonObject {
  if (message.role === 'system' || message.role === 'developer') return { role: systemRole, content: message.content }
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.toolCallId ?? '', content: message.content }
  }
  if (!message.toolCalls || message.toolCalls.length === 0) return { role: message.role, content: message.content }
  return {
    role: message.role,
    content: message.content === '' ? null : message.content,
    tool_calls: message.toolCalls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.argumentsJson },
    })),
  }
}

function aboveZero(temperature: number, flavour: Flavour, adjustments: Adjustments): number {
  if (temperature !== 0 || flavour.temperatureForZero === undefined) return temperature
  adjustments.note('temperature')
  return flavour.temperatureForZero
}

/** o3, o4-mini and the fifth generation refuse stop sequences; o1 and o3-mini take them. */
function mapStop(call: ProviderCall, reasoningFamily: boolean, adjustments: Adjustments): JsonObject {
  if (reasoningFamily && /^(o3(?!-mini)|o4|gpt-[5-9])/.test(call.model.baseModel)) {
    adjustments.note('stop')
    return {}
  }
  return { stop: call.request.stop }
}

/** OpenAI's reasoning models refuse penalties, even those of 0. */
function mapPenalties(request: ProviderRequest, reasoningFamily: boolean, adjustments: Adjustments): JsonObject {
  if (reasoningFamily) {
    adjustments.drop(request, 'presencePenalty', 'frequencyPenalty')
    return {}
  }
  return {
    ...(request.presencePenalty !== undefined && { presence_penalty: request.presencePenalty }),
    ...(request.frequencyPenalty !== undefined && { frequency_penalty: request.frequencyPenalty }),
  }
}

/** Models that do not reason refuse the field. */
function mapEffort({ model, request }: ProviderCall, adjustments: Adjustments): JsonObject {
  if (request.reasoningEffort === undefined) return {}
  if (model.reasoning) return { reasoning_effort: request.reasoningEffort }
  adjustments.note('reasoningEffort')
  return {}
}

function toTools(request: ProviderRequest, flavour: Flavour): JsonObject {
  if (!request.tools || request.tools.length === 0) return {}
  const choice = request.toolChoice === 'required' ? flavour.requiredToolChoice : request.toolChoice
  return {
    tools: request.tools.map((tool) => ({
      type: 'function',
      function: { name: tool.name, description: tool.description, parameters: tool.parameters },
    })),
    ...(choice !== undefined && { tool_choice: choice }),
  }
}

/** Usage is always wanted; whether the client sees it is decided elsewhere. */
function toStreamFields(askForUsage: boolean): JsonObject {
  return { stream: true, ...(askForUsage && { stream_options: { include_usage: true } }) }
}
