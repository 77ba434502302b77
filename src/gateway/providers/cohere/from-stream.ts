import { SseParser, type SseEvent } from '../../../platform/kernel/index.ts'
import type { ProviderEvent } from '../port.ts'
import { createStreamReader, textEvent } from '../stream-reader.ts'
import type { WireStreamReader } from '../wire-adapter.ts'
import { failure, unreadableAnswer } from '../wire-failure.ts'
import { asName, asObject, asString, type JsonObject, parseJsonObject } from '../wire-json.ts'
import { failureOfFinish } from './map-error.ts'
import { mapFinishReason } from '../map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'
import type { Redact } from '../redactor.ts'

/** Largest single event; one delta is a few hundred bytes. */
const maximumEventBytes = 4 * 1024 * 1024

interface ReaderState {
  begun: boolean
  ended: boolean
  /** Position of tool calls by the index on the wire. */
  toolCalls: Map<unknown, { index: number; sawArguments: boolean }>
}

/** Reads the event stream of `POST /v2/chat`. The answer ends with `message-end`; a `[DONE]` may follow. */
export function createChatStreamReader(redact: Redact): WireStreamReader {
  const state: ReaderState = { begun: false, ended: false, toolCalls: new Map() }
  return createStreamReader({
    state,
    parser: new SseParser({ maximumEventBytes }),
    read: (event) => readEvent(state, event, redact),
  })
}

function readEvent(state: ReaderState, event: SseEvent, redact: Redact): ProviderEvent[] {
  if (state.ended || event.data === '[DONE]') return []
  const data = parseJsonObject(event.data)
  if (!data) throw unreadableAnswer('an event', state.begun)
  const kind = asString(data.type) || event.event
  if (kind === 'error' || (data.type === undefined && data.message !== undefined)) {
    const message = redact(asString(data.message)) || 'Cohere failed in the middle of its answer.'
    throw failure('server_error', message, { status: 200, afterFirstByte: state.begun })
  }
  state.begun = true
  const delta = asObject(data.delta)
  const message = asObject(delta.message)
  switch (kind) {
    case 'content-start':
    case 'content-delta':
      return readContent(asObject(message.content))
    case 'tool-plan-delta':
      return textEvent('reasoning', message.tool_plan)
    case 'tool-call-start':
    case 'tool-call-delta':
      return readToolCall(state, data.index, asObject(message.tool_calls))
    case 'tool-call-end':
      return readToolCallEnd(state, data.index)
    case 'message-end':
      return readEnd(state, delta, redact)
    default:
      // Citations, and unknown kinds of events.
      return []
  }
}

function readContent(content: JsonObject): ProviderEvent[] {
  return [...textEvent('reasoning', content.thinking), ...textEvent('text', content.text)]
}

function readToolCall(state: ReaderState, wireIndex: unknown, wireCall: JsonObject): ProviderEvent[] {
  const { name, arguments: piece } = asObject(wireCall.function)
  const argumentsDelta = asString(piece)
  const known = state.toolCalls.get(wireIndex)
  const call = known ?? { index: state.toolCalls.size, sawArguments: false }
  call.sawArguments ||= argumentsDelta !== ''
  if (known) return argumentsDelta === '' ? [] : [{ type: 'tool_call', index: call.index, argumentsDelta }]
  state.toolCalls.set(wireIndex, call)
  return [{ type: 'tool_call', index: call.index, id: asString(wireCall.id), name: asString(name), argumentsDelta }]
}

function readToolCallEnd(state: ReaderState, wireIndex: unknown): ProviderEvent[] {
  const call = state.toolCalls.get(wireIndex)
  return call && !call.sawArguments ? [{ type: 'tool_call', index: call.index, argumentsDelta: '{}' }] : []
}

function readEnd(state: ReaderState, delta: JsonObject, redact: Redact): ProviderEvent[] {
  const wireFinishReason = asName(delta.finish_reason)
  const failed = failureOfFinish(wireFinishReason, delta.error, redact)
  if (failed) throw failed
  state.ended = true
  const events: ProviderEvent[] = [
    { type: 'finish', finishReason: mapFinishReason(wireFinishReason), wireFinishReason },
  ]
  const usage = mapUsage(delta.usage)
  if (usage) events.push({ type: 'usage', usage })
  return events
}
