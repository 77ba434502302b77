import { type ContentPart, isParts, type MessageContent, textOfContent } from '../../../conversation/index.ts'
import { addressOf, refusedPart } from '../../media.ts'
import type { ProviderMessage, ReasoningReplay } from '../../port.ts'
import { asObjects, type JsonObject } from '../../wire-json.ts'
import { isReplayed } from './items.ts'

/** OpenAI refuses a file without a name. */
const defaultFileName = 'document.pdf'

/** The messages of a conversation as the items of `input`. Reasoning and what the provider ran precede the text and calls of their turn. */
export function toInput(messages: readonly ProviderMessage[]): JsonObject[] {
  return messages.flatMap((message): JsonObject[] => {
    const { role, content, toolCallId = '' } = message
    if (role === 'tool') return [{ type: 'function_call_output', call_id: toolCallId, output: toContent(content) }]
    if (role !== 'assistant') return [{ role, content: toContent(content) }]
    const calls = (message.toolCalls ?? []).map(({ id, name, argumentsJson }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: argumentsJson === '' ? '{}' : argumentsJson,
    }))
    const isSilent = isParts(content) ? content.length === 0 : content === ''
    const said = isSilent ? [] : [{ role, content: toAnswer(content) }]
    return [...toReplayed(message.replay), ...said, ...calls]
  })
}

/** Blocks of chat completions have another form and are left out. */
function toReplayed(replay: ReasoningReplay | undefined): JsonObject[] {
  return replay?.format === 'openai' ? asObjects(replay.blocks).filter(isReplayed) : []
}

function toContent(content: MessageContent): unknown {
  if (!isParts(content)) return content
  return content.map((part): JsonObject => {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return { type: 'input_text', text: part.text }
      case 'image':
        return { type: 'input_image', image_url: addressOf(part.source), detail: part.detail ?? 'auto' }
      case 'file':
        return toFile(part)
      case 'audio':
        throw refusedPart(part)
    }
  })
}

function toFile(part: Extract<ContentPart, { type: 'file' }>): JsonObject {
  if (part.source.kind === 'url') return { type: 'input_file', file_url: part.source.url }
  return { type: 'input_file', filename: part.name ?? defaultFileName, file_data: addressOf(part.source) }
}

function toAnswer(content: MessageContent): unknown {
  if (!isParts(content)) return content
  if (!content.some(({ type }) => type === 'refusal')) return textOfContent(content)
  return content.flatMap((part): JsonObject[] => {
    if (part.type === 'refusal') return [{ type: 'refusal', refusal: part.text }]
    return part.type === 'text' ? [{ type: 'output_text', text: part.text, annotations: [] }] : []
  })
}
