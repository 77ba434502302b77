import type { FinishReason } from '../port.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
  refusal: 'content_filter',
}

/** Unknown words become `stop`; the caller still has the wire's own word for the log. */
export function mapFinishReason(stopReason: string | null): FinishReason {
  return (stopReason !== null && reasons[stopReason]) || 'stop'
}
