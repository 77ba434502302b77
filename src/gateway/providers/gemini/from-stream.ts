import { type SseEvent, SseParser } from '../../../platform/kernel/index.ts'
import type { ProviderEvent, UrlCitation } from '../port.ts'
import { createStreamReader } from '../stream-reader.ts'
import type { WireStreamReader } from '../wire-adapter.ts'
import { truncatedStream, unreadableAnswer } from '../wire-failure.ts'
import { asObjects, parseJsonObject } from '../wire-json.ts'
import { mapError } from './map-error.ts'
import { failureOfFinish } from './from-response.ts'
import { isFailure, mapFinishReason } from './map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'
import type { countUses } from './hosted-uses.ts'
import { placeCitations, readCandidate } from './read-candidate.ts'
import type { Redact } from '../redactor.ts'

/** Largest single chunk; thought signatures make chunks of some 10 KiB, text chunks are far smaller. */
const maximumChunkBytes = 8 * 1024 * 1024

interface ReaderState {
  begun: boolean
  finishReason: string | null
  promptBlocked: boolean
  toolCallCount: number
  /** The last list wins. */
  citations: UrlCitation[]
  /** Of the answer so far, if Google's tools may cite places in it. */
  text: string
  uses: ReturnType<typeof countUses>
  /** Uses that an event has named. */
  named: number
  usageMetadata: unknown
}

/**
 * Reads `streamGenerateContent`: server-sent events with `alt=sse`, else a growing JSON array. There is no end marker: an answer is
 * complete once its finish reason (or a blocked prompt) was received. Usage may follow it, so both are emitted at the end.
 */
export function createGenerateContentStreamReader(
  redact: Redact,
  uses: ReturnType<typeof countUses>,
): WireStreamReader {
  const state: ReaderState = {
    begun: false,
    finishReason: null,
    promptBlocked: false,
    toolCallCount: 0,
    usageMetadata: null,
    citations: [],
    text: '',
    uses,
    named: 0,
  }
  return createStreamReader({
    state,
    parser: createChunkParser(),
    read: (chunk) => readChunk(state, chunk, redact),
    finish: () => readEnd(state),
  })
}

function readChunk(state: ReaderState, text: string, redact: Redact): ProviderEvent[] {
  // Google never sends this end marker; some proxies do.
  if (text === '[DONE]') return []
  const chunk = parseJsonObject(text)
  if (!chunk) throw unreadableAnswer('an event', state.begun)
  if (chunk.error) throw mapError({ status: 200, headers: {}, body: text, afterFirstByte: state.begun }, redact)
  const reading = readCandidate(chunk, state.toolCallCount)
  state.begun = true
  state.finishReason = reading.finishReason ?? state.finishReason
  state.promptBlocked ||= reading.promptBlocked
  if (mapUsage(chunk.usageMetadata)) state.usageMetadata = chunk.usageMetadata
  state.uses.take(asObjects(chunk.candidates)[0])
  state.text += reading.text
  if (reading.citations.length > 0) state.citations = reading.citations
  const events = readUses(state)
  if (reading.reasoningText !== '') events.push({ type: 'reasoning', text: reading.reasoningText })
  if (reading.text !== '') events.push({ type: 'text', text: reading.text })
  for (const { id, name, argumentsJson } of reading.toolCalls) {
    events.push({ type: 'tool_call', index: state.toolCallCount++, id, name, argumentsDelta: argumentsJson })
  }
  return events
}

/** Searches since the last chunk: an answer that breaks off is billed those. The other tools cost their tokens only. */
function readUses(state: ReaderState): ProviderEvent[] {
  const { web_search: searches = 0 } = state.uses.uses()
  const added = searches - state.named
  state.named = searches
  return Array.from({ length: added }, () => ({ type: 'hosted_use', kind: 'web_search' }))
}

