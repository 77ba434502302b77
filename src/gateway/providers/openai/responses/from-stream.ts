import { SseParser, type SseEvent } from '../../../../platform/kernel/index.ts'
import type { ProviderEvent } from '../../port.ts'
import type { Redact } from '../../redactor.ts'
import { createStreamReader } from '../../stream-reader.ts'
import type { WireStreamReader } from '../../wire-adapter.ts'
import { unreadableAnswer } from '../../wire-failure.ts'
import { asCount, asName, asObject, asObjects, asString, type JsonObject, parseJsonObject } from '../../wire-json.ts'
import { mapError } from '../map-error.ts'
import { assertAnswered, readEnd, readLogprobsOf } from './from-response.ts'
import { countUses, hostedKindOf, mapUsage, readCitations, readReplay } from './items.ts'

/** Largest single event; the last one repeats the whole answer. */
const maximumEventBytes = 32 * 1024 * 1024

interface ReaderState {
  begun: boolean
  ended: boolean
  /** Calls by their place. */
  calls: Map<string, { index: number; sawDelta: boolean }>
  /** Places of texts that came in pieces. */
  texts: Set<string>
  /** Ids of items of tools that the provider runs, and those that have ended. */
  hosted: Set<string>
  ran: JsonObject[]
}

/** Reads the event stream of `POST …/responses`. It ends with `response.completed`, `response.incomplete` or an error. */
export function createResponsesStreamReader(redact: Redact): WireStreamReader {
  const state: ReaderState = {
    begun: false,
    ended: false,
    calls: new Map(),
    texts: new Set(),
    hosted: new Set(),
    ran: [],
  }
  return createStreamReader<SseEvent>({
    state,
    parser: new SseParser({ maximumEventBytes }),
    read: (event) => readEvent(state, event, redact),
  })
}

function readEvent(state: ReaderState, { data }: SseEvent, redact: Redact): ProviderEvent[] {
  if (state.ended || data === '[DONE]') return []
  const event = parseJsonObject(data)
  if (!event) throw unreadableAnswer('an event', state.begun)
  switch (event.type) {
    case 'error':
    case 'response.failed':
      throw mapError({ status: 200, headers: {}, body: errorOf(event, data), afterFirstByte: state.begun }, redact)
    case 'response.created':
    case 'response.queued':
    case 'response.in_progress':
      return []
    case 'response.completed':
    case 'response.incomplete':
      return readLast(state, asObject(event.response), redact)
  }
  state.begun = true
  switch (event.type) {
    case 'response.output_item.added':
      return readItem(state, event)
    case 'response.output_item.done':
      return [...readUse(state, asObject(event.item)), ...passOn(state, event)]
    case 'response.output_text.delta':
      return [...readLogprobsOf(event.logprobs), ...readText(state, event, 'text', event.delta)]
    case 'response.refusal.delta':
      return readText(state, event, 'refusal', event.delta)
    case 'response.output_text.done':
      return readWhole(state, event, 'text', event.text)
    case 'response.refusal.done':
      return readWhole(state, event, 'refusal', event.refusal)
    case 'response.reasoning_summary_part.added':
      return event.summary_index === 0 ? [] : [{ type: 'reasoning', text: '\n\n' }]
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return readText(state, event, 'reasoning', event.delta)
    case 'response.reasoning_summary_text.done':
    case 'response.reasoning_text.done':
      return readWhole(state, event, 'reasoning', event.text)
    case 'response.function_call_arguments.delta':
      return readArguments(state, event, event.delta, false)
    case 'response.function_call_arguments.done':
      return readArguments(state, event, event.arguments, true)
    default:
      return passOn(state, event)
  }
}

type TextKind = 'text' | 'refusal' | 'reasoning'

/** Of the item behind an event. Some hosts give it another id with each event. */
function placeOf({ output_index: index, item_id: itemId, item }: JsonObject): string {
  return asCount(index) === undefined ? (asName(itemId) ?? asString(asObject(item).id)) : String(index)
}

const textPlace = (event: JsonObject, kind: TextKind) =>
  `${placeOf(event)} ${kind} ${asCount(event.content_index) ?? asCount(event.summary_index) ?? 0}`

function readText({ texts }: ReaderState, event: JsonObject, kind: TextKind, value: unknown): ProviderEvent[] {
  const text = asString(value)
  if (text === '') return []
  texts.add(textPlace(event, kind))
  return [{ type: kind, text }]
}

/** The last event of a text repeats it, which counts only if no piece came. */
function readWhole(state: ReaderState, event: JsonObject, kind: TextKind, value: unknown): ProviderEvent[] {
  return state.texts.has(textPlace(event, kind)) ? [] : readText(state, event, kind, value)
}

/** Errors have their fields at the top level, inside `error`, or inside the failed response. */
function errorOf(event: JsonObject, data: string): string {
  const { error } = asObject(event.response)
  return error ? JSON.stringify({ error }) : data
}

function readItem(state: ReaderState, event: JsonObject): ProviderEvent[] {
  const item = asObject(event.item)
  const id = asString(item.id)
  if (hostedKindOf(item)) {
    state.hosted.add(id)
    return passOn(state, event)
  }
  if (item.type !== 'function_call') return []
  const index = state.calls.size
  const given = asString(item.arguments)
  state.calls.set(placeOf(event), { index, sawDelta: given !== '' })
  return [{ type: 'tool_call', index, id: asString(item.call_id), name: asString(item.name), argumentsDelta: given }]
}

/** Only what is billed: a page that is opened and a second call in one container are no further use. */
function readUse({ ran }: ReaderState, item: JsonObject): ProviderEvent[] {
  const kind = hostedKindOf(item)
  if (!kind) return []
  const before = countUses(ran).toolUses?.[kind] ?? 0
  ran.push(item)
  return (countUses(ran).toolUses?.[kind] ?? 0) > before ? [{ type: 'hosted_use', kind }] : []
}

/** The last event repeats the arguments, which count only if no delta came. */
function readArguments(state: ReaderState, event: JsonObject, value: unknown, isLast: boolean): ProviderEvent[] {
  const call = state.calls.get(placeOf(event))
  const argumentsDelta = asString(value)
  if (!call || argumentsDelta === '' || (isLast && call.sawDelta)) return []
  call.sawDelta = true
  return [{ type: 'tool_call', index: call.index, argumentsDelta }]
}

/** Events of what the provider runs, for clients of this API. */
function passOn(state: ReaderState, event: JsonObject): ProviderEvent[] {
  const itemId = asName(event.item_id) ?? asString(asObject(event.item).id)
  // Its type is written into the client's stream.
  const isPlain = /^response\.[a-z_.]{1,100}$/.test(asString(event.type))
  return state.hosted.has(itemId) && isPlain ? [{ type: 'hosted_item', itemId, event }] : []
}

function readLast(state: ReaderState, response: JsonObject, redact: Redact): ProviderEvent[] {
  assertAnswered(response, redact, state.begun)
  state.ended = true
  const items = asObjects(response.output)
  const replay = readReplay(items)
  const citations = readCitations(items)
  const usage = mapUsage(response.usage, items)
  return [
    ...(citations.length > 0 ? [{ type: 'citations' as const, citations }] : []),
    ...(replay ? [{ type: 'replay' as const, replay }] : []),
    { type: 'finish', ...readEnd(response, state.calls.size > 0) },
    ...(usage ? [{ type: 'usage' as const, usage }] : []),
  ]
}
