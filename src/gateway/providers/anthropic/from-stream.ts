import { type HostedToolKind, SseParser, type SseEvent } from '../../../platform/kernel/index.ts'
import type { ProviderEvent, ProviderRequest, UrlCitation } from '../port.ts'
import { createStreamReader, textEvent } from '../stream-reader.ts'
import type { WireStreamReader } from '../wire-adapter.ts'
import { truncatedStream, unreadableAnswer } from '../wire-failure.ts'
import { asName, asObject, asString, type JsonObject, parseJsonObject } from '../wire-json.ts'
import { hostedKindOf } from './hosted-uses.ts'
import { isNative } from './is-native.ts'
import { maximumCitations, readCitation } from './citations.ts'
import { mapError } from './map-error.ts'
import { mapFinishReason } from '../map-finish-reason.ts'
import { mapUsage, replaceUsage } from './map-usage.ts'
import type { Redact } from '../redactor.ts'

/** Largest single event; a delta has a few hundred bytes, a whole tool call far less than this. */
const maximumEventBytes = 4 * 1024 * 1024

interface ReaderState {
  /** A part of the answer was received, so a failure from here on may have been billed. */
  begun: boolean
  ended: boolean
  stopReason: string | null
  messageId: string | null
  usage: JsonObject
  /** Tools that the provider ran, in order. */
  hosted: HostedToolKind[]
  /** Position of tool calls by the index of their content block. */
  toolCalls: Map<unknown, { index: number; sawDelta: boolean; input: JsonObject }>
  /** Sources, and the length of the text before the block that is read. */
  citations: UrlCitation[]
  textLength: number
  blockStart: number
  /** Blocks of thinking by the index of their content block. */
  thinking: Map<unknown, JsonObject>
  /** The events of blocks and of the end are passed on as they are. */
  native: boolean
}

/** Reads the event stream of `POST /v1/messages`. The answer ends with `message_stop`. */
export function createMessageStreamReader(redact: Redact, request?: ProviderRequest): WireStreamReader {
  const state: ReaderState = {
    begun: false,
    ended: false,
    stopReason: null,
    messageId: null,
    usage: {},
    hosted: [],
    toolCalls: new Map(),
    thinking: new Map(),
    native: isNative(request),
    citations: [],
    textLength: 0,
    blockStart: 0,
  }
  return createStreamReader({
    state,
    parser: new SseParser({ maximumEventBytes }),
    read: (event) => readEvent(state, event, redact),
  })
}

function readEvent(state: ReaderState, event: SseEvent, redact: Redact): ProviderEvent[] {
  if (state.ended) return []
  const data = parseJsonObject(event.data)
  if (!data) throw unreadableAnswer('an event', state.begun)
  switch (data.type ?? event.event) {
    case 'error':
      throw mapError({ status: 200, headers: {}, body: event.data, afterFirstByte: state.begun }, redact)
    case 'message_start':
      assertSameMessage(state, asString(asObject(data.message).id))
      state.begun = true
      state.usage = asObject(asObject(data.message).usage)
      return passOn(state, data)
    case 'content_block_start':
      return [...passOn(state, data), ...readBlockStart(state, data)]
    case 'content_block_delta':
      return [...passOn(state, data), ...readDelta(state, data)]
    case 'content_block_stop':
      return [...passOn(state, data), ...readBlockStop(state, data)]
    case 'message_delta':
      state.stopReason = asName(asObject(data.delta).stop_reason) ?? state.stopReason
      state.usage = replaceUsage(state.usage, asObject(data.usage))
      return passOn(state, data)
    case 'message_stop':
      return readEnd(state)
    default:
      // Pings and unknown kinds of events.
      return []
  }
}

function passOn({ native }: ReaderState, event: JsonObject): ProviderEvent[] {
  return native ? [{ type: 'native', event }] : []
}

/** A proxy that retries by itself begins a second message: the parts of the first are not a complete answer. */
function assertSameMessage(state: ReaderState, id: string): void {
  if (state.messageId !== null && state.messageId !== id) throw truncatedStream(true)
  state.messageId = id
}

function readBlockStart(state: ReaderState, data: JsonObject): ProviderEvent[] {
  const block = asObject(data.content_block)
  state.begun = true
  if (block.type === 'text') {
    state.blockStart = state.textLength
    state.textLength += asString(block.text).length
    return textEvent('text', block.text)
  }
  if (block.type === 'thinking' || block.type === 'redacted_thinking') state.thinking.set(data.index, { ...block })
  if (block.type === 'thinking') return textEvent('reasoning', block.thinking)
  const hosted = hostedKindOf(block)
  if (hosted) {
    // The code of an answer runs in one container.
    const isCounted = hosted !== 'code_execution' || !state.hosted.includes(hosted)
    state.hosted.push(hosted)
    return isCounted ? [{ type: 'hosted_use', kind: hosted }] : []
  }
  if (block.type !== 'tool_use') return []
  const index = state.toolCalls.size
  state.toolCalls.set(data.index, { index, sawDelta: false, input: asObject(block.input) })
  return [{ type: 'tool_call', index, id: asString(block.id), name: asString(block.name), argumentsDelta: '' }]
}

function readDelta(state: ReaderState, data: JsonObject): ProviderEvent[] {
  const delta = asObject(data.delta)
  state.begun = true
  if (delta.type === 'text_delta') {
    state.textLength += asString(delta.text).length
    return textEvent('text', delta.text)
  }
  if (delta.type === 'citations_delta') takeCitation(state, delta.citation)
  const thinking = state.thinking.get(data.index)
  if (thinking) {
    thinking.thinking = asString(thinking.thinking) + asString(delta.thinking)
    if (delta.type === 'signature_delta') thinking.signature = asString(thinking.signature) + asString(delta.signature)
  }
  if (delta.type === 'thinking_delta') return textEvent('reasoning', delta.thinking)
  const call = state.toolCalls.get(data.index)
  const argumentsDelta = asString(delta.partial_json)
  if (delta.type !== 'input_json_delta' || !call || argumentsDelta === '') return []
  call.sawDelta = true
  return [{ type: 'tool_call', index: call.index, argumentsDelta }]
}

/** A source of the block that is read, which ends where the text ends by now. */
function takeCitation(state: ReaderState, wire: unknown): void {
  const { blockStart, textLength } = state
  const found = readCitation(wire, blockStart, textLength)
  if (found && state.citations.length < maximumCitations) state.citations.push(found)
}

/** A call without arguments sends only empty deltas; its input, empty or not, is in the block's start. */
function readBlockStop(state: ReaderState, data: JsonObject): ProviderEvent[] {
  const call = state.toolCalls.get(data.index)
  if (!call || call.sawDelta) return []
  return [{ type: 'tool_call', index: call.index, argumentsDelta: JSON.stringify(call.input) }]
}

function readEnd(state: ReaderState): ProviderEvent[] {
  state.ended = true
  const blocks = [...state.thinking.values()]
  const replayed = blocks.length > 0
  const events: ProviderEvent[] = [
    ...(state.citations.length > 0 ? [{ type: 'citations' as const, citations: state.citations }] : []),
    ...(replayed ? [{ type: 'replay' as const, replay: { format: 'anthropic' as const, blocks } }] : []),
    { type: 'finish', finishReason: mapFinishReason(state.stopReason), wireFinishReason: state.stopReason },
  ]
  const usage = mapUsage(state.usage, state.hosted)
  if (usage) events.push({ type: 'usage', usage })
  return events
}
