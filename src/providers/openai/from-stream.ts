import type { ProviderError, ProviderEvent } from '../port.ts'
import { createStreamReader } from '../stream-reader.ts'
import type { WireStreamReader } from '../wire-adapter.ts'
import { failure, truncatedStream, unreadableAnswer } from '../wire-failure.ts'
import { asName, asObject, asObjects, asString, type JsonObject, parseJsonObject } from '../wire-json.ts'
import { type ChatEvent, createChatEventParser } from './chat-event-parser.ts'
import { learnTemplate } from './chunk-template.ts'
import type { Flavour } from './flavours.ts'
import { brokenOffFailure, errorInside, finishReasonOf, firstChoice } from './from-response.ts'
import { mapError } from './map-error.ts'
import { isBrokenOff } from './map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'
import { readArguments, readTextParts } from './message-parts.ts'

/** Largest single event; one delta is a few hundred bytes, a whole tool call stays far below. */
const maximumEventBytes = 4 * 1024 * 1024

interface ReaderState {
  /** A chunk of an answer was seen, so a failure from here on may have been billed. */
  begun: boolean
  /** `[DONE]` was seen, and finish and usage were handed out. */
  ended: boolean
  finishWord: string | null
  /** The last one counts. */
  usage: unknown
  toolCalls: { wireIndex: unknown; id: string }[]
}

/**
 * Reads the event stream of `POST …/chat/completions`. The answer's own end is `[DONE]` or a finish reason: not every host sends
 * both. Finish and usage are handed out at the end, as both may come twice.
 */
export function createChatStreamReader(flavour: Flavour, redact: (text: string) => string): WireStreamReader {
  const state: ReaderState = { begun: false, ended: false, finishWord: null, usage: undefined, toolCalls: [] }
  const parser = createChatEventParser({ maximumEventBytes })
  return createStreamReader<ChatEvent>({
    parser,
    read(wireEvent) {
      if (state.ended) return []
      if (wireEvent.type === 'relayed') {
        return [{ type: 'chunk', contentJson: wireEvent.contentJson, outputBytes: wireEvent.outputBytes }]
      }
      if (wireEvent.data.trim() === '[DONE]') return takeEnd(state, flavour)
      const chunk = readObject(wireEvent.data, state)
      if (wireEvent.event === 'error') throw errorOf(wireEvent.data, state, redact)
      const events = readChunk(chunk, state, redact)
      const template = learnTemplate(wireEvent.data, chunk)
      if (template) parser.use(template)
      return events
    },
    finish() {
      if (state.ended) return []
      if (state.finishWord === null) throw truncatedStream(state.begun)
      return takeEnd(state, flavour)
    },
    begun: () => state.begun,
  })
}

function readObject(data: string, state: ReaderState): JsonObject {
  const chunk = parseJsonObject(data)
  if (!chunk) throw unreadableAnswer('an event', state.begun)
  return chunk
}

function errorOf(body: string, { begun }: ReaderState, redact: (text: string) => string): ProviderError {
  return mapError({ status: 200, headers: {}, body, afterFirstByte: begun }, redact)
}

function readChunk(chunk: JsonObject, state: ReaderState, redact: (text: string) => string): ProviderEvent[] {
  const choice = firstChoice(chunk.choices)
  const error = errorInside(chunk, choice)
  if (error) throw errorOf(error, state, redact)
  // Moonshot puts it into the choice, Groq into a field of its own.
  state.usage = chunk.usage ?? asObject(chunk.x_groq).usage ?? choice?.usage ?? state.usage
  if (!choice) return []
  state.begun = true
  const word = asName(choice.finish_reason)
  if (isBrokenOff(word)) throw brokenOffFailure(word, true)
  state.finishWord = word ?? state.finishWord
  return readDelta(asObject(choice.delta), state)
}

function readDelta(delta: JsonObject, state: ReaderState): ProviderEvent[] {
  const events: ProviderEvent[] = []
  const { text, reasoning } = readTextParts(delta)
  const refusal = asString(delta.refusal)
  if (reasoning !== '') events.push({ type: 'reasoning', text: reasoning })
  if (text !== '') events.push({ type: 'text', text })
  if (refusal !== '') events.push({ type: 'refusal', text: refusal })
  for (const call of asObjects(delta.tool_calls)) events.push(readToolCall(call, state))
  if (typeof delta.function_call === 'object' && delta.function_call !== null) {
    events.push(readToolCall({ index: 0, function: delta.function_call }, state))
  }
  return events
}

/**
 * Pieces of one call share an index. Hosts without indexes, or with the same for every call, are told apart by the call's id.
 */
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

function takeEnd(state: ReaderState, flavour: Flavour): ProviderEvent[] {
  if (!state.begun) throw failure('connection', 'The provider ended its answer before it began.')
  state.ended = true
  const finishReason = finishReasonOf(state.finishWord, state.toolCalls.length > 0, flavour)
  const events: ProviderEvent[] = [{ type: 'finish', finishReason, wireFinishReason: state.finishWord }]
  const usage = mapUsage(state.usage, flavour)
  if (usage) events.push({ type: 'usage', usage })
  return events
}
