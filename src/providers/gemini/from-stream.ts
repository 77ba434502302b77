import { createSseParser } from '../../kernel/index.ts'
import type { ProviderEvent, TokenUsage } from '../port.ts'
import { createStreamReader } from '../stream-reader.ts'
import type { WireStreamReader } from '../wire-adapter.ts'
import { truncatedStream, unreadableAnswer } from '../wire-failure.ts'
import { parseJsonObject } from '../wire-json.ts'
import { createJsonArrayParser } from './json-array-parser.ts'
import { mapError } from './map-error.ts'
import { mapFinishReason } from './map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'
import { readCandidate } from './read-candidate.ts'

/** Largest single chunk; thought signatures make chunks of some 10 KiB, text ones stay far below. */
const maximumChunkBytes = 8 * 1024 * 1024

interface ReaderState {
  begun: boolean
  finishReason: string | null
  promptBlocked: boolean
  toolCallCount: number
  usage: TokenUsage | null
}

/**
 * Reads `streamGenerateContent`: server-sent events with `alt=sse`, else the growing JSON array. There is no closing word; a
 * whole answer is one whose finish reason (or blocked prompt) came, and as usage may follow it, both go out at the end.
 */
export function createGenerateContentStreamReader(redact: (text: string) => string): WireStreamReader {
  const state: ReaderState = { begun: false, finishReason: null, promptBlocked: false, toolCallCount: 0, usage: null }
  return createStreamReader({
    parser: createChunkParser(),
    read: (chunk) => readChunk(state, chunk, redact),
    finish: () => readEnd(state),
    begun: () => state.begun,
  })
}

function readChunk(state: ReaderState, text: string, redact: (text: string) => string): ProviderEvent[] {
  // Google never sends this closing word; some proxies in front of it do.
  if (text === '[DONE]') return []
  const chunk = parseJsonObject(text)
  if (!chunk) throw unreadableAnswer('an event', state.begun)
  if (chunk.error) throw mapError({ status: 200, headers: {}, body: text, afterFirstByte: state.begun }, redact)
  const reading = readCandidate(chunk, state.toolCallCount)
  state.begun = true
  state.finishReason = reading.finishReason ?? state.finishReason
  state.promptBlocked ||= reading.promptBlocked
  state.usage = mapUsage(chunk.usageMetadata) ?? state.usage
  const events: ProviderEvent[] = []
  if (reading.reasoningText !== '') events.push({ type: 'reasoning', text: reading.reasoningText })
  if (reading.text !== '') events.push({ type: 'text', text: reading.text })
  for (const { id, name, argumentsJson } of reading.toolCalls) {
    events.push({ type: 'tool_call', index: state.toolCallCount++, id, name, argumentsDelta: argumentsJson })
  }
  return events
}

function readEnd(state: ReaderState): ProviderEvent[] {
  if (state.finishReason === null) throw truncatedStream(state.begun)
  const finishReason = state.promptBlocked
    ? 'content_filter'
    : mapFinishReason(state.finishReason, state.toolCallCount > 0)
  const events: ProviderEvent[] = [{ type: 'finish', finishReason, wireFinishReason: state.finishReason }]
  if (state.usage) events.push({ type: 'usage', usage: state.usage })
  return events
}

/** The texts of the chunks, whichever of the two framings the first byte that says something tells. */
function createChunkParser() {
  const sse = createSseParser({ maximumEventBytes: maximumChunkBytes })
  const array = createJsonArrayParser({ maximumMemberCharacters: maximumChunkBytes })
  let framing: 'sse' | 'array' | null = null

  function choose(bytes: Uint8Array) {
    const first = bytes.find((byte) => byte > 0x20)
    if (first !== undefined) framing = first === 0x5b || first === 0x7b ? 'array' : 'sse'
  }

  return {
    push(bytes: Uint8Array): string[] {
      if (framing === null) choose(bytes)
      if (framing === null) return []
      return framing === 'array' ? array.push(bytes) : sse.push(bytes).map((event) => event.data)
    },
    end: (): string[] => (framing === 'array' ? array.end() : sse.end().map((event) => event.data)),
  }
}
