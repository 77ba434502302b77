import type { FinishReason } from '../port.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
  ERROR_TOXIC: 'content_filter',
}

/** Unknown words become `stop`; the caller still has the wire's own word for the log. */
export function mapFinishReason(finishReason: string | null): FinishReason {
  return (finishReason !== null && reasons[finishReason]) || 'stop'
}
