import {
  type FinishReason,
  type ReasoningReplay,
  type TokenLogprob,
  type ToolCall,
  wrapReplay,
} from '../../providers/index.ts'

/** JSON of the parts that whole answers and streams share. */

/** Marks a list entry that only Portico can read. Clients send it back unchanged. */
const wrappedFormat = 'portico-v1'

/** The reasoning that the client sends back with the tool calls; undefined if there is nothing besides its text. */
export function toReasoningDetails(replay: ReasoningReplay): Record<string, unknown>[] | undefined {
  // Items of the Responses API are no details.
  if (replay.format === 'openai' && !replay.blocks.some(({ type }) => type !== undefined)) {
    const details = replay.blocks.flatMap((block) => block.details ?? []) as Record<string, unknown>[]
    return details.length > 0 ? details : undefined
  }
  const data = wrapReplay(replay)
  return data === null ? undefined : [{ type: 'reasoning.encrypted', data, format: wrappedFormat, index: 0 }]
}

/** Some hosts have no ids. */
export function toCallId(id: string | undefined, answerId: string, choice: number, index: number): string {
  return id || `call_${answerId.slice(answerId.indexOf('-') + 1)}${choice}${index}`
}

export function renderToolCall({ name, argumentsJson }: ToolCall, id: string): object {
  return { id, type: 'function', function: { name, arguments: argumentsJson } }
}

export function renderLogprobs(logprobs: readonly TokenLogprob[] | undefined): string {
  if (!logprobs || logprobs.length === 0) return 'null'
  const content = logprobs.map(({ token, logprob, bytes, top }) => ({ token, logprob, bytes, top_logprobs: top }))
  return `{"content":${JSON.stringify(content)},"refusal":null}`
}

/** The compatible API names calls of the older `functions` differently. */
export function renderFinishReason(reason: FinishReason, isLegacy: boolean): string {
  return isLegacy && reason === 'tool_calls' ? 'function_call' : reason
}
