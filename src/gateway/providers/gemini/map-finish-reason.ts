import { lookUp } from '../../../platform/kernel/index.ts'
import type { FinishReason } from '../port.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  // The language is not supported: the answer is withheld.
  LANGUAGE: 'content_filter',
}

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

/** Gemini sends STOP also for tool calls. Unknown values become `stop`; the caller logs the wire's value. */
export function mapFinishReason(finishReason: string | null, calledTools: boolean): FinishReason {
  const mapped = lookUp(reasons, finishReason) ?? 'stop'
  return mapped === 'stop' && calledTools ? 'tool_calls' : mapped
}
