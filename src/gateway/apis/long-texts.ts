import { toMovable } from '../../platform/bodies/index.ts'
import { type ContentPart, isParts } from '../conversation/index.ts'
import type { ProviderMessage } from '../providers/index.ts'

/** Turns the long texts and media of messages into bytes, which move from the thread that has read them without a copy. */
export function moveLongTexts(messages: ProviderMessage[]): void {
  for (const message of messages) {
    message.content = isParts(message.content) ? message.content.map(moveLongPart) : toMovable(message.content)
  }
}

function moveLongPart(part: ContentPart): ContentPart {
  if (part.type === 'refusal') return part
  if (part.type === 'text') return { ...part, text: toMovable(part.text) }
  if (part.source.kind === 'url') return part
  return { ...part, source: { ...part.source, data: toMovable(part.source.data) } }
}
