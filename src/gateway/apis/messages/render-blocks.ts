import { isObject } from '../../../platform/kernel/index.ts'
import type { ReasoningReplay, ToolCall, UrlCitation } from '../../providers/index.ts'
import { wrapReplay } from '../../providers/index.ts'

type Json = Record<string, unknown>

export const thinkingBlock = (thinking: string, signature: string): Json => ({ type: 'thinking', thinking, signature })
export const textBlock = (text: string, citations: Json[]): Json => ({
  type: 'text',
  text,
  ...(citations.length > 0 && { citations }),
})

/** The reasoning of another format as an opaque text, which the client sends back; '' if it is too long. */
export function signatureOf(replay: ReasoningReplay | undefined): string {
  return (replay && wrapReplay(replay)) ?? ''
}

export function toolUseBlock({ id, name, argumentsJson }: ToolCall): Json {
  return { type: 'tool_use', id, name, input: inputOf(argumentsJson) }
}

/** Arguments that are no JSON object: in the form in which Anthropic's documentation of streamed tools returns them to the model. */
function inputOf(argumentsJson: string): Json {
  if (argumentsJson.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(argumentsJson)
    if (isObject(value)) return value
  } catch {
    // Not JSON at all.
  }
  return { INVALID_JSON: argumentsJson }
}

/** A source that another provider cites, as a result of a search. `encrypted_index` is empty: no host can restore it. */
export function toCitation({ url, title, startIndex, endIndex }: UrlCitation, text: string): Json {
  const cited_text = text.slice(startIndex, endIndex)
  return { type: 'web_search_result_location', url, title, encrypted_index: '', cited_text }
}
