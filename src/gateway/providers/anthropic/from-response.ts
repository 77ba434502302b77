import { unreadableAnswer } from '../wire-failure.ts'
import { asName, asObject, asObjects, asString, decodeJsonObject } from '../wire-json.ts'
import { hostedKindOf } from './hosted-uses.ts'
import { isNative } from './is-native.ts'
import { readCitations } from './citations.ts'
import { mapError } from './map-error.ts'
import { mapFinishReason } from '../map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'
import type { ProviderRequest } from '../port.ts'
import type { Redact } from '../redactor.ts'
import type { WireAnswer } from '../wire-adapter.ts'

/** Maps a complete message to an answer. Throws ProviderError if the body is an error inside HTTP 200 or not a message. */
export function fromMessage(body: Uint8Array, redact: Redact, request?: ProviderRequest): WireAnswer {
  const message = decodeJsonObject(body)
  if (message?.type === 'error') {
    throw mapError({ status: 200, headers: {}, body: JSON.stringify(message) }, redact)
  }
  if (!message || !Array.isArray(message.content)) throw unreadableAnswer('an answer', true)
  const blocks = asObjects(message.content)
  const stopReason = asName(message.stop_reason)
  const thinking = blocks.filter(({ type }) => type === 'thinking' || type === 'redacted_thinking')
  const citations = readCitations(blocks)
  return {
    text: textOf(blocks, 'text', 'text'),
    reasoningText: textOf(blocks, 'thinking', 'thinking'),
    refusal: null,
    toolCalls: blocks
      .filter((block) => block.type === 'tool_use')
      .map((block) => ({
        id: asString(block.id),
        name: asString(block.name),
        argumentsJson: JSON.stringify(asObject(block.input)),
      })),
    ...(isNative(request) && { native: message }),
    ...(citations.length > 0 && { citations }),
    ...(thinking.length > 0 && { replay: { format: 'anthropic', blocks: thinking } }),
    finishReason: mapFinishReason(stopReason),
    wireFinishReason: stopReason,
    usage: mapUsage(
      message.usage,
      blocks.flatMap((block) => hostedKindOf(block) ?? []),
    ),
  }
}

function textOf(blocks: Record<string, unknown>[], type: string, field: string): string {
  return blocks
    .filter((block) => block.type === type)
    .map((block) => asString(block[field]))
    .join('')
}
