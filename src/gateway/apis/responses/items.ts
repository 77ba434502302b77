import {
  type ReasoningReplay,
  type TokenLogprob,
  type ToolCall,
  type UrlCitation,
  wrapReplay,
} from '../../providers/index.ts'
import { customInput } from './parse-tools.ts'

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** Ids of one response's items: from the id of the request and the place of the item, so that they are the same in all events. */
export function createItemIds(responseId: string) {
  const digits = responseId.slice(responseId.indexOf('_') + 1)
  return (prefix: 'msg' | 'fc' | 'ctc' | 'rs', outputIndex: number) =>
    `${prefix}_${digits}${outputIndex.toString(16).padStart(4, '0')}`
}

/**
 * What a client sends back of the reasoning, as one opaque text: the provider's own blocks, or else the text that was shown, which some
 * models want back. Null if it is too long; the model then reasons again.
 */
export function encryptReasoning(text: string, replay: ReasoningReplay | undefined): string | null {
  return wrapReplay(replay ?? textReplay(text))
}

/** Reasoning of which only the text is known; adapters of other formats leave it out. */
export const textReplay = (content: string): ReasoningReplay => ({
  format: 'openai',
  blocks: [{ content, details: [] }],
})

/** Reasoning is shown as a summary: all SDKs read it there, and it has the same events in both specifications of the API. */
export function reasoningItem(id: string, text: string, encryptedContent: string | null) {
  return {
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [summaryPart(text)],
    ...(encryptedContent !== null && { encrypted_content: encryptedContent }),
  }
}

export const summaryPart = (text: string) => ({ type: 'summary_text', text })

export function messageItem(id: string, status: ItemStatus, content: object[]) {
  return { id, type: 'message', status, role: 'assistant', content }
}

export function textPart(text: string, annotations: object[], logprobs: object[]) {
  return { type: 'output_text', text, annotations, logprobs }
}

export const refusalPart = (refusal: string) => ({ type: 'refusal', refusal })

/** The text and the refusal of one message; an answer without both has an empty text. */
export function messageContent(
  { text, refusal }: { text: string; refusal: string | null },
  citations: readonly UrlCitation[],
  logprobs: readonly TokenLogprob[],
): object[] {
  const parts: object[] = []
  if (text !== '' || refusal === null)
    parts.push(textPart(text, citations.map(renderAnnotation), logprobs.map(renderLogprob)))
  if (refusal !== null) parts.push(refusalPart(refusal))
  return parts
}

export function callItem(itemId: string, status: ItemStatus, { id, name, argumentsJson }: ToolCall, isCustom: boolean) {
  if (isCustom) {
    const input = status === 'in_progress' ? '' : customInput(argumentsJson)
    return { id: itemId, type: 'custom_tool_call', status, call_id: id, name, input }
  }
  return { id: itemId, type: 'function_call', status, call_id: id, name, arguments: argumentsJson }
}

export function renderAnnotation({ url, title, startIndex, endIndex }: UrlCitation) {
  return { type: 'url_citation', url, title, start_index: startIndex, end_index: endIndex }
}

export function renderLogprob({ token, logprob, bytes, top }: TokenLogprob) {
  return {
    token,
    logprob,
    bytes: bytes ?? [],
    top_logprobs: top.map((other) => ({ token: other.token, logprob: other.logprob, bytes: other.bytes ?? [] })),
  }
}
