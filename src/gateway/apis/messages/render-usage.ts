import type { MessagesUsageBody, StopReason } from '../../../contract/gateway-v2-messages.ts'
import type { FinishReason, TokenUsage } from '../../providers/index.ts'

/** Usage in the terms of the Messages API, whose input leaves out what was read from and written to the cache. */
export function renderUsage(usage: TokenUsage): MessagesUsageBody {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage
  const hour = usage.cacheWriteHourTokens ?? 0
  return {
    input_tokens: promptTokens - cachedTokens - cacheWriteTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation: { ephemeral_5m_input_tokens: cacheWriteTokens - hour, ephemeral_1h_input_tokens: hour },
    output_tokens: completionTokens,
    output_tokens_details: { thinking_tokens: reasoningTokens },
    server_tool_use: usage.toolUses
      ? { web_search_requests: usage.toolUses.web_search ?? 0, web_fetch_requests: usage.toolUses.web_fetch ?? 0 }
      : null,
    service_tier: null,
  }
}

const reasons: Readonly<Record<FinishReason, StopReason>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}

/** A model that declines in its answer ends it with the compatible API's `stop`. */
export function stopReasonOf(finishReason: FinishReason, isRefused: boolean): StopReason {
  return isRefused && finishReason === 'stop' ? 'refusal' : reasons[finishReason]
}
