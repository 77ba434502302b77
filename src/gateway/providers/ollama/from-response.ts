import { callIdOf } from '../call-id.ts'
import { mapError } from '../openai/map-error.ts'
import type { FinishReason, ProviderAnswer, ProviderRequest, TokenUsage } from '../port.ts'
import { unreadableAnswer } from '../wire-failure.ts'
import { asCount, asName, asObject, asObjects, asString, decodeJsonObject, type JsonObject } from '../wire-json.ts'
import type { Redact } from '../redactor.ts'
import type { WireAnswer } from '../wire-adapter.ts'
import { forcedToolOf, toForcedCall } from './forced-tool.ts'

/** Maps a complete answer of `/api/chat`. Throws ProviderError if the body is an error inside HTTP 200 or not an answer. */
export function fromChat(body: Uint8Array, redact: Redact, request?: ProviderRequest): WireAnswer {
  const answer = decodeJsonObject(body)
  if (answer?.error) throw mapError({ status: 200, headers: {}, body: JSON.stringify(answer) }, redact)
  if (!answer || typeof answer.message !== 'object' || answer.done !== true) throw unreadableAnswer('an answer', true)
  const message = asObject(answer.message)
  const toolCalls = readToolCalls(answer, message, 0)
  const word = asName(answer.done_reason)
  const read: WireAnswer = {
    text: asString(message.content),
    reasoningText: asString(message.thinking),
    refusal: null,
    toolCalls,
    finishReason: mapDoneReason(word, toolCalls.length > 0),
    wireFinishReason: word,
    usage: mapCounts(answer),
  }
  const forced = request && forcedToolOf(request)
  return forced ? toForcedCall(read, forced, answerIdOf(answer)) : read
}

/** Ollama gives its answers no ids. */
export function answerIdOf(answer: JsonObject): string {
  return `${asString(answer.model)} ${asString(answer.created_at)}`
}

/** Calls are complete, in older versions without ids; `from` numbers those. */
export function readToolCalls(answer: JsonObject, message: JsonObject, from: number): ProviderAnswer['toolCalls'] {
  return asObjects(message.tool_calls).map((call, index) => {
    const called = asObject(call.function)
    return {
      id: asName(call.id) ?? callIdOf(answerIdOf(answer), from + index),
      name: asString(called.name),
      argumentsJson: JSON.stringify(asObject(called.arguments)),
    }
  })
}

/** Unknown values (`load`, `unload`) become `stop`; older versions send none. */
export function mapDoneReason(word: string | null, calledTools: boolean): FinishReason {
  if (word === 'length') return 'length'
  return calledTools ? 'tool_calls' : 'stop'
}

/**
 * Null if the output was not counted. Some versions omit the count of a cached prompt: then the output's count is kept and the caller
 * counts the prompt.
 */
export function mapCounts(answer: JsonObject): TokenUsage | null {
  const promptTokens = asCount(answer.prompt_eval_count)
  const completionTokens = asCount(answer.eval_count)
  if (completionTokens === undefined) return null
  return {
    promptTokens: promptTokens ?? 0,
    ...(promptTokens === undefined && { promptUncounted: true as const }),
    completionTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  }
}
