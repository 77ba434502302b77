import { SseParser, type SseEvent } from '../../../platform/kernel/index.ts'
import type { ProviderError, ProviderEvent, UrlCitation } from '../port.ts'
import { createStreamReader } from '../stream-reader.ts'
import type { WireStreamReader } from '../wire-adapter.ts'
import { failure, truncatedStream, unreadableAnswer } from '../wire-failure.ts'
import { asName, asObject, asObjects, asString, type JsonObject, parseJsonObject } from '../wire-json.ts'
import { readCitations } from './citations.ts'
import type { Flavour } from './flavours.ts'
import { brokenOffFailure, errorInside, finishReasonOf, firstChoice, hasCall } from './from-response.ts'
import { mapError } from './map-error.ts'
import { isBrokenOff } from './map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'
import { readArguments, readTextParts } from './message-parts.ts'
import { createReplayCollector } from './replay.ts'
import type { Redact } from '../redactor.ts'

/** Largest single event; a delta has a few hundred bytes, a whole tool call far less than this. */
const maximumEventBytes = 4 * 1024 * 1024

interface ReaderState {
  /** A chunk of an answer was received, so a failure from here on may have been billed. */
  begun: boolean
  /** `[DONE]` was received, and finish and usage were emitted. */
  ended: boolean
  finishWord: string | null
  /** The last one wins. */
  usage: unknown
  toolCalls: { wireIndex: unknown; id: string }[]
  /** The last list wins. */
  citations: UrlCitation[] | null
  replay: ReturnType<typeof createReplayCollector>
}

/**
 * Reads the event stream of `POST …/chat/completions`. The answer ends with `[DONE]` or a finish reason: not every host sends both. Finish
 * and usage are emitted at the end, because both may be sent twice.
 */
export function createChatStreamReader(flavour: Flavour, redact: Redact): WireStreamReader {
  const state: ReaderState = {
    begun: false,
    ended: false,
    finishWord: null,
    usage: undefined,
    toolCalls: [],
    citations: null,
    replay: createReplayCollector(),
  }
  return createStreamReader<SseEvent>({
    parser: new SseParser({ maximumEventBytes }),
    read(wireEvent) {
      if (state.ended) return []
      if (wireEvent.data.trim() === '[DONE]') return takeEnd(state, flavour, true)
      if (wireEvent.event === 'error') throw errorOf(wireEvent.data, state, redact)
      return readChunk(readObject(wireEvent.data, state), state, flavour, redact)
    },
    finish() {
      if (state.ended) return []
      if (!state.begun) throw truncatedStream(false)
      return takeEnd(state, flavour, false)
    },
    begun: () => state.begun,
  })
}

function readObject(data: string, state: ReaderState): JsonObject {
  const chunk = parseJsonObject(data)
  if (!chunk) throw unreadableAnswer('an event', state.begun)
  return chunk
}

function errorOf(body: string, { begun }: ReaderState, redact: Redact): ProviderError {
  return mapError({ status: 200, headers: {}, body, afterFirstByte: begun }, redact)
}

function* readChunk(
  chunk: JsonObject,
  state: ReaderState,
  flavour: Flavour,
  redact: Redact,
): Generator<ProviderEvent, void, void> {
  const choice = firstChoice(chunk.choices)
  // Moonshot's is in the choice, Groq's in a separate field.
  state.usage = chunk.usage ?? asObject(chunk.x_groq).usage ?? choice?.usage ?? state.usage
  state.citations = readCitations(chunk, asObject(choice?.delta)) ?? state.citations
  const error = errorInside(chunk, choice)
  if (error) {
    // The usage of a failed answer is reported too.
    yield* usageEvents(state, flavour)
    throw errorOf(error, state, redact)
  }
  if (!choice) return
  state.begun = true
  const word = asName(choice.finish_reason)
  yield* readDelta(asObject(choice.delta), state)
  if (isBrokenOff(word)) {
    yield* usageEvents(state, flavour)
    throw brokenOffFailure(word, true)
  }
  state.finishWord = word ?? state.finishWord
}

function usageEvents(state: ReaderState, flavour: Flavour): ProviderEvent[] {
  const usage = mapUsage(state.usage, flavour)
  return usage ? [{ type: 'usage', usage }] : []
}

function readDelta(delta: JsonObject, state: ReaderState): ProviderEvent[] {
  const events: ProviderEvent[] = []
  const { text, reasoning } = readTextParts(delta)
  const refusal = asString(delta.refusal)
  state.replay.take(delta, reasoning)
  if (reasoning !== '') events.push({ type: 'reasoning', text: reasoning })
  if (text !== '') events.push({ type: 'text', text })
  if (refusal !== '') events.push({ type: 'refusal', text: refusal })
  for (const call of asObjects(delta.tool_calls)) events.push(readToolCall(call, state))
  if (hasCall(delta.function_call)) {
    events.push(readToolCall({ index: 0, function: delta.function_call }, state))
  }
  return events
}

/** Pieces of one call share an index. If a host sends no index, or the same for every call, the call's id distinguishes them. */
function readToolCall(call: JsonObject, state: ReaderState): ProviderEvent {
  const called = asObject(call.function)
  const id = asString(call.id)
  let index = state.toolCalls.findLastIndex((known) => known.wireIndex === call.index)
  if (index === -1 || (id !== '' && state.toolCalls[index]!.id !== '' && state.toolCalls[index]!.id !== id)) {
    index = state.toolCalls.push({ wireIndex: call.index, id }) - 1
  }
  return {
    type: 'tool_call',
    index,
    ...(id !== '' && { id }),
    ...(asString(called.name) !== '' && { name: asString(called.name) }),
    argumentsDelta: readArguments(called.arguments),
  }
}

/** `isClosed`: `[DONE]` was received. */
function takeEnd(state: ReaderState, flavour: Flavour, isClosed: boolean): ProviderEvent[] {
  if (!state.begun) throw failure('connection', 'The provider ended its answer before it began.')
  // `[DONE]` alone does not prove a complete answer: proxies send it after a failure, too.
  if (state.finishWord === null && !(isClosed && flavour.endsWithoutFinish)) throw truncatedStream(true)
  state.ended = true
  const finishReason = finishReasonOf(state.finishWord, state.toolCalls.length > 0, flavour)
  const replay = state.toolCalls.length > 0 ? state.replay.replay() : null
  return [
    ...(state.citations ? [{ type: 'citations' as const, citations: state.citations }] : []),
    ...(replay ? [{ type: 'replay' as const, replay }] : []),
    { type: 'finish', finishReason, wireFinishReason: state.finishWord },
    ...usageEvents(state, flavour),
  ]
}
