import { asName, asObject, asObjects, asString, type JsonObject } from '../wire-json.ts'
import { encodeToolCallId } from './tool-call-id.ts'

/** What one GenerateContentResponse, whole or a chunk of a stream, says. */
export interface CandidateReading {
  text: string
  reasoningText: string
  toolCalls: { id: string; name: string; argumentsJson: string }[]
  /** The finish reason of the candidate, or the reason why the prompt was blocked. */
  finishReason: string | null
  promptBlocked: boolean
}

/** Reads the first candidate; `toolCallsBefore` numbers calls across the chunks of a stream. */
export function readCandidate(response: JsonObject, toolCallsBefore: number): CandidateReading {
  const candidate = asObjects(response.candidates)[0]
  const blockReason = asName(asObject(response.promptFeedback).blockReason)
  const reading: CandidateReading = {
    text: '',
    reasoningText: '',
    toolCalls: [],
    finishReason: asName(candidate?.finishReason) ?? blockReason,
    promptBlocked: blockReason !== null,
  }
  for (const part of asObjects(asObject(candidate?.content).parts)) {
    if (part.functionCall !== undefined) {
      const call = asObject(part.functionCall)
      const index = toolCallsBefore + reading.toolCalls.length
      reading.toolCalls.push({
        id: encodeToolCallId(part, call, asString(response.responseId), index),
        name: asString(call.name),
        argumentsJson: JSON.stringify(asObject(call.args)),
      })
    } else if (part.thought === true) reading.reasoningText += asString(part.text)
    else reading.text += asString(part.text)
  }
  return reading
}
