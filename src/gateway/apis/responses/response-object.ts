import type { FinishReason, TokenUsage } from '../../providers/index.ts'

/** What all forms of one response share. */
export interface ResponseIdentity {
  /** `resp_…` */
  id: string
  createdSeconds: number
  model: string
}

export interface ResponseState {
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  /** JSON of the items. */
  output: readonly string[]
  completedSeconds?: number
  incompleteReason?: IncompleteReason
  error?: { code: string; message: string }
  usage?: TokenUsage
}

export type IncompleteReason = 'max_output_tokens' | 'content_filter'

/** The JSON of a response object. `settings` are the members that repeat the request. */
export function renderResponse(identity: ResponseIdentity, settings: string, state: ResponseState): string {
  const { status, output, completedSeconds, incompleteReason, error, usage } = state
  const details = incompleteReason ? `{"reason":"${incompleteReason}"}` : 'null'
  return (
    `{"id":${JSON.stringify(identity.id)},"object":"response","created_at":${identity.createdSeconds},"status":"${status}",` +
    `"completed_at":${completedSeconds ?? 'null'},"error":${error ? JSON.stringify(error) : 'null'},"incomplete_details":${details},` +
    `"model":${JSON.stringify(identity.model)},"output":[${output.join(',')}],"usage":${usage ? renderUsage(usage) : 'null'},${settings}}`
  )
}

function renderUsage(usage: TokenUsage): string {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage
  return (
    `{"input_tokens":${promptTokens},"input_tokens_details":{"cached_tokens":${cachedTokens},"cache_write_tokens":${cacheWriteTokens}},` +
    `"output_tokens":${completionTokens},"output_tokens_details":{"reasoning_tokens":${reasoningTokens}},` +
    `"total_tokens":${promptTokens + completionTokens}}`
  )
}

/** Undefined: the answer is complete. */
export function incompleteReasonOf(finishReason: FinishReason): IncompleteReason | undefined {
  if (finishReason === 'length') return 'max_output_tokens'
  return finishReason === 'content_filter' ? 'content_filter' : undefined
}
