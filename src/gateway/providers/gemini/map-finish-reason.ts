import { mapFinishReason as mapWord } from '../map-finish-reason.ts'
import type { FinishReason } from '../port.ts'

/**
 * The model made a tool call that Google could not parse: not an answer, and not billed as one.
 * (ai.google.dev/api/generate-content#FinishReason, 2026-11)
 */
export function isFailure(finishReason: string | null): finishReason is string {
  return (
    finishReason !== null &&
    /^(MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MALFORMED_RESPONSE|MISSING_THOUGHT_SIGNATURE)$/.test(
      finishReason,
    )
  )
}

/** Gemini sends STOP also for tool calls. */
export function mapFinishReason(finishReason: string | null, calledTools: boolean): FinishReason {
  const mapped = mapWord(finishReason)
  return mapped === 'stop' && calledTools ? 'tool_calls' : mapped
}
