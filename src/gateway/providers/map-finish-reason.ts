import { lookUp } from '../../platform/kernel/index.ts'
import type { FinishReason } from './port.ts'

/** Finish reasons of all hosts, including OpenAI's four: no word has two meanings. */
const reasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  COMPLETE: 'stop',
  STOP: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  length: 'length',
  max_tokens: 'length',
  MAX_TOKENS: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  content_filter: 'content_filter',
  content_filtered: 'content_filter',
  safety: 'content_filter',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  // Of Gemini: the language is not supported, so the answer is withheld.
  LANGUAGE: 'content_filter',
  ERROR_TOXIC: 'content_filter',
  refusal: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  guardrail_intervened: 'content_filter',
  tool_calls: 'tool_calls',
  tool_call: 'tool_calls',
  tool_use: 'tool_calls',
  TOOL_CALL: 'tool_calls',
  function_call: 'tool_calls',
}

/**
 * Finish reasons of an answer that the host aborted: it is not an answer, even with text. `insufficient_system_resource` is DeepSeek's,
 * `network_error` z.ai's; hosts add others.
 */
const brokenOff = /^insufficient_system_resource$|(^|_)(error|abort(ed)?|fail(ed|ure)?|timeout|timed_out|interrupted)$/i

export function isBrokenOff(word: string | null): boolean {
  return word !== null && brokenOff.test(word)
}

/** Patterns for values that are not in the list; `sensitive` is z.ai's. */
const kinds: readonly [RegExp, FinishReason][] = [
  [/sensitive|safety|filter|prohibit|block|moderat|guardrail/i, 'content_filter'],
  [/length|max_?(output_|completion_|new_)?tokens|token_limit/i, 'length'],
]

/** Other unknown values become `stop`; the transport logs them. */
export function mapFinishReason(word: string | null): FinishReason {
  if (word === null) return 'stop'
  const known = lookUp(reasons, word)
  return known ?? kinds.find(([pattern]) => pattern.test(word))?.[1] ?? 'stop'
}
