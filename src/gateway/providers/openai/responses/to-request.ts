import { acceptCall, mapEffort } from '../../accept-call.ts'
import { toOpenAiSchema } from '../../../conversation/index.ts'
import { jsonRequest } from '../../json-request.ts'
import { type HostName, type ModelTraits, resolveTraits } from '../../model-traits/index.ts'
import type { ProviderCall, ProviderRequest, ProviderSettings, ResponseFormat } from '../../port.ts'
import { Adjustments, mapSampling } from '../../sampling.ts'
import { definitionsFor } from '../../hosted-forms.ts'
import { usableSchema } from '../../structured-answer.ts'
import type { WireRequest } from '../../wire-adapter.ts'
import type { JsonObject } from '../../wire-json.ts'
import { toInput } from './to-input.ts'

/** The API refuses a smaller cap. */
const leastOutputTokens = 16
/** Names of formats: letters, digits, `_` and `-`. */
const maximumFormatName = 64

export interface ResponsesContext {
  settings: ProviderSettings
  host: HostName
  address(model: string): string
}

/** Maps a call to a request to `POST …/responses`. The provider stores nothing. */
export function toResponsesRequest(
  call: ProviderCall,
  options: { stream: boolean },
  { settings, host, address }: ResponsesContext,
): WireRequest {
  const adjustments = new Adjustments()
  const traits = resolveTraits(host, call.model)
  const accepted = acceptCall(call, settings, traits, adjustments)
  const body = toBody(accepted, options, traits, adjustments)
  return jsonRequest(address(call.model.id), body, {
    accept: options.stream ? 'text/event-stream' : 'application/json',
    adjusted: adjustments.names(),
  })
}

/** Fields without a place in the API. */
const droppedFields = ['seed', 'stop', 'presencePenalty', 'frequencyPenalty', 'logitBias', 'topK', 'choices'] as const

function toBody(
  call: ProviderCall,
  { stream }: { stream: boolean },
  traits: ModelTraits,
  adjustments: Adjustments,
): JsonObject {
  const { model, request } = call
  const { temperature, topP } = mapSampling(call, { factor: 1, traits }, adjustments)
  const effort = mapEffort(call, traits, adjustments)
  adjustments.drop(request, ...droppedFields)
  const reasoning = {
    ...(effort !== undefined && { effort }),
    ...(request.reasoning?.summary !== undefined && { summary: request.reasoning.summary }),
  }
  const text = {
    ...(request.responseFormat && { format: toFormat(request.responseFormat) }),
    ...(request.verbosity !== undefined && { verbosity: request.verbosity }),
  }
  const include = toInclude(request, model.reasoning || traits.reasoning === true)
  return {
    model: model.id,
    input: toInput(request.messages),
    store: false,
    ...(include.length > 0 && { include }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(request.maxOutputTokens !== undefined && { max_output_tokens: atLeast(request.maxOutputTokens, adjustments) }),
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
    ...(Object.keys(text).length > 0 && { text }),
    ...(request.topLogprobs !== undefined && { top_logprobs: request.topLogprobs }),
    ...(request.metadata !== undefined && { metadata: request.metadata }),
    ...(request.user !== undefined && { user: request.user }),
    ...(request.serviceTier !== undefined && { service_tier: request.serviceTier }),
    ...toTools(request, adjustments),
    ...(stream && { stream: true }),
  }
}

function atLeast(cap: number, adjustments: Adjustments): number {
  if (cap >= leastOutputTokens) return cap
  adjustments.noteName('max_completion_tokens')
  return leastOutputTokens
}

function toInclude(request: ProviderRequest, reasons: boolean): string[] {
  const include = [...(request.hostedLimits?.include ?? [])]
  if (reasons) include.push('reasoning.encrypted_content')
  if (request.logprobs || request.topLogprobs !== undefined) include.push('message.output_text.logprobs')
  return include
}

/** A schema beyond the subset of strict mode is sent without it: then it guides the model, and the gateway checks the answer. */
function toFormat(format: ResponseFormat): JsonObject {
  if (format.type === 'json_object') return { type: 'json_object' }
  const { schema, isStrict } = usableSchema(() => toOpenAiSchema(format.schema))
  return {
    type: 'json_schema',
    name: format.name.replaceAll(/[^\w-]/g, '_').slice(0, maximumFormatName) || 'answer',
    ...(format.description !== undefined && { description: format.description }),
    schema: format.strict ? schema : format.schema,
    strict: format.strict === true && isStrict,
  }
}

function toTools(
  { tools = [], hostedTools = [], hostedLimits, toolChoice, parallelToolCalls }: ProviderRequest,
  adjustments: Adjustments,
) {
  if (tools.length === 0 && hostedTools.length === 0) return {}
  const functions = tools.map(({ name, description, parameters, strict }) => ({
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    parameters,
    // The API's default is true, that of chat completions false.
    strict: strict === true,
  }))
  return {
    tools: [...functions, ...definitionsFor('openai', hostedTools, adjustments)],
    ...(toolChoice !== undefined && {
      tool_choice: typeof toolChoice === 'object' ? { type: 'function', name: toolChoice.name } : toolChoice,
    }),
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    ...(hostedLimits?.maxToolCalls !== undefined && { max_tool_calls: hostedLimits.maxToolCalls }),
  }
}
