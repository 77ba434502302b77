import type { OwnedDatabase, Queryable, SqlValue } from '../../../platform/database/index.ts'
import {
  lockKeepingSpace,
  type SubjectDigest,
  withoutErased,
  withoutStored,
  writeOptions,
} from '../storable-turns.store.ts'
import { conversationLimits } from '../limits.ts'
import type { OwnTurn } from '../turn.ts'
import type { Removed } from '../turn-removal.store.ts'

/**
 * Stores turns of people with one Space, in their order. A turn is left out where the Space no longer keeps conversations, the account was
 * deleted, the turn is stored, a cited document was erased, or the id is that of a conversation of someone else.
 */
export function addOwnTurns(
  database: OwnedDatabase,
  spaceId: string,
  turns: readonly OwnTurn[],
  subjectDigest: SubjectDigest,
): Promise<void> {
  return database.transaction(async (transaction) => {
    if (!(await lockKeepingSpace(transaction, spaceId))) return
    // An erasure that began earlier waits for this transaction; see its lock in src/chat/erasures.
    await transaction.execute(`LOCK TABLE conversation_stores IN ROW SHARE MODE`)
    const added = await withoutErased(
      transaction,
      await withoutStored(transaction, 'own_chat_turns', turns),
      subjectDigest,
    )
    // In one order, since two writers lock the rows of the people.
    const byPerson = added.toSorted((left, right) => compare(left.chat.personId, right.chat.personId))
    for (const turn of byPerson) await addTurn(transaction, spaceId, turn)
  }, writeOptions)
}

const compare = (left: string, right: string) => (left < right ? -1 : Number(left > right))

async function addTurn(transaction: Queryable, spaceId: string, turn: OwnTurn): Promise<void> {
  const { id, personId } = turn.chat
  // Writers of one person wait for each other.
  const person = await transaction.query(`SELECT 1 FROM people WHERE id = $1 FOR NO KEY UPDATE`, [personId])
  if (person.length === 0) return
  const [chat] = await transaction.query<{ number: number }>(
    `INSERT INTO own_chats (id, space_id, person_id, title, first_at, last_at, last_number, turns, bytes)
     VALUES ($1, $2, $3, $4, $5, $5, 1, 1, $6)
     ON CONFLICT (id) DO UPDATE SET last_at = greatest(own_chats.last_at, excluded.last_at),
       last_number = own_chats.last_number + 1, turns = own_chats.turns + 1, bytes = own_chats.bytes + excluded.bytes
       WHERE own_chats.space_id = excluded.space_id AND own_chats.person_id = excluded.person_id
     RETURNING last_number AS number`,
    [id, spaceId, personId, titleOf(turn.question), new Date(turn.atMs), turn.bytes],
  )
  if (!chat) return
  await insertTurn(transaction, chat.number, turn)
  await keepWithinLimits(transaction, spaceId, turn.chat)
}

async function insertTurn(transaction: Queryable, number: number, turn: OwnTurn): Promise<void> {
  await transaction.execute(
    `INSERT INTO own_chat_turns (chat_id, number, request_id, at, question, question_cut, answer, answer_cut, cited, sources, model,
       total_ms, outcome, error_code, bytes)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10::jsonb, $11, $12, $13, $14, $15)`,
    [
      turn.chat.id,
      number,
      turn.requestId,
      new Date(turn.atMs),
      turn.question,
      turn.questionCut,
      turn.answer,
      turn.answerCut,
      JSON.stringify(turn.references),
      JSON.stringify(turn.sources),
      turn.model,
      turn.totalMs,
      turn.outcome,
      turn.errorCode,
      turn.bytes,
    ],
  )
}

/** Removes the oldest turns of a conversation, and the oldest conversations of a person with the Space, above their limits. */
async function keepWithinLimits(
  transaction: Queryable,
  spaceId: string,
  { id, personId }: OwnTurn['chat'],
): Promise<void> {
  await removeOwnTurns(
    transaction,
    `SELECT chat_id, number FROM (
       SELECT t.chat_id, t.number, row_number() OVER newest_first AS place, sum(t.bytes) OVER newest_first AS total
         FROM own_chats c JOIN own_chat_turns t ON t.chat_id = c.id
        WHERE c.id = $1 AND (c.turns > $2::int4 OR c.bytes > $3::int8)
       WINDOW newest_first AS (ORDER BY t.number DESC)) counted
      WHERE place > $2::int4 OR total > $3::int8`,
    [id, conversationLimits.turnsPerConversation, conversationLimits.bytesPerConversation],
  )
  await transaction.execute(
    `DELETE FROM own_chats WHERE id IN (
       SELECT id FROM (
         SELECT id, row_number() OVER newest_first AS place, sum(bytes) OVER newest_first AS total
           FROM own_chats WHERE person_id = $1 AND space_id = $2
         WINDOW newest_first AS (ORDER BY last_at DESC, id DESC)) counted
        WHERE place > $3::int8 OR total > $4::int8)`,
    [personId, spaceId, ownLimits.chats, ownLimits.bytes],
  )
}

/**
 * Removes the turns that `chosen` selects: a query with the columns chat_id and number. Keeps the sums of the conversations, and removes those
 * without a turn.
 */
export async function removeOwnTurns(
  transaction: Queryable,
  chosen: string,
  parameters: readonly SqlValue[],
): Promise<Removed> {
  const changed = await transaction.query<{ id: string; left: number; removed: number }>(
    `WITH chosen AS (${chosen}),
       gone AS (
         DELETE FROM own_chat_turns t USING chosen c WHERE t.chat_id = c.chat_id AND t.number = c.number
         RETURNING t.chat_id, t.bytes),
       sums AS (SELECT chat_id, count(*)::int4 AS turns, sum(bytes)::int8 AS bytes FROM gone GROUP BY chat_id)
     UPDATE own_chats c SET turns = c.turns - s.turns, bytes = c.bytes - s.bytes FROM sums s WHERE c.id = s.chat_id
     RETURNING c.id, c.turns AS left, s.turns AS removed`,
    parameters,
  )
  if (changed.length === 0) return { conversations: 0, turns: 0 }
  const empty = changed.filter(({ left }) => left === 0).map(({ id }) => id)
  await transaction.execute(`DELETE FROM own_chats WHERE id = ANY($1::uuid[])`, [empty])
  await transaction.execute(
    `UPDATE own_chats c SET first_at = (SELECT min(at) FROM own_chat_turns WHERE chat_id = c.id) WHERE c.id = ANY($1::uuid[])`,
    [changed.filter(({ left }) => left > 0).map(({ id }) => id)],
  )
  return { conversations: empty.length, turns: changed.reduce((sum, { removed }) => sum + removed, 0) }
}

const titleCharacters = 80

/** The title of a conversation: its first question in one line, cut after a word at 80 characters. Never empty. */
export function titleOf(question: string): string {
  // More than the title needs, so that a long question costs nothing.
  const line = question.slice(0, 1_000).replaceAll(/\s+/gu, ' ').trim()
  if (line === '') return '…'
  if (line.length <= titleCharacters) return line
  const start = line.slice(0, titleCharacters)
  const end = start.lastIndexOf(' ')
  return `${start.slice(0, end > titleCharacters / 2 ? end : titleCharacters).toWellFormed()}…`
}

/** Bounds of what one person keeps of one Space, in addition to those of a conversation. docs/use/conversations.md states them. */
export const ownLimits = {
  /** The oldest are removed first. */
  chats: 1_000,
  /** UTF-8 bytes of all texts. The oldest are removed first. */
  bytes: 64 * 1024 ** 2,
} as const
