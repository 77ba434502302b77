import type { ConversationBody, ConversationTurnBody } from '../../contract/conversations.ts'
import { csvCell, formatPicoUsd } from '../../platform/kernel/index.ts'
import type { ListedConversation } from './conversation-list.store.ts'
import type { BilledCall, StoredTurn } from './turn-reader.store.ts'

export function renderConversation({
  startedAt,
  lastAt,
  billedPicoUsd,
  ...conversation
}: ListedConversation): ConversationBody {
  return {
    ...conversation,
    startedAt: startedAt.toISOString(),
    lastAt: lastAt.toISOString(),
    billedUsd: formatPicoUsd(billedPicoUsd),
  }
}

/** `calls`: of this answer, from the ledger; null in exports. */
export function renderTurn(turn: StoredTurn, calls: readonly BilledCall[] | null): ConversationTurnBody {
  const { conversationId: _conversation, user: _user, at, billedPicoUsd, receipts, references, ...more } = turn
  const { rating, ratingReason, ratedAt, ...rest } = more
  const billed = billedPicoUsd ?? (calls?.length ? sumOf(calls) : null)
  return {
    ...rest,
    at: at.toISOString(),
    references: references as ConversationTurnBody['references'],
    receipts: calls
      ? calls.map((call) => ({ requestId: call.requestId, billedUsd: formatPicoUsd(call.billedPicoUsd) }))
      : receipts.map((requestId) => ({ requestId, billedUsd: null })),
    billedUsd: billed === null ? null : formatPicoUsd(billed),
    rating: ratedAt && { rating: nameOf(rating), reason: ratingReason, at: ratedAt.toISOString() },
  }
}

const nameOf = (rating: StoredTurn['rating']) => (rating === 1 ? 'up' : 'down')
const sumOf = (calls: readonly BilledCall[]) => calls.reduce((sum, { billedPicoUsd }) => sum + billedPicoUsd, 0n)

const csvColumns = {
  conversationId: (turn: StoredTurn) => turn.conversationId,
  number: (turn: StoredTurn) => turn.number,
  follows: (turn: StoredTurn) => turn.follows,
  user: (turn: StoredTurn) => turn.user,
  requestId: (turn: StoredTurn) => turn.requestId,
  at: (turn: StoredTurn) => turn.at.toISOString(),
  question: (turn: StoredTurn) => turn.question,
  answer: (turn: StoredTurn) => turn.answer,
  references: (turn: StoredTurn) => turn.references.map(({ title }) => title).join('\n'),
  documentIds: (turn: StoredTurn) => turn.references.map(({ documentId }) => documentId).join('\n'),
  earlierMessages: ({ given }: StoredTurn) => given && given.messages.map(toLine).join('\n'),
  model: (turn: StoredTurn) => turn.model,
  billedUsd: ({ billedPicoUsd }: StoredTurn) => (billedPicoUsd === null ? null : formatPicoUsd(billedPicoUsd)),
  firstTextMs: (turn: StoredTurn) => turn.firstTextMs,
  totalMs: (turn: StoredTurn) => turn.totalMs,
  outcome: (turn: StoredTurn) => turn.outcome,
  errorCode: (turn: StoredTurn) => turn.errorCode,
  rating: ({ rating }: StoredTurn) => rating && nameOf(rating),
  ratingReason: (turn: StoredTurn) => turn.ratingReason,
}

const toLine = ({ role, content }: { role: string; content: string }) => `${role}: ${content}`

export type ExportFormat = 'jsonl' | 'csv'

/** One line per turn. CSV has a header, and no text that a spreadsheet would run as a formula. */
export async function* renderExport(pages: AsyncIterable<readonly StoredTurn[]>, format: ExportFormat) {
  if (format === 'csv') yield `${Object.keys(csvColumns).join(',')}\r\n`
  for await (const turns of pages) yield turns.map(format === 'csv' ? toCsvLine : toJsonLine).join('')
}

const toCsvLine = (turn: StoredTurn) =>
  `${Object.values(csvColumns)
    .map((read) => csvCell(read(turn)))
    .join(',')}\r\n`

const toJsonLine = (turn: StoredTurn) => {
  const { conversationId, user } = turn
  return `${JSON.stringify({ conversationId, user, ...renderTurn(turn, null) })}\n`
}
