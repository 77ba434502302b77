import { unreadableAnswer } from '../wire-failure.ts'
import { asName, asObject, asObjects, asString, decodeJsonObject, type JsonObject } from '../wire-json.ts'
import { failureOfFinish } from './map-error.ts'
import { mapFinishReason } from '../map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'
import type { Redact } from '../redactor.ts'
import type { WireAnswer } from '../wire-adapter.ts'

/** Maps a complete answer of `POST /v2/chat`. The plan before tool calls is reasoning, as thinking is. */
export function fromChat(body: Uint8Array, redact: Redact): WireAnswer {
  const response = decodeJsonObject(body)
  if (!response || !isAnswer(response)) throw unreadableAnswer('an answer', true)
  const message = asObject(response.message)
  const finishReason = asName(response.finish_reason)
  const failed = failureOfFinish(finishReason, response.error, redact)
  if (failed) throw failed
  const content = asObjects(message.content)
  return {
    text: joined(content, 'text'),
    reasoningText: joined(content, 'thinking') + asString(message.tool_plan),
    refusal: null,
    toolCalls: asObjects(message.tool_calls).map((call) => ({
      id: asString(call.id),
      name: asString(asObject(call.function).name),
      argumentsJson: asString(asObject(call.function).arguments) || '{}',
    })),
    finishReason: mapFinishReason(finishReason),
    wireFinishReason: finishReason,
    usage: mapUsage(response.usage),
  }
}

function isAnswer(response: JsonObject): boolean {
  return Object.keys(asObject(response.message)).length > 0
}

function joined(content: JsonObject[], field: 'text' | 'thinking'): string {
  return content.map((part) => asString(part[field])).join('')
}
