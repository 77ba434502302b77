import { mapError } from '../map-error.ts'
import { readLogprobs } from '../logprobs.ts'
import type { FinishReason, ProviderEvent } from '../../port.ts'
import type { Redact } from '../../redactor.ts'
import type { WireAnswer } from '../../wire-adapter.ts'
import { unreadableAnswer } from '../../wire-failure.ts'
import { asName, asObject, asObjects, asString, decodeJsonObject, type JsonObject } from '../../wire-json.ts'
import { hostedKindOf, mapUsage, readCitations, readReplay } from './items.ts'

/** Maps a response object to an answer. Throws ProviderError if it failed or is no response. */
export function fromResponseObject(body: Uint8Array, redact: Redact): WireAnswer {
  const response = decodeJsonObject(body)
  if (!response) throw unreadableAnswer('an answer', true)
  return toAnswer(response, redact)
}

/** Items of an answer whose end was received. */
export function toAnswer(response: JsonObject, redact: Redact): WireAnswer {
  assertAnswered(response, redact, true)
  const items = asObjects(response.output)
  const parts = items.flatMap((item) => (item.type === 'message' ? asObjects(item.content) : []))
  const joined = (type: string, field: string) =>
    parts.flatMap((part) => (part.type === type ? [asString(part[field])] : [])).join('')
  const toolCalls = items.flatMap((item) =>
    item.type === 'function_call'
      ? [{ id: asString(item.call_id), name: asString(item.name), argumentsJson: asString(item.arguments) }]
      : [],
  )
  const { finishReason, wireFinishReason } = readEnd(response, toolCalls.length > 0)
  const citations = readCitations(items)
  const replay = readReplay(items)
  const hostedItems = items.filter((item) => hostedKindOf(item) !== undefined)
  const logprobs = readLogprobs({ logprobs: { content: parts.flatMap((part) => asObjects(part.logprobs)) } })
  return {
    text: joined('output_text', 'text'),
    reasoningText: items.flatMap(reasoningTexts).join('\n\n'),
    refusal: joined('refusal', 'refusal') || null,
    toolCalls,
    finishReason,
    wireFinishReason,
    ...(citations.length > 0 && { citations }),
    ...(replay && { replay }),
    ...(hostedItems.length > 0 && { hostedItems }),
    ...(logprobs && { logprobs }),
    usage: mapUsage(response.usage, items),
  }
}

/** The probabilities of a delta. */
export function readLogprobsOf(content: unknown): ProviderEvent[] {
  const logprobs = readLogprobs({ logprobs: { content } })
  return logprobs ? [{ type: 'logprobs', logprobs }] : []
}

/** Throws if the object is an error, a failed response or something else. */
export function assertAnswered(response: JsonObject, redact: Redact, afterFirstByte: boolean): void {
  if (response.error)
    throw mapError({ status: 200, headers: {}, body: JSON.stringify(response), afterFirstByte }, redact)
  if (!Array.isArray(response.output) || (response.status !== 'completed' && response.status !== 'incomplete'))
    throw unreadableAnswer('an answer', afterFirstByte)
}

export function readEnd(
  response: JsonObject,
  calledTools: boolean,
): { finishReason: FinishReason; wireFinishReason: string | null } {
  const reason = asName(asObject(response.incomplete_details).reason)
  if (response.status === 'incomplete')
    return { finishReason: reason === 'content_filter' ? 'content_filter' : 'length', wireFinishReason: reason }
  return { finishReason: calledTools ? 'tool_calls' : 'stop', wireFinishReason: 'completed' }
}

function reasoningTexts(item: JsonObject): string[] {
  if (item.type !== 'reasoning') return []
  return [...asObjects(item.summary), ...asObjects(item.content)].map(({ text }) => asString(text)).filter(Boolean)
}
