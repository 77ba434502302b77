import { jsonRequest } from '../json-request.ts'
import { acceptCall, mapEffort, openingText } from '../accept-call.ts'
import { isBlankText } from '../../../platform/kernel/index.ts'
import { textOfContent } from '../../conversation/index.ts'
import { shapeConversation, toolArguments, trimFinalTurn } from '../conversation.ts'
import { resolveTraits } from '../model-traits/index.ts'
import type { PromptText, ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { isNative } from './is-native.ts'
import { toNativeBody } from './to-native.ts'
import { type CachePlan, planCache } from '../prompt-cache.ts'
import { Adjustments, mapSampling } from '../sampling.ts'
import type { WireRequest } from '../wire-adapter.ts'
import type { JsonObject } from '../wire-json.ts'

const defaultBaseUrl = 'https://api.anthropic.com'
/** The only dated version of the Messages API; sent unless the operator sets another one. */
const defaultVersion = '2023-06-01'
/** Anthropic's temperature ranges from 0 to 1, ours from 0 to 2. */
const temperatureFactor = 0.5

/** Maps a call to a request to `POST /v1/messages`. */
export function toMessagesRequest(
  call: ProviderCall,
  options: { stream: boolean },
  settings: ProviderSettings,
): WireRequest {
  const adjustments = new Adjustments()
  const body = toMessagesBody(call, options, settings, adjustments)
  return jsonRequest(`${apiRoot(settings)}/v1/messages`, body, {
    accept: options.stream ? 'text/event-stream' : 'application/json',
    headers: { ...versionHeader(settings), ...betaHeader(call.request) },
    adjusted: adjustments.names(),
  })
}

/** The address before `/v1`; operators may configure it with or without. */
export function apiRoot(settings: ProviderSettings): string {
  return (settings.baseUrl ?? defaultBaseUrl).replace(/\/+$/, '').replace(/\/v1$/, '')
}

export function versionHeader(settings: ProviderSettings): Record<string, string> {
  return { 'anthropic-version': settings.apiVersion ?? defaultVersion }
}

function betaHeader({ betas }: ProviderRequest): Record<string, string> {
  return betas && betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}
}

function toMessagesBody(
  original: ProviderCall,
  options: { stream: boolean },
  settings: ProviderSettings,
  adjustments: Adjustments,
): JsonObject {
  const traits = resolveTraits('anthropic', original.model)
  const call = acceptCall(original, settings, traits, adjustments)
  if (isNative(call.request)) return toNativeBody(call, options, { settings, traits }, adjustments)
  const { request, model } = call
  const cache = planCache(call, settings, traits)
  const opening = { type: 'text', text: openingText }
  const { system, turns, opened } = shapeConversation(request.messages, (message) => toBlocks(message, cache), opening)
  if (opened) adjustments.noteName('messages')
  const factor = settings.quirks?.temperatureFactor ?? temperatureFactor
  const { temperature, topP } = mapSampling(call, { factor, traits }, adjustments)
  const effort = mapEffort(call, traits, adjustments)
  const stop = mapStop(request, adjustments)
  adjustments.drop(request, 'seed', 'presencePenalty', 'frequencyPenalty', 'metadata')
  return {
    model: model.id,
    max_tokens: request.maxOutputTokens ?? model.maxOutputTokens,
    ...(system.length > 0 && { system: toSystem(system.length === 1 ? system[0]! : system.join('\n\n'), cache) }),
    messages: trimFinalTurn(turns).map((turn) => ({ role: turn.role, content: plainWherePossible(turn.blocks) })),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(stop !== undefined && { stop_sequences: stop }),
    ...(effort !== undefined && { output_config: { effort } }),
    ...(request.user !== undefined && { metadata: { user_id: request.user } }),
    ...(request.serviceTier !== undefined && { service_tier: request.serviceTier }),
    ...toTools(request),
    ...(options.stream && { stream: true }),
  }
}

const cacheMark = { cache_control: { type: 'ephemeral' } }

function toSystem(text: PromptText, { system }: CachePlan): JsonObject[] | PromptText {
  return system ? [{ type: 'text', text, ...cacheMark }] : text
}

/** Thinking is sent back unchanged before the text and calls that followed it: its signature is verified. */
function toBlocks(message: ProviderMessage, { marked }: CachePlan): JsonObject[] {
  const thinking = message.replay?.format === 'anthropic' ? message.replay.blocks : []
  const blocks = toContentBlocks(message)
  const last = blocks.at(-1)
  if (last && marked.has(message)) blocks[blocks.length - 1] = { ...last, ...cacheMark }
  return [...thinking, ...blocks]
}

/** The API refuses blank text blocks, so a blank text becomes no block. Tool results precede text of the same turn. */
function toContentBlocks(message: ProviderMessage): JsonObject[] {
  const content = textOfContent(message.content)
  const text = isBlankText(content) ? [] : [{ type: 'text', text: content }]
  if (message.role === 'tool') {
    return [{ type: 'tool_result', tool_use_id: message.toolCallId ?? '', content }]
  }
  const calls = (message.toolCalls ?? []).map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: call.name,
    input: toolArguments(call.argumentsJson),
  }))
  return [...text, ...calls]
}

function plainWherePossible(blocks: JsonObject[]): JsonObject[] | string {
  const [first] = blocks
  const plain = blocks.length === 1 && first?.type === 'text' && first.cache_control === undefined
  return plain ? String(first.text) : blocks
}

function toTools(request: ProviderRequest): JsonObject {
  if (!request.tools || request.tools.length === 0) return {}
  const choices = { auto: 'auto', none: 'none', required: 'any' } as const
  const choice = request.toolChoice
  return {
    tools: request.tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      input_schema: tool.parameters,
    })),
    ...(choice !== undefined && {
      tool_choice: typeof choice === 'object' ? { type: 'tool', ...choice } : { type: choices[choice] },
    }),
  }
}

/** The API refuses only stop sequences of white space. */
function mapStop(request: ProviderRequest, adjustments: Adjustments): string[] | undefined {
  if (!request.stop || request.stop.length === 0) return undefined
  const usable = request.stop.filter((sequence) => !isBlankText(sequence))
  if (usable.length !== request.stop.length) adjustments.note('stop')
  return usable.length > 0 ? usable : undefined
}
