import { lookUp } from '../../../platform/kernel/index.ts'
import type { FinishReason } from '../port.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
  ERROR_TOXIC: 'content_filter',
}

/** Unknown values become `stop`; the caller logs the wire's value. */
export function mapFinishReason(finishReason: string | null): FinishReason {
  return lookUp(reasons, finishReason) ?? 'stop'
}
