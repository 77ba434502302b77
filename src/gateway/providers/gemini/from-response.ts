import { failure, unreadableAnswer } from '../wire-failure.ts'
import { asObjects, decodeJsonObject } from '../wire-json.ts'
import { mapError } from './map-error.ts'
import { isFailure, mapFinishReason } from './map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'
import type { countUses } from './hosted-uses.ts'
import { placeCitations, readCandidate } from './read-candidate.ts'
import type { Redact } from '../redactor.ts'
import type { WireAnswer } from '../wire-adapter.ts'

/** Maps a complete GenerateContentResponse. A blocked prompt is an answer without text, with finish reason content_filter. */
export function fromGenerateContent(body: Uint8Array, redact: Redact, uses: ReturnType<typeof countUses>): WireAnswer {
  const response = decodeJsonObject(body)
  if (response?.error) throw mapError({ status: 200, headers: {}, body: JSON.stringify(response) }, redact)
  if (!response) throw unreadableAnswer('an answer', true)
  const reading = readCandidate(response, 0)
  if (asObjects(response.candidates).length === 0 && !reading.promptBlocked) throw unreadableAnswer('an answer', true)
  uses.take(asObjects(response.candidates)[0])
  const citations = placeCitations(reading.citations, reading.text)
  if (isFailure(reading.finishReason)) throw failureOfFinish(reading.finishReason, true)
  return {
    text: reading.text,
    reasoningText: reading.reasoningText,
    refusal: null,
    toolCalls: reading.toolCalls,
    ...(citations.length > 0 && { citations }),
    finishReason: reading.promptBlocked
      ? 'content_filter'
      : mapFinishReason(reading.finishReason, reading.toolCalls.length > 0),
    wireFinishReason: reading.finishReason,
    usage: mapUsage(response.usageMetadata, uses.uses()),
  }
}

export function failureOfFinish(finishReason: string, afterFirstByte: boolean) {
  const message = `The model ended its answer with ${finishReason}.`
  return failure('server_error', message, { status: 200, code: finishReason, afterFirstByte })
}
