import type { FinishReason } from '../port.ts'

/** Words of hosts in the family; OpenAI's own four among them. */
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

/** Words that say the answer was broken off by trouble at the host: no answer, whatever text came before. */
const brokenOff: ReadonlySet<string> = new Set(['error', 'abort', 'insufficient_system_resource'])

export function isBrokenOff(word: string | null): boolean {
  return word !== null && brokenOff.has(word)
}

/** Unknown words become `stop`; the transport logs them. */
export function mapFinishReason(word: string | null): FinishReason {
  return (word !== null && Object.hasOwn(reasons, word) && reasons[word]) || 'stop'
}
