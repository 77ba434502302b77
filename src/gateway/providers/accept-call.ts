import { lookUp } from '../../platform/kernel/index.ts'
import { createHash } from 'node:crypto'
import type { ModelTraits } from './model-traits/index.ts'
import { isBlankContent, joinContents, type MessageContent } from '../conversation/index.ts'
import type { ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from './port.ts'
import { type Adjustments, publicFieldNames, publicNames } from './sampling.ts'
import { shapeResponseFormat } from './structured-answer.ts'

/**
 * The call as this model accepts it, for every format: fields that the host (`quirks.rejects`) or the model refuses and values without
 * effect are removed, words and limits are mapped to accepted ones. Changes of meaning are recorded in `adjusted`.
 */
export function acceptCall(
  call: ProviderCall,
  settings: ProviderSettings,
  traits: ModelTraits,
  adjustments: Adjustments,
): ProviderCall {
  const request = withoutNeutral(call.request)
  const { rejects = [] } = settings.quirks ?? {}
  const { refuses = [] } = traits
  if (rejects.length > 0 || refuses.length > 0) {
    for (const field of publicFieldNames) {
      // Not deleted where absent: an object is slow once a field has been deleted.
      if (request[field] === undefined) continue
      if (!rejects.includes(publicNames[field]) && !refuses.includes(publicNames[field])) continue
      adjustments.drop(request, field)
      delete request[field]
    }
  }
  mapTier(request, traits, adjustments)
  if (traits.tools === false) leaveOutTools(request, adjustments)
  if (request.responseFormat) shapeResponseFormat(request, traits)
  if (traits.toolCallIds) request.messages = withToolCallIds(request.messages, traits.toolCallIds)
  clampCap(request, call.model.maxOutputTokens, adjustments)
  if (request.user !== undefined) request.user = request.user.slice(0, traits.userCharacters ?? defaultUserCharacters)
  return { ...call, request }
}

/** For hosts that state none. */
const defaultUserCharacters = 64

/** A penalty of 0, an empty list and an empty object have no effect, yet some models refuse the field. */
function withoutNeutral(original: ProviderRequest): ProviderRequest {
  const request = { ...original }
  if (request.presencePenalty === 0) delete request.presencePenalty
  if (request.frequencyPenalty === 0) delete request.frequencyPenalty
  if (request.stop?.length === 0) delete request.stop
  if (request.metadata && Object.keys(request.metadata).length === 0) delete request.metadata
  return request
}

/** `auto` is every host's default. It is sent only if the host has a value for it with another meaning. */
function mapTier(request: ProviderRequest, { serviceTiers = {} }: ModelTraits, adjustments: Adjustments) {
  const wanted = request.serviceTier
  if (wanted === undefined) return
  const sent = lookUp(serviceTiers, wanted)
  if (sent === undefined) {
    adjustments.drop(request, 'serviceTier')
    delete request.serviceTier
  } else request.serviceTier = sent
}

/** Tool rounds of another deployment become plain text. */
function leaveOutTools(request: ProviderRequest, adjustments: Adjustments) {
  if (request.tools && request.tools.length > 0) adjustments.noteName('tools')
  delete request.tools
  delete request.toolChoice
  request.messages = request.messages.map(({ toolCalls: _calls, toolCallId: _id, replay: _replay, ...message }) =>
    message.role === 'tool' ? { ...message, role: 'user' } : message,
  )
}

/** Replaces ids from another provider whose form this one refuses, for calls and their results alike. */
function withToolCallIds(
  messages: ProviderMessage[],
  { characters, least, most }: NonNullable<ModelTraits['toolCallIds']>,
): ProviderMessage[] {
  const form = characters === 'word' ? /^[\w-]+$/ : /^[a-zA-Z0-9]+$/
  const fitting = (id: string) =>
    form.test(id) && id.length >= least && id.length <= most
      ? id
      : createHash('sha256').update(id).digest('hex').slice(0, most)
  return messages.map((message) => {
    if (message.toolCallId !== undefined) return { ...message, toolCallId: fitting(message.toolCallId) }
    if (!message.toolCalls) return message
    return { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, id: fitting(call.id) })) }
  })
}

function clampCap(request: ProviderRequest, maximum: number, adjustments: Adjustments) {
  if (request.maxOutputTokens === undefined || maximum <= 0 || request.maxOutputTokens <= maximum) return
  request.maxOutputTokens = maximum
  adjustments.noteName('max_completion_tokens')
}

/** The value of `reasoning_effort` on the wire, or undefined if none is sent. */
export function mapEffort(call: ProviderCall, traits: ModelTraits, adjustments: Adjustments): string | undefined {
  const { model, request } = call
  const wanted = request.reasoningEffort
  const forced = request.tools && request.tools.length > 0 && model.reasoning ? traits.effortWithTools : undefined
  if (forced !== undefined) {
    if (wanted !== undefined && wanted !== forced) adjustments.note('reasoningEffort')
    return forced
  }
  if (wanted === undefined) return undefined
  // Claude's effort is not limited to reasoning.
  if (!model.reasoning && !traits.reasoning && traits.effortField === undefined) {
    if (wanted !== 'none') adjustments.note('reasoningEffort')
    return undefined
  }
  const sent = effortWord(wanted, traits)
  if (sent !== wanted) adjustments.note('reasoningEffort')
  return sent
}

/** The client's value is sent if nothing is known about the model. */
export function effortWord(wanted: string, { efforts }: ModelTraits): string | undefined {
  if (efforts === undefined) return wanted
  return lookUp(efforts, wanted)
}

/** The turn before a conversation that begins with the assistant, if the user must begin. */
export const openingText = '(The conversation begins.)'

/** Messages of the OpenAI-compatible family, for hosts that refuse blank messages or require alternating roles. */
export function shapeMessages(
  messages: ProviderMessage[],
  { blankTurns, turns }: ModelTraits,
  adjustments: Adjustments,
): ProviderMessage[] {
  const kept = blankTurns === false ? messages.filter(isNonBlank) : messages
  if (turns !== 'alternating') return kept
  const shaped: ProviderMessage[] = []
  /** Contents of the messages that become one, by its index. */
  const merged = new Map<number, MessageContent[]>()
  for (const message of kept) {
    const last = shaped.at(-1)
    if (isInstruction(message)) shaped.push(message)
    else if (!last || isInstruction(last)) {
      if (message.role === 'assistant') {
        shaped.push({ role: 'user', content: openingText })
        adjustments.noteName('messages')
      }
      shaped.push(message)
    } else if (last.role === message.role && !message.toolCalls && !last.toolCalls && message.role !== 'tool') {
      const at = shaped.length - 1
      const contents = merged.get(at)
      if (contents) contents.push(message.content)
      else merged.set(at, [last.content, message.content])
    } else shaped.push(message)
  }
  for (const [at, contents] of merged) shaped[at] = { ...shaped[at]!, content: joinContents(contents) }
  return shaped
}

const isInstruction = ({ role }: ProviderMessage) => role === 'system' || role === 'developer'

const isNonBlank = (message: ProviderMessage) =>
  message.role === 'tool' || (message.toolCalls?.length ?? 0) > 0 || !isBlankContent(message.content)
