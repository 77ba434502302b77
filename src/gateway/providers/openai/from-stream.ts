import { SseParser, type SseEvent } from '../../../platform/kernel/index.ts'
import type { ProviderError, ProviderEvent, UrlCitation } from '../port.ts'
import { callIdOf } from '../call-id.ts'
import { createStreamReader } from '../stream-reader.ts'
import type { WireStreamReader } from '../wire-adapter.ts'
import { failure, truncatedStream, unreadableAnswer } from '../wire-failure.ts'
import { asCount, asName, asObject, asObjects, asString, type JsonObject, parseJsonObject } from '../wire-json.ts'
import { readCitations } from './citations.ts'
import type { Flavour } from './flavours.ts'
import { brokenOffFailure, errorInside, finishReasonOf, firstChoice, hasCall } from './from-response.ts'
import { mapError } from './map-error.ts'
import { isBrokenOff } from '../map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'
import { readLogprobs } from './logprobs.ts'
import { readArguments, readTextParts } from './message-parts.ts'
import { createReplayCollector } from './replay.ts'
import { createStreamedCalls } from './streamed-calls.ts'
import type { Redact } from '../redactor.ts'

/** Largest single event; a delta has a few hundred bytes, a whole tool call far less than this. */
const maximumEventBytes = 4 * 1024 * 1024

interface ReaderState {
  /** A chunk of an answer was received, so a failure from here on may have been billed. */
  begun: boolean
  /** `[DONE]` was received, and finish and usage were emitted. */
  ended: boolean
  /** The last one wins. */
  usage: unknown
  /** The last list wins. */
  citations: UrlCitation[] | null
  answerId: string
  /** How many were requested. */
  choices: number
  first: ChoiceState
  /** The second and later choices by their index; null while there are none. */
  further: Map<number, ChoiceState> | null
}

interface ChoiceState {
  /** Undefined for the first. */
  choice?: number
  /** A part of it was received. */
  begun: boolean
  finishWord: string | null
  calls: ReturnType<typeof createStreamedCalls>
  replay: ReturnType<typeof createReplayCollector>
}

function newChoice(): ChoiceState {
  return { begun: false, finishWord: null, calls: createStreamedCalls(), replay: createReplayCollector() }
}

/**
 * Reads the event stream of `POST …/chat/completions`. The answer ends with `[DONE]` or a finish reason: not every host sends both. Finish
 * and usage are emitted at the end, because both may be sent twice.
 */
export function createChatStreamReader(flavour: Flavour, redact: Redact, choices = 1): WireStreamReader {
  const state: ReaderState = {
    begun: false,
    ended: false,
    usage: undefined,
    citations: null,
    answerId: '',
    choices,
    first: newChoice(),
    further: null,
  }
  return createStreamReader<SseEvent>({
    state,
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
  if (state.answerId === '') state.answerId = `${asString(chunk.id)} ${asCount(chunk.created) ?? ''}`
  if (state.choices > 1) yield* readFurther(chunk.choices, state)
  if (!choice) return
  state.begun = true
  const word = asName(choice.finish_reason)
  yield* readDelta(choice, state.first, state.answerId)
  if (isBrokenOff(word)) {
    yield* usageEvents(state, flavour)
    throw brokenOffFailure(word, true)
  }
  state.first.finishWord = word ?? state.first.finishWord
}

function* readFurther(choices: unknown, state: ReaderState): Generator<ProviderEvent, void, void> {
  for (const choice of asObjects(choices)) {
    const index = asCount(choice.index)
    if (index === undefined || index === 0 || index >= state.choices) continue
    state.begun = true
    state.further ??= new Map()
    const known = state.further.get(index) ?? { ...newChoice(), choice: index }
    state.further.set(index, known)
    for (const event of readDelta(choice, known, state.answerId)) yield { ...event, choice: index } as ProviderEvent
    known.finishWord = asName(choice.finish_reason) ?? known.finishWord
  }
}

function usageEvents(state: ReaderState, flavour: Flavour): ProviderEvent[] {
  const usage = mapUsage(state.usage, flavour)
  return usage ? [{ type: 'usage', usage }] : []
}

function readDelta(choice: JsonObject, state: ChoiceState, answerId: string): ProviderEvent[] {
  // A whole message in a stream is the answer, unless it repeats it.
  const delta = asObject(choice.delta ?? (state.begun ? undefined : choice.message))
  state.begun ||= Object.keys(delta).length > 0
  const events: ProviderEvent[] = []
  const { text, reasoning } = readTextParts(delta)
  const refusal = asString(delta.refusal)
  const logprobs = choice.logprobs ? readLogprobs(choice) : undefined
  state.replay.take(delta, reasoning)
  if (reasoning !== '') events.push({ type: 'reasoning', text: reasoning })
  if (text !== '') events.push({ type: 'text', text })
  if (refusal !== '') events.push({ type: 'refusal', text: refusal })
  if (logprobs) events.push({ type: 'logprobs', logprobs })
  state.calls.nextChunk()
  for (const call of asObjects(delta.tool_calls)) events.push(readToolCall(call, state, answerId))
  if (hasCall(delta.function_call)) {
    events.push(readToolCall({ index: 0, function: delta.function_call }, state, answerId))
  }
  return events
}

function readToolCall(call: JsonObject, state: ChoiceState, answerId: string): ProviderEvent {
  const called = asObject(call.function)
  const id = asString(call.id)
  const name = asString(called.name)
  const piece = { wireIndex: call.index, id, name, text: readArguments(called.arguments) }
  const { index, isNew, argumentsDelta } = state.calls.take(piece)
  return {
    type: 'tool_call',
    index,
    ...(isNew && { id: id || callIdOf(`${answerId} ${state.choice ?? 0}`, index) }),
    ...(name !== '' && { name }),
    argumentsDelta,
  }
}

/** `isClosed`: `[DONE]` was received. */
function takeEnd(state: ReaderState, flavour: Flavour, isClosed: boolean): ProviderEvent[] {
  if (!state.begun) throw failure('connection', 'The provider ended its answer before it began.')
  const { first } = state
  // `[DONE]` alone does not prove a complete answer: proxies send it after a failure, too.
  const isOpen = first.finishWord === null && !(isClosed && flavour.endsWithoutFinish)
  if (isOpen && !state.further) throw truncatedStream(true)
  state.ended = true
  const events: ProviderEvent[] = []
  for (const further of state.further?.values() ?? []) {
    for (const event of endOfChoice(further)) events.push({ ...event, choice: further.choice! } as ProviderEvent)
    const finishReason = finishReasonOf(further.finishWord, further.calls.count() > 0, flavour)
    events.push({ type: 'choice_finish', choice: further.choice!, finishReason, wireFinishReason: further.finishWord })
  }
  events.push(...endOfChoice(first))
  if (state.citations) events.push({ type: 'citations', citations: state.citations })
  const calls = first.calls.count() > 0
  const replay = first.replay.replay(calls)
  if (replay) events.push({ type: 'replay', replay })
  const finishReason = finishReasonOf(first.finishWord, calls, flavour)
  events.push({ type: 'finish', finishReason, wireFinishReason: first.finishWord }, ...usageEvents(state, flavour))
  return events
}

function endOfChoice({ calls }: ChoiceState): ProviderEvent[] {
  return calls.end().map(({ index, argumentsDelta }) => ({ type: 'tool_call', index, argumentsDelta }))
}
