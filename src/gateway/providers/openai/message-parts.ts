import { asObjects, asString, type JsonObject } from '../wire-json.ts'

/** Visible and hidden text of a message or a delta. */
export interface TextParts {
  text: string
  reasoning: string
}

/**
 * Content is a string, or (Mistral's reasoning models) a list of text and thinking parts. Hidden text is in `reasoning_content` (DeepSeek,
 * xAI, Alibaba, vLLM, Moonshot) or `reasoning` (Groq, Cerebras, Ollama, OpenRouter); if a host sends both, they are equal.
 */
export function readTextParts(message: JsonObject): TextParts {
  const { content } = message
  const hidden = asString(message.reasoning_content) || asString(message.reasoning)
  if (!Array.isArray(content)) return { text: asString(content), reasoning: hidden || reasoningDetails(message) }
  let text = ''
  let reasoning = hidden
  for (const part of content) {
    if (typeof part === 'string') text += part
    for (const { type, text: words, thinking } of asObjects([part])) {
      if (type === 'thinking') reasoning += readThinking(thinking)
      else if (type === 'text' || type === 'output_text') text += asString(words)
    }
  }
  return { text, reasoning }
}

function readThinking(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking
  return asObjects(thinking)
    .map((part) => asString(part.text))
    .join('')
}

/** OpenRouter's longer form; encrypted parts have no text. */
function reasoningDetails(message: JsonObject): string {
  return asObjects(message.reasoning_details)
    .map((detail) => asString(detail.text) || asString(detail.summary))
    .join('')
}

/** A call's arguments are JSON as text; some hosts send the object. */
export function readArguments(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
