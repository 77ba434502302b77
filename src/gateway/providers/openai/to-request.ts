import { toFunctionTools } from '../function-tools.ts'
import { jsonRequest } from '../json-request.ts'
import { acceptCall, mapEffort, shapeMessages } from '../accept-call.ts'
import { moveResultMedia } from '../media.ts'
import { type ModelTraits, resolveTraits } from '../model-traits/index.ts'
import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { Adjustments, mapSampling } from '../sampling.ts'
import type { WireRequest } from '../wire-adapter.ts'
import type { JsonObject } from '../wire-json.ts'
import type { Endpoint } from './endpoint.ts'
import type { Flavour, FlavourName } from './flavours.ts'
import { toWireContent } from './message-content.ts'
import { toReplayedFields } from './replay.ts'
import { toResponseFormat } from './response-format.ts'

export interface RequestContext {
  settings: ProviderSettings
  /** The settings with the fields that the host refuses. */
  accepting: ProviderSettings
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
  { settings, host, flavour }: RequestContext,
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
  const shaped = shapeMessages(moveResultMedia(request.messages, adjustments), traits, adjustments)
  const messages = shaped.map((message) => toWireMessage(message, roles.system, host, call, traits))
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
  setLaterFields(body, call, host)
  if (request.tools && request.tools.length > 0) Object.assign(body, toTools(request.tools, request, flavour, host))
  if (options.stream) Object.assign(body, toStreamFields(quirks?.streamOptions ?? flavour.streamUsage === 'ask'))
  return body
}

/** Operators may declare a reasoning model of OpenAI under a name that matches no rule. */
const reasonsAsOpenAi = ({ model }: ProviderCall, flavour: Flavour) => flavour.openAiReasoning && model.reasoning

function toWireMessage(
  message: ProviderMessage,
  systemRole: string,
  host: FlavourName,
  { model }: ProviderCall,
  traits: ModelTraits,
): JsonObject {
  const content = toWireContent(message.content, host)
  const named = message.name !== undefined && sendsNames.has(host) ? { name: message.name } : undefined
  if (message.role === 'system' || message.role === 'developer') return { role: systemRole, content, ...named }
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.toolCallId ?? '', content }
  if (!message.toolCalls || message.toolCalls.length === 0) {
    if (message.replay && traits.reasoningReplay === 'reasoning_details')
      return { role: message.role, content, ...named, ...toReplayedFields(message, model, traits) }
    return { role: message.role, content, ...named }
  }
  return {
    role: message.role,
    content: content === '' || traits.textWithToolCalls === false ? null : content,
    ...named,
    ...toReplayedFields(message, model, traits),
    tool_calls: message.toolCalls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.argumentsJson },
    })),
  }
}

/** Fields that only version 2 of the gateway sends; a plain request pays for a few comparisons. */
function setLaterFields(body: JsonObject, { request }: ProviderCall, host: FlavourName): void {
  if (request.responseFormat) body.response_format = toResponseFormat(request.responseFormat)
  if (request.logprobs !== undefined) body.logprobs = request.logprobs
  if (request.topLogprobs !== undefined) body.top_logprobs = request.topLogprobs
  if (request.choices !== undefined) body.n = request.choices
  if (request.logitBias !== undefined) body.logit_bias = request.logitBias
  if (request.verbosity !== undefined) body.verbosity = request.verbosity
  if (request.topK !== undefined) body.top_k = request.topK
  const budget = request.reasoning?.budgetTokens
  if (host === 'openrouter' && budget !== undefined) body.reasoning = { max_tokens: budget }
}

/** Hosts with a place for the name of a participant; others ignore or refuse it. */
const sendsNames: ReadonlySet<FlavourName> = new Set(['openai', 'azure', 'openrouter'])
/** Hosts that know `strict` in the definition of a tool. */
const keepsStrict: ReadonlySet<FlavourName> = new Set([
  'openai',
  'azure',
  'openrouter',
  'vercel',
  'mistral',
  'cerebras',
  'xai',
])

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

function toTools(
  tools: NonNullable<ProviderRequest['tools']>,
  { toolChoice, parallelToolCalls }: ProviderRequest,
  flavour: Flavour,
  host: FlavourName,
) {
  const choice =
    typeof toolChoice === 'object'
      ? { type: 'function', function: { name: toolChoice.name } }
      : toolChoice === 'required'
        ? flavour.requiredToolChoice
        : toolChoice
  return {
    tools: toFunctionTools(tools, { keepsStrict: keepsStrict.has(host) }),
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    ...(choice !== undefined && { tool_choice: choice }),
  }
}

/** Usage is always requested; the gateway decides whether the client sees it. */
function toStreamFields(askForUsage: boolean): JsonObject {
  return { stream: true, ...(askForUsage && { stream_options: { include_usage: true } }) }
}
