import { maximumMetadataPairs } from '../../../contract/gateway.ts'
import { type BodyReader, type BodyShape, LongTexts } from '../../../platform/bodies/index.ts'
import { isAppError } from '../../../platform/kernel/index.ts'
import { estimateRequestAtOnce } from '../../gateway/index.ts'
import type { ParsedCall } from '../completion.routes.ts'
import { moveLongTexts } from '../long-texts.ts'
import { maximumBodyDepth, requestLimits } from '../limits.ts'
import { messageFields, partFields } from './parse-messages.ts'
import { chatFields, parseChat, type ParsedChat } from './parse-request.ts'

export type ReadChat = ParsedChat & ParsedCall

const message: BodyShape = {
  members: new Map([
    ...shapes(messageFields),
    ['content', { maximumItems: requestLimits.partsPerMessage, items: { members: shapes(partFields) } }],
  ]),
}

/** How a body of chat completions is read; see `completionBody` of version 1, which it follows. */
export const chatBody: BodyReader<ReadChat> = {
  module: import.meta.url,
  exportName: 'chatBody',
  shape: {
    members: new Map([
      ...shapes(chatFields),
      ['metadata', { maximumMembers: maximumMetadataPairs }],
      ['messages', { maximumItems: requestLimits.messages, items: message }],
      ['tools', { maximumItems: requestLimits.tools }],
      ['functions', { maximumItems: requestLimits.tools }],
    ]),
  },
  maximumDepth: maximumBodyDepth,
  // Each part is an object with two values; the rest is for the messages themselves, for tools and for the other fields.
  maximumValues: 3 * requestLimits.messages * requestLimits.partsPerMessage + 500_000,
  readUsual,
  startLong() {
    const texts = new LongTexts()
    return { push: (bytes) => texts.push(bytes), finish: () => readUsual(texts.finish()) }
  },
  read(value, ignored) {
    const parsed = read(value, ignored)
    moveLongTexts(parsed.request.messages)
    return parsed
  },
}

function read(value: unknown, ignored: string[]): ReadChat {
  const parsed = parseChat(value, ignored)
  return { ...parsed, promptEstimate: estimateRequestAtOnce(parsed.request) }
}

/** What is not valid is scanned, whose errors come first. */
function readUsual(value: unknown): ReadChat | undefined {
  try {
    return value === undefined ? undefined : read(value, [])
  } catch (error) {
    if (isAppError(error)) return undefined
    throw error
  }
}

function shapes(names: Iterable<string>): Map<string, BodyShape> {
  return new Map([...names].map((name) => [name, {}]))
}
