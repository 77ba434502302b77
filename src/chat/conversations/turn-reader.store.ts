import type { OwnedDatabase, SqlValue } from '../../platform/database/index.ts'
import type { RequestId } from '../../platform/kernel/index.ts'
import { columns, findStore, firstTurn, type ListedConversation } from './conversation-list.store.ts'
import type { CitedDocument, Message, Outcome, UsedSource } from './turn.ts'

export interface StoredTurn {
  conversationId: string
  number: number
  follows: number | null
  user: string | null
  requestId: RequestId
  at: Date
  given: { messages: Message[]; leftOut: number } | null
  question: string
  questionCut: boolean
  answer: string
  answerCut: boolean
  references: CitedDocument[]
  sources: UsedSource[]
  receipts: string[]
  model: string
  billedPicoUsd: bigint | null
  firstTextMs: number | null
  totalMs: number
  outcome: Outcome
  errorCode: string | null
  /** 1: helpful, -1: not helpful. */
  rating: 1 | -1 | null
  ratingReason: string | null
  ratedAt: Date | null
}

/** Pages end before this many bytes of texts, unless one turn is larger: bounds the memory of views and exports. */
const pageBytes = 2 * 1024 ** 2
export const maximumTurnsOfPage = 50
const turnsOfExport = 500

const turnColumns = `conversation_id AS "conversationId", number, follows, user_tag AS "user", request_id AS "requestId", at, given,
  question, question_cut AS "questionCut", answer, answer_cut AS "answerCut", cited AS "references", sources, receipts, model,
  billed_pico_usd AS "billedPicoUsd", first_text_ms AS "firstTextMs", total_ms AS "totalMs", outcome, error_code AS "errorCode",
  rating, rating_reason AS "ratingReason", rated_at AS "ratedAt"`

/** One conversation with its turns after the number `after`, in their order; `next` is null at the end. */
export async function loadConversation(
  database: OwnedDatabase,
  { spaceId, conversationId, after }: { spaceId: string; conversationId: string; after: number },
): Promise<{ conversation: ListedConversation; turns: StoredTurn[]; next: number | null } | undefined> {
  const [conversation] = await database.query<ListedConversation>(
    `SELECT ${columns} FROM conversations v JOIN conversation_stores k ON k.id = v.store_id ${firstTurn}
      WHERE k.space_id = $1 AND v.id = $2::uuid`,
    [spaceId, conversationId],
  )
  if (!conversation) return undefined
  const turns = await loadTurns(
    database,
    { where: 'conversation_id = $1::uuid AND number > $2::int4', order: 'number', limit: maximumTurnsOfPage },
    [conversationId, after],
  )
  const last = turns.at(-1)?.number ?? after
  const [more] = await database.query(
    `SELECT 1 FROM conversation_turns WHERE conversation_id = $1::uuid AND number > $2::int4 LIMIT 1`,
    [conversationId, last],
  )
  return { conversation, turns, next: more ? last : null }
}

/** The first rows, as long as they fit into `pageBytes`; at least one. */
function loadTurns(
  database: OwnedDatabase,
  { where, order, limit }: { where: string; order: string; limit: number },
  parameters: readonly SqlValue[],
): Promise<StoredTurn[]> {
  return database.query<StoredTurn>(
    `SELECT ${turnColumns} FROM (
       SELECT *, sum(bytes) OVER (ORDER BY ${order}) - bytes AS before
         FROM (SELECT * FROM conversation_turns WHERE ${where} ORDER BY ${order} LIMIT ${limit}) first) counted
      WHERE before < ${pageBytes} ORDER BY ${order}`,
    parameters,
    { background: true },
  )
}

export interface ExportFilter {
  /** The question is of this time; `from` included, `to` not. */
  from: Date | null
  to: Date
  user: string | null
  conversationId: string | null
}

/** Turns of a Space, oldest first, in pages. What is removed meanwhile is left out. */
export async function* loadAllTurns(
  database: OwnedDatabase,
  spaceId: string,
  { from, to, user, conversationId }: ExportFilter,
): AsyncGenerator<StoredTurn[]> {
  const store = await findStore(database, spaceId)
  if (!store) return
  const parameters: SqlValue[] = [store.id, to]
  const conditions = ['store_id = $1', 'at < $2']
  const add = (value: SqlValue, condition: (name: string) => string) => {
    if (value === null) return
    parameters.push(value)
    conditions.push(condition(`$${parameters.length}`))
  }
  add(from, (value) => `at >= ${value}`)
  add(user, (value) => `user_tag = ${value}`)
  add(conversationId, (value) => `conversation_id = ${value}::uuid`)
  let last: StoredTurn | undefined
  for (;;) {
    const place: SqlValue[] = last ? [last.at, last.conversationId, last.number] : []
    const [at, id, number] = place.map((_value, index) => `$${parameters.length + index + 1}`)
    const after = last ? ` AND (at, conversation_id, number) > (${at}, ${id}::uuid, ${number}::int4)` : ''
    const turns = await loadTurns(
      database,
      { where: conditions.join(' AND ') + after, order: 'at, conversation_id, number', limit: turnsOfExport },
      [...parameters, ...place],
    )
    if (turns.length === 0) return
    yield turns
    last = turns.at(-1)
  }
}

export interface BilledCall {
  requestId: string
  billedPicoUsd: bigint
}

/** The calls of the model that these answers made, from the ledger: of answers whose receipts are not stored. */
export async function loadBilledCalls(database: OwnedDatabase, requestIds: readonly string[]): Promise<BilledCall[]> {
  if (requestIds.length === 0) return []
  return database.query<BilledCall>(
    `SELECT request_id AS "requestId", billed_pico_usd AS "billedPicoUsd" FROM ledger_entries
      WHERE request_id = ANY($1::text[]) ORDER BY started_at, request_id`,
    [requestIds],
  )
}
