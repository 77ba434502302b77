import { createHash } from 'node:crypto'
import { createTimeSlices } from '../../platform/kernel/index.ts'
import type { Message } from './turn.ts'

/**
 * Clients send the whole conversation with each question and no id. A digest of all messages up to an answer identifies that answer:
 * the next request begins with the same messages. Digests of different users differ, so their conversations never join.
 */

/** Answers of the request, from its end, by which an earlier turn is looked up. */
const maximumKnown = 8
/** Of SHA-256: enough that no two conversations have the same digest by chance. */
const digestBytes = 16

export interface ConversationDigests {
  /** Up to each of the last answers in the request, the longest last; `length` counts the messages. */
  known: { chain: string; length: number }[]
  /** Of all messages, with the question. */
  asked: string
}

/** Takes linear time and lets the event loop run in between. `messages` may have the largest size that a request may have. */
export async function digestConversation(
  messages: readonly Message[],
  user: string | null,
): Promise<ConversationDigests> {
  const slice = createTimeSlices()
  const known: ConversationDigests['known'] = []
  let chain = digest(user === null ? 'anyone' : `user ${user}`)
  for (const [index, message] of messages.entries()) {
    await slice()
    chain = continueChain(chain, message)
    if (message.role === 'assistant' && index < messages.length - 1) known.push({ chain, length: index + 1 })
    if (known.length > maximumKnown) known.shift()
  }
  return { known, asked: chain }
}

/** The digest of the messages that `chain` stands for and one more. */
export function continueChain(chain: string, { role, content }: Message): string {
  return digest(`${chain} ${role}`, comparable(content, role))
}

const digest = (head: string, text = new Uint16Array()) =>
  createHash('sha256')
    .update(`${head} `)
    .update(text)
    .digest('hex')
    .slice(0, 2 * digestBytes)

/**
 * Clients may trim texts, and may show answers without markers: white space counts as one space, and markers of answers do not count.
 * One pass, because a message may have 200,000 characters.
 */
function comparable(text: string, role: Message['role']): Uint16Array<ArrayBuffer> {
  const units = new Uint16Array(text.length)
  let length = 0
  let isAfterSpace = false
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    const markerLength = role === 'assistant' && unit === openingBracket ? markerLengthAt(text, index) : 0
    index += Math.max(0, markerLength - 1)
    if (markerLength > 0) isAfterSpace = false
    else if (isSpace(unit)) isAfterSpace = true
    else {
      if (isAfterSpace && length > 0) units[length++] = space
      isAfterSpace = false
      units[length++] = unit
    }
  }
  return units.subarray(0, length)
}

const space = 0x20
const openingBracket = 0x5b
const closingBracket = 0x5d
const isSpace = (unit: number) => unit === space || (unit >= 0x09 && unit <= 0x0d) || unit === 0xa0

/** Of `[n]` with one to four digits; 0 where there is none. */
function markerLengthAt(text: string, index: number): number {
  let end = index + 1
  while (end < index + 5 && isDigit(text.charCodeAt(end))) end++
  return end > index + 1 && text.charCodeAt(end) === closingBracket ? end + 1 - index : 0
}

const isDigit = (unit: number) => unit >= 0x30 && unit <= 0x39
