import { lookUp } from '../../../platform/kernel/index.ts'
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

/** Unknown values become `stop`; the caller logs the wire's value. */
export function mapFinishReason(stopReason: string | null): FinishReason {
  return lookUp(reasons, stopReason) ?? 'stop'
}
