import type { ProviderEvent } from '../port.ts'
import { createStreamReader } from '../stream-reader.ts'
import type { WireStreamReader } from '../wire-adapter.ts'
import { asName, asObject, asString, type JsonObject } from '../wire-json.ts'
import { createFrameParser, type EventFrame } from './frame-parser.ts'
import { mapStreamException } from './map-error.ts'
import { mapFinishReason } from '../map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'
import type { Redact } from '../redactor.ts'

interface ReaderState {
  begun: boolean
  /** `messageStop` was received: the text is complete. */
  ended: boolean
  usageSent: boolean
  /** Position of tool calls by the index of their content block. */
  toolCalls: Map<unknown, { index: number; sawDelta: boolean }>
  /** Reasoning by the index of its content block. */
  reasoning: Map<unknown, JsonObject>
}

/** Reads the frames of ConverseStream. The answer ends with `messageStop`; usage follows in `metadata`. */
export function createConverseStreamReader(redact: Redact): WireStreamReader {
  const state: ReaderState = {
    begun: false,
    ended: false,
    usageSent: false,
    toolCalls: new Map(),
    reasoning: new Map(),
  }
  return createStreamReader({
    state,
    parser: createFrameParser(),
    read: (frame) => readFrame(state, frame, redact),
  })
}

function readFrame(state: ReaderState, frame: EventFrame, redact: Redact): ProviderEvent[] {
  if (frame.messageType !== 'event') throw mapStreamException(frame.type, frame.payload, redact, state.begun)
  state.begun = true
  const { payload } = frame
  switch (frame.type) {
    case 'contentBlockStart':
      return readBlockStart(state, payload)
    case 'contentBlockDelta':
      return readDelta(state, payload)
    case 'contentBlockStop':
      return readBlockStop(state, payload)
    case 'messageStop':
      return readStop(state, payload)
    case 'metadata':
      return readMetadata(state, payload)
    default:
      return []
  }
}

function readBlockStart(state: ReaderState, payload: JsonObject): ProviderEvent[] {
  const start = asObject(payload.start)
  if (start.toolUse === undefined) return []
  const call = asObject(start.toolUse)
  const index = state.toolCalls.size
  state.toolCalls.set(payload.contentBlockIndex, { index, sawDelta: false })
  return [{ type: 'tool_call', index, id: asString(call.toolUseId), name: asString(call.name), argumentsDelta: '' }]
}

/** Blocks of text and reasoning have no start event; deltas may be empty. */
function readDelta(state: ReaderState, payload: JsonObject): ProviderEvent[] {
  const delta = asObject(payload.delta)
  const text = asString(delta.text)
  if (text !== '') return [{ type: 'text', text }]
  if (delta.reasoningContent !== undefined)
    takeReasoning(state, payload.contentBlockIndex, asObject(delta.reasoningContent))
  const reasoning = asString(asObject(delta.reasoningContent).text)
  if (reasoning !== '') return [{ type: 'reasoning', text: reasoning }]
  const call = state.toolCalls.get(payload.contentBlockIndex)
  const argumentsDelta = asString(asObject(delta.toolUse).input)
  if (!call || argumentsDelta === '') return []
  call.sawDelta = true
  return [{ type: 'tool_call', index: call.index, argumentsDelta }]
}

/** In the shape that is sent back: text with its signature, or Bedrock's redacted content. */
function takeReasoning(state: ReaderState, index: unknown, { text, signature, redactedContent }: JsonObject) {
  const block = asObject(state.reasoning.get(index)?.reasoningContent)
  if (redactedContent !== undefined) {
    state.reasoning.set(index, { reasoningContent: { redactedContent } })
    return
  }
  const known = asObject(block.reasoningText)
  const signed = asString(known.signature) + asString(signature)
  const reasoningText = { text: asString(known.text) + asString(text), ...(signed !== '' && { signature: signed }) }
  state.reasoning.set(index, { reasoningContent: { reasoningText } })
}

/** A call without arguments may end with empty deltas only. */
function readBlockStop(state: ReaderState, payload: JsonObject): ProviderEvent[] {
  const call = state.toolCalls.get(payload.contentBlockIndex)
  return call && !call.sawDelta ? [{ type: 'tool_call', index: call.index, argumentsDelta: '{}' }] : []
}

function readStop(state: ReaderState, payload: JsonObject): ProviderEvent[] {
  if (state.ended) return []
  state.ended = true
  const wireFinishReason = asName(payload.stopReason)
  const blocks = [...state.reasoning.values()]
  const replayed = blocks.length > 0
  return [
    ...(replayed ? [{ type: 'replay' as const, replay: { format: 'bedrock' as const, blocks } }] : []),
    { type: 'finish', finishReason: mapFinishReason(wireFinishReason), wireFinishReason },
  ]
}

function readMetadata(state: ReaderState, payload: JsonObject): ProviderEvent[] {
  const usage = mapUsage(payload.usage)
  if (!usage || state.usageSent) return []
  state.usageSent = true
  return [{ type: 'usage', usage }]
}
