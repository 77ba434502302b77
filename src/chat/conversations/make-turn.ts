import { toStorable } from '../../platform/kernel/index.ts'
import { continueChain, type ConversationDigests } from './chain.ts'
import { conversationLimits } from './limits.ts'
import type { AskedQuestion, CitedDocument, GivenAnswer, Message, NewTurn } from './turn.ts'

/** What is kept of a question while it is answered: its messages may have 33 MB. */
export interface KeptQuestion {
  place: Omit<AskedQuestion, 'messages'>
  atMs: number
  question: ReturnType<typeof cutText>
  given: Message[]
  givenFrom: number
}

/** The question and the last of the earlier messages, within the limits. */
export function keepMessages(messages: readonly Message[]): Pick<KeptQuestion, 'question' | 'given' | 'givenFrom'> {
  const given: Message[] = []
  let givenFrom = messages.length - 1
  let bytes = 0
  while (givenFrom > 0) {
    const { role, content } = messages[givenFrom - 1]!
    const text = cutText(content, conversationLimits.givenMessageBytes).text
    bytes += Buffer.byteLength(text)
    if (bytes > conversationLimits.givenBytes) break
    given.unshift({ role, content: text })
    givenFrom--
  }
  return { question: cutText(messages.at(-1)!.content, conversationLimits.textBytes), given, givenFrom }
}

export function makeTurn(kept: KeptQuestion, digests: ConversationDigests, answer: GivenAnswer): NewTurn {
  const { place, atMs, question, given, givenFrom } = kept
  const { text, isCut } = cutText(answer.text, conversationLimits.textBytes)
  const references = fitReferences(toStorable(answer.references))
  const sources = toStorable(answer.sources)
  const isComplete = answer.outcome === 'complete'
  const { organisationId, spaceId, user, requestId, chat } = place
  return {
    chat,
    organisationId,
    spaceId,
    user,
    requestId,
    atMs,
    known: digests.known,
    chain: continueChain(digests.asked, { role: 'assistant', content: answer.text }),
    given,
    givenFrom,
    question: question.text,
    questionCut: question.isCut,
    answer: text,
    answerCut: isCut,
    references,
    sources,
    receipts: answer.receipts.map((receipt) => receipt.requestId),
    model: answer.receipts.at(-1)?.model ?? place.model,
    billedPicoUsd: isComplete ? answer.receipts.reduce((sum, { billedPicoUsd }) => sum + billedPicoUsd, 0n) : null,
    firstTextMs: answer.firstTextMs,
    totalMs: answer.totalMs,
    outcome: answer.outcome,
    errorCode: answer.errorCode,
    bytes: bytesOf(question.text) + bytesOf(text) + bytesOf(JSON.stringify([references, sources])),
    givenBytes: given.reduce((sum, { content }) => sum + bytesOf(content), 0),
  }
}

const bytesOf = (text: string) => Buffer.byteLength(text)

/** All references, without their passages if they are too long with them, else the first ones. */
function fitReferences(references: readonly CitedDocument[]): readonly CitedDocument[] {
  const fits = (given: readonly CitedDocument[]) =>
    Buffer.byteLength(JSON.stringify(given)) <= conversationLimits.citedBytes
  if (fits(references)) return references
  const plain = references.map(({ passages: _left, ...reference }) => reference)
  let bytes = 2
  const place = plain.findIndex((reference) => {
    bytes += Buffer.byteLength(JSON.stringify(reference)) + 1
    return bytes > conversationLimits.citedBytes
  })
  return place === -1 ? plain : plain.slice(0, place)
}

/** The beginning of a text with at most this many UTF-8 bytes, as PostgreSQL can store it. */
function cutText(text: string, maximumBytes: number): { text: string; isCut: boolean } {
  // A UTF-16 unit takes at most 3 bytes, and at least one.
  const isShort = 3 * text.length <= maximumBytes || Buffer.byteLength(text) <= maximumBytes
  return { text: toStorableText(isShort ? text : cut(text.slice(0, maximumBytes), maximumBytes)), isCut: !isShort }
}

function cut(text: string, maximumBytes: number): string {
  const bytes = Buffer.from(text)
  let end = Math.min(maximumBytes, bytes.length)
  // Not within a character: its further bytes begin with the bits 10.
  while (end > 0 && end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}
