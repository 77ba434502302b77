import { callIdOf } from '../call-id.ts'
import type { AnswerChoice, ProviderAnswer } from '../port.ts'
import { failure, unreadableAnswer } from '../wire-failure.ts'
import { asCount, asName, asObject, asObjects, asString, decodeJsonObject, type JsonObject } from '../wire-json.ts'
import { readCitations } from './citations.ts'
import type { Flavour } from './flavours.ts'
import { mapError } from './map-error.ts'
import { isBrokenOff, mapFinishReason } from '../map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'
import { readLogprobs } from './logprobs.ts'
import { readArguments, readTextParts } from './message-parts.ts'
import { createReplayCollector } from './replay.ts'
import type { Redact } from '../redactor.ts'
import type { WireAnswer } from '../wire-adapter.ts'

/** Maps a complete completion. Throws ProviderError if the body is an error inside HTTP 200 or not a completion. */
export function fromCompletion(body: Uint8Array, flavour: Flavour, redact: Redact): WireAnswer {
  const completion = decodeJsonObject(body)
  if (!completion) throw unreadableAnswer('an answer', true)
  const choice = firstChoice(completion.choices)
  const error = errorInside(completion, choice)
  if (error) throw mapError({ status: 200, headers: {}, body: error }, redact)
  const word = asName(choice?.finish_reason)
  // Azure omits the message of an answer that its filter withheld.
  const isWithheld = mapFinishReason(word) === 'content_filter'
  if (!choice || (!isWithheld && (typeof choice.message !== 'object' || choice.message === null)))
    throw unreadableAnswer('an answer', true)
  const message = asObject(choice.message)
  if (isBrokenOff(word)) throw brokenOffFailure(word, true)
  const toolCalls = readToolCalls(message, `${answerIdOf(completion)} 0`)
  const citations = readCitations(completion, message)
  return {
    ...splitParts(message),
    refusal: asName(message.refusal),
    toolCalls,
    ...(citations && { citations }),
    ...toReplay(message, toolCalls.length > 0),
    ...toLogprobs(choice),
    ...toFurtherChoices(completion, flavour),
    finishReason: finishReasonOf(word, toolCalls.length > 0, flavour),
    wireFinishReason: word,
    usage: mapUsage(completion.usage ?? asObject(completion.x_groq).usage ?? choice.usage, flavour),
  }
}

function toReplay(message: JsonObject, hasToolCalls: boolean): Pick<ProviderAnswer, 'replay'> {
  // Most answers have nothing to send back.
  if (!hasToolCalls && !Array.isArray(message.reasoning_details)) return {}
  const collector = createReplayCollector()
  collector.take(message, readTextParts(message).reasoning)
  const replay = collector.replay(hasToolCalls)
  return replay ? { replay } : {}
}

function answerIdOf({ id, created }: JsonObject): string {
  return `${asString(id)} ${asCount(created) ?? ''}`
}

function toLogprobs(choice: JsonObject): Pick<ProviderAnswer, 'logprobs'> {
  const logprobs = choice.logprobs ? readLogprobs(choice) : undefined
  return logprobs ? { logprobs } : {}
}

/** In the order of their indices; absent if there is one choice only. */
function toFurtherChoices(completion: JsonObject, flavour: Flavour): Pick<ProviderAnswer, 'furtherChoices'> {
  if (!Array.isArray(completion.choices) || completion.choices.length < 2) return {}
  const further = asObjects(completion.choices).filter(({ index }) => typeof index === 'number' && index > 0)
  const furtherChoices = further.map((choice): AnswerChoice => {
    const message = asObject(choice.message)
    const word = asName(choice.finish_reason)
    const toolCalls = readToolCalls(message, `${answerIdOf(completion)} ${String(choice.index)}`)
    return {
      ...splitParts(message),
      refusal: asName(message.refusal),
      toolCalls,
      ...toReplay(message, toolCalls.length > 0),
      ...toLogprobs(choice),
      finishReason: finishReasonOf(word, toolCalls.length > 0, flavour),
      wireFinishReason: word,
    }
  })
  return furtherChoices.length > 0 ? { furtherChoices } : {}
}

function splitParts(message: JsonObject): { text: string; reasoningText: string } {
  const { text, reasoning } = readTextParts(message)
  return { text, reasoningText: reasoning }
}

/** The choice with index 0, at any position; only one was requested. */
export function firstChoice(choices: unknown): JsonObject | undefined {
  const all = asObjects(choices)
  return all.find((choice) => choice.index === 0 || choice.index === undefined || choice.index === null)
}

/** The error in a 2xx body, as the JSON of an error body; null if there is none. */
export function errorInside(body: JsonObject, choice: JsonObject | undefined): string | null {
  if (body.error) return JSON.stringify(body)
  // vLLM's flat form.
  if (body.object === 'error') return JSON.stringify(body)
  if (choice?.error) return JSON.stringify({ error: choice.error })
  // Mistral's and FastAPI's flat forms have neither choices nor usage.
  if (body.choices === undefined && (body.detail !== undefined || typeof body.message === 'string')) {
    return JSON.stringify(body)
  }
  return null
}

export function brokenOffFailure(word: string | null, afterFirstByte: boolean) {
  return failure(
    word === 'insufficient_system_resource' ? 'overloaded' : 'server_error',
    'The provider aborted its answer.',
    { code: word, afterFirstByte },
  )
}

export function finishReasonOf(word: string | null, hasToolCalls: boolean, flavour: Flavour) {
  const reason = mapFinishReason(word)
  return reason === 'stop' && hasToolCalls && flavour.stopMayMeanToolCalls ? 'tool_calls' : reason
}

/** False for the empty objects that some hosts add to every message. */
export function hasCall(functionCall: unknown): boolean {
  const { name, arguments: given } = asObject(functionCall)
  return asString(name) !== '' || readArguments(given) !== ''
}

function readToolCalls(message: JsonObject, answerId: string): ProviderAnswer['toolCalls'] {
  const calls = asObjects(message.tool_calls).map((call, index) => {
    const called = asObject(call.function)
    return {
      id: asString(call.id) || callIdOf(answerId, index),
      name: asString(called.name),
      argumentsJson: readArguments(called.arguments),
    }
  })
  if (calls.length > 0) return calls
  // The form before tools were introduced.
  if (!hasCall(message.function_call)) return []
  const called = asObject(message.function_call)
  return [{ id: callIdOf(answerId, 0), name: asString(called.name), argumentsJson: readArguments(called.arguments) }]
}
