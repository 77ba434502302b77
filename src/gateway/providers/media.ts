import { isParts, type ContentPart, type MediaPart, type MediaSource, type PromptText } from '../conversation/index.ts'
import { joinTexts } from '../../platform/bodies/index.ts'
import type { ProviderError, ProviderMessage } from './port.ts'
import type { Adjustments } from './sampling.ts'
import { failure } from './wire-failure.ts'

/** The address of a source; of bytes a `data:` address. */
export function addressOf(source: MediaSource): PromptText {
  return source.kind === 'url' ? source.url : joinTexts([`data:${source.mediaType};base64,`, source.data], '')
}

export function isMedia(part: ContentPart): part is MediaPart {
  return part.type !== 'text' && part.type !== 'refusal'
}

/** `png` of `image/png`, `plain` of `text/plain`, without parameters. */
export function subtypeOf(mediaType: string): string {
  return mediaType.split(';')[0]!.split('/').at(-1)!.trim().toLowerCase()
}

/** Routing sends such a part only to hosts that take it; this is the answer where an operator declared more than the host can. */
export function refusedPart({ type }: ContentPart): ProviderError {
  return failure('invalid_request', `The model does not accept content of the type ${type}.`, {
    status: 400,
    param: 'messages',
    code: 'unsupported_parameter',
  })
}

/**
 * For hosts whose tool results are text: images and files of adjacent results follow them in one user message, so that the results stay
 * together after their calls.
 */
export function moveResultMedia(messages: ProviderMessage[], adjustments: Adjustments): ProviderMessage[] {
  const hasMedia = ({ role, content }: ProviderMessage) => role === 'tool' && isParts(content) && content.some(isMedia)
  if (!messages.some(hasMedia)) return messages
  adjustments.noteName('messages')
  const moved: ProviderMessage[] = []
  let waiting: ContentPart[] = []
  const flush = () => {
    if (waiting.length > 0) moved.push({ role: 'user', content: waiting })
    waiting = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') flush()
    if (!hasMedia(message)) {
      moved.push(message)
      continue
    }
    const parts = message.content as readonly ContentPart[]
    moved.push({ ...message, content: parts.filter((part) => !isMedia(part)) })
    waiting.push(
      { type: 'text', text: `Content of the tool result ${message.toolCallId ?? ''}:` },
      ...parts.filter(isMedia),
    )
  }
  flush()
  return moved
}