function readEnd(state: ReaderState): ProviderEvent[] {
  if (state.finishReason === null) throw truncatedStream(state.begun)
  if (isFailure(state.finishReason)) throw failureOfFinish(state.finishReason, true)
  const finishReason = state.promptBlocked
    ? 'content_filter'
    : mapFinishReason(state.finishReason, state.toolCallCount > 0)
  const events: ProviderEvent[] = []
  const citations = placeCitations(state.citations, state.text)
  if (citations.length > 0) events.push({ type: 'citations', citations })
  events.push({ type: 'finish', finishReason, wireFinishReason: state.finishReason })
  const usage = mapUsage(state.usageMetadata, state.uses.uses())
  if (usage) events.push({ type: 'usage', usage })
  return events
}

/** The texts of the chunks; the first byte that is not white space decides the framing. */
function createChunkParser() {
  const sse = new SseParser({ maximumEventBytes: maximumChunkBytes })
  const array = createJsonArrayParser({ maximumMemberCharacters: maximumChunkBytes })
  let framing: 'sse' | 'array' | null = null

  function choose(bytes: Uint8Array) {
    const first = bytes.find((byte) => byte > 0x20)
    if (first !== undefined) framing = first === 0x5b || first === 0x7b ? 'array' : 'sse'
  }

  return {
    *push(bytes: Uint8Array): Generator<string, void, void> {
      if (framing === null) choose(bytes)
      if (framing === 'array') yield* array.push(bytes)
      else if (framing === 'sse') yield* dataOf(sse.push(bytes))
    },
    *end(): Generator<string, void, void> {
      if (framing === 'array') yield* array.end()
      else yield* dataOf(sse.end())
    },
  }
}

function* dataOf(events: Iterable<SseEvent>): Generator<string, void, void> {
  for (const { data } of events) yield data
}

/**
 * Parses the members of a JSON array while it is received, each as its text; a single object counts as an array of one. Bytes may be split
 * anywhere, also inside a UTF-8 sequence or an escape.
 */
export function createJsonArrayParser({ maximumMemberCharacters }: { maximumMemberCharacters: number }) {
  const decoder = new TextDecoder('utf-8')
  /** Text of the open member, and how far it was scanned. */
  let buffer = ''
  let scanned = 0
  /** Open brackets and braces inside the member. */
  let depth = 0
  let inString = false
  let escaped = false
  let opened = false
  let closed = false

  function takeCharacter(character: string) {
    if (inString) {
      if (escaped) escaped = false
      else if (character === '\\') escaped = true
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
  }

  /** Skips separators; true if a member begins at `scanned`. */
  function skipToMember(): boolean {
    for (; scanned < buffer.length; scanned++) {
      const character = buffer[scanned]!
      if (character === '{' && !closed) return true
      if (character === '[' && !opened) opened = true
      else if (character === ']' && opened) closed = true
      else if (!' \t\r\n,'.includes(character)) throw new SyntaxError('not a JSON array of objects')
    }
    buffer = ''
    scanned = 0
    return false
  }

  function* drain(): Generator<string, void, void> {
    while (depth > 0 || skipToMember()) {
      if (depth === 0) {
        buffer = buffer.slice(scanned)
        scanned = 0
      }
      do takeCharacter(buffer[scanned++]!)
      while (depth > 0 && scanned < buffer.length)
      if (depth > 0) break
      const member = buffer.slice(0, scanned)
      buffer = buffer.slice(scanned)
      scanned = 0
      assertSize(member)
      yield member
    }
    assertSize(buffer)
  }

  function assertSize(member: string) {
    if (member.length > maximumMemberCharacters) throw new RangeError('a member of the JSON array is too large')
  }

  return {
    /** Members completed by these bytes. Throws at an invalid member, after those before it. */
    *push(bytes: Uint8Array): Iterable<string> {
      buffer += decoder.decode(bytes, { stream: true })
      if (scanned < buffer.length) yield* drain()
    },
    /** Throws if the array, or a member of it, was not closed. */
    *end(): Iterable<string> {
      buffer += decoder.decode()
      if (scanned < buffer.length) yield* drain()
      if (depth > 0 || (opened && !closed)) throw new SyntaxError('the JSON array was not closed')
    },
  }
}
