import { textOf } from '../../platform/bodies/index.ts'
import { createTimeSlices } from '../../platform/kernel/index.ts'
import type { AnswerCall } from './port.ts'
import type { ReadChat } from './chat-body.ts'

/** Bytes of JSON of the latest messages that are read: four times the longest context window of today's models, 10 million tokens. */
const maximumReadBytes = 64 * 1024 * 1024

/**
 * The latest messages as text, without blocking the event loop. No model's window has room for earlier ones, and a text takes up to twice the memory of
 * its bytes.
 */
export async function readConversation(messages: ReadChat['messages']): Promise<AnswerCall['messages']> {
  const recent: AnswerCall['messages'] = []
  const slice = createTimeSlices()
  let bytes = 0
  for (const { role, content } of messages.toReversed()) {
    bytes += typeof content === 'string' ? content.length : content.bytes
    if (bytes > maximumReadBytes && recent.length > 0) break
    await slice()
    recent.push({ role, content: textOf(content) })
  }
  return recent.toReversed()
}
