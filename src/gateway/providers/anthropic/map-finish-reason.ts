import { lookUp } from '../../../platform/kernel/index.ts'
import type { FinishReason } from '../port.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  compaction: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
}

/** Unknown values become `stop`; the caller logs the wire's value. */
export function mapFinishReason(stopReason: string | null): FinishReason {
  return lookUp(reasons, stopReason) ?? 'stop'
}
