import { columnsOf, DatabaseError, type OwnedDatabase, type Queryable } from '../../platform/database/index.ts'
import { createUuid, describeError } from '../../platform/kernel/index.ts'
import { conversationLimits } from './limits.ts'
import { type KnownTurn, type PlacedTurn, placeTurns } from './place-turns.ts'
import { addOwnTurns } from './own/own-turns.store.ts'
import {
  lockKeepingSpace,
  type SubjectDigest,
  withoutErased,
  withoutStored,
  writeOptions,
} from './storable-turns.store.ts'
import type { NewTurn, OwnTurn } from './turn.ts'
import { removalBatch, removeTurns } from './turn-removal.store.ts'

/** Turns with the same messages that are looked at: the newest of them. */
const maximumAlike = 20

export interface WriteFailure {
  /** For the log: without a value of a row. */
  reason: string
  /** The same write may succeed later. */
  isUnavailable: boolean
}

interface WriteContext {
  nowMs: number
  subjectDigest: SubjectDigest
}

/**
 * Stores turns of one Space, in their order. A turn whose Space no longer keeps conversations is left out, and so is one that is stored or
 * whose visitor or document was erased.
 */
export async function writeTurns(
  database: OwnedDatabase,
  spaceId: string,
  turns: readonly NewTurn[],
  { nowMs, subjectDigest }: WriteContext,
): Promise<WriteFailure | undefined> {
  try {
    const ofVisitors = turns.filter(({ chat }) => chat === undefined)
    if (ofVisitors.length > 0) await addTurns(database, spaceId, ofVisitors, { nowMs, subjectDigest })
    const ofPeople = turns.filter((turn): turn is OwnTurn => turn.chat !== undefined)
    if (ofPeople.length > 0) await addOwnTurns(database, spaceId, ofPeople, subjectDigest)
    return undefined
  } catch (error) {
    if (!(error instanceof DatabaseError)) return { reason: describeError(error), isUnavailable: false }
    // The message of a database error may quote a value.
    return { reason: error.code, isUnavailable: error.isUnavailable }
  }
}

function addTurns(
  database: OwnedDatabase,
  spaceId: string,
  turns: readonly NewTurn[],
  { nowMs, subjectDigest }: WriteContext,
): Promise<void> {
  return database.transaction(async (transaction) => {
    if (!(await lockKeepingSpace(transaction, spaceId))) return
    const storeId = await lockStore(transaction, spaceId, nowMs)
    const added = await withoutErased(
      transaction,
      await withoutStored(transaction, 'conversation_turns', turns),
      subjectDigest,
    )
    if (added.length === 0) return
    const known = await findKnown(transaction, storeId, added)
    const placed = placeTurns(added, known, () => createUuid(nowMs))
    await addToConversations(transaction, storeId, placed)
    await insertTurns(transaction, storeId, placed)
    await keepWithinLimits(
      transaction,
      storeId,
      placed.map(({ conversationId }) => conversationId),
    )
  }, writeOptions)
}

async function lockStore(transaction: Queryable, spaceId: string, nowMs: number): Promise<string> {
  await transaction.execute(
    `INSERT INTO conversation_stores (id, space_id, conversations, turns, bytes) VALUES ($1, $2, 0, 0, 0)
     ON CONFLICT (space_id) DO NOTHING`,
    [createUuid(nowMs), spaceId],
  )
  const [store] = await transaction.query<{ id: string }>(
    `SELECT id FROM conversation_stores WHERE space_id = $1 FOR UPDATE`,
    [spaceId],
  )
  return store!.id
}

/** A write is repeated when its commit was not confirmed. */
async function findKnown(transaction: Queryable, storeId: string, turns: readonly NewTurn[]) {
  const chains = [...new Set(turns.flatMap(({ known }) => known.map(({ chain }) => chain)))]
  const found = new Map<string, KnownTurn[]>()
  if (chains.length === 0) return found
  const rows = await transaction.query<Omit<KnownTurn, 'atMs'> & { chain: string; at: Date }>(
    `SELECT given.chain, t.conversation_id AS "conversationId", t.number, v.last_number AS "lastNumber", t.at,
       NOT EXISTS (SELECT FROM conversation_turns n
                    WHERE n.conversation_id = t.conversation_id AND n.follows = t.number) AS "isLast"
       FROM unnest($2::text[]) AS given (chain)
       CROSS JOIN LATERAL (
         SELECT conversation_id, number, at FROM conversation_turns
          WHERE store_id = $1 AND chain = decode(given.chain, 'hex') ORDER BY at DESC LIMIT $3::int8) t
       JOIN conversations v ON v.id = t.conversation_id`,
    [storeId, chains, maximumAlike],
  )
  for (const { chain, at, ...row } of rows)
    found.set(chain, [...(found.get(chain) ?? []), { ...row, atMs: at.getTime() }])
  return found
}

async function addToConversations(transaction: Queryable, storeId: string, placed: readonly PlacedTurn[]) {
  const byId = new Map<string, PlacedTurn[]>()
  for (const turn of placed) byId.set(turn.conversationId, [...(byId.get(turn.conversationId) ?? []), turn])
  const rows = [...byId.values()].map((turns) => {
    const times = turns.map(({ turn }) => turn.atMs)
    return {
      turns: turns.length,
      user: turns[0]!.turn.user,
      startedAtMs: Math.min(...times),
      lastAtMs: Math.max(...times),
      lastNumber: turns.at(-1)!.number,
      failed: turns.filter(({ turn }) => turn.outcome !== 'complete').length,
      unanswered: turns.filter(({ turn }) => isUnanswered(turn)).length,
      bytes: turns.reduce((sum, { bytes }) => sum + bytes, 0),
      billed: turns.reduce((sum, { turn }) => sum + (turn.billedPicoUsd ?? 0n), 0n),
    }
  })
  const [added] = await transaction.query<{ conversations: number }>(
    `WITH written AS (
       INSERT INTO conversations (id, store_id, user_tag, started_at, last_at, last_number, turns, failed, unanswered, bytes, billed_pico_usd)
       SELECT n.id, $1, n.user_tag, n.started_at, n.last_at, n.last_number, n.turns, n.failed, n.unanswered, n.bytes, n.billed
         FROM unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::int4[], $7::int4[], $8::int4[],
                $9::int4[], $10::int8[], $11::int8[])
           AS n (id, user_tag, started_at, last_at, last_number, turns, failed, unanswered, bytes, billed)
       ON CONFLICT (id) DO UPDATE SET last_at = greatest(conversations.last_at, excluded.last_at),
         last_number = excluded.last_number, turns = conversations.turns + excluded.turns,
         failed = conversations.failed + excluded.failed, unanswered = conversations.unanswered + excluded.unanswered,
         bytes = conversations.bytes + excluded.bytes,
         billed_pico_usd = conversations.billed_pico_usd + excluded.billed_pico_usd
       RETURNING turns, last_number)
     SELECT count(*) FILTER (WHERE NOT EXISTS (SELECT FROM conversations v WHERE v.id = given.id))::int4 AS conversations
       FROM unnest($2::uuid[]) AS given (id)`,
    [
      storeId,
      [...byId.keys()],
      ...columnsOf(
        rows,
        'user',
        ({ startedAtMs }) => new Date(startedAtMs),
        ({ lastAtMs }) => new Date(lastAtMs),
      ),
      ...columnsOf(rows, 'lastNumber', 'turns', 'failed', 'unanswered', 'bytes', 'billed'),
    ],
  )
  await transaction.execute(
    `UPDATE conversation_stores SET conversations = conversations + $2::int8, turns = turns + $3::int8,
       bytes = bytes + $4::int8
     WHERE id = $1`,
    [storeId, added!.conversations, placed.length, rows.reduce((sum, { bytes }) => sum + bytes, 0)],
  )
}

/** Complete, and nothing is cited. */
const isUnanswered = ({ outcome, references }: NewTurn) => outcome === 'complete' && references.length === 0

async function insertTurns(transaction: Queryable, storeId: string, placed: readonly PlacedTurn[]) {
  const of = <Value>(read: (turn: NewTurn, place: PlacedTurn) => Value) =>
    placed.map((place) => read(place.turn, place))
  await transaction.execute(
    `INSERT INTO conversation_turns (conversation_id, number, store_id, user_tag, follows, chain, request_id, at, given, question,
       question_cut, answer, answer_cut, cited, sources, receipts, model, billed_pico_usd, first_text_ms, total_ms, outcome,
       error_code, unanswered, bytes)
     SELECT n.conversation_id, n.number, $1, n.user_tag, n.follows, decode(n.chain, 'hex'), n.request_id, n.at, n.given::jsonb,
       n.question, n.question_cut, n.answer, n.answer_cut, n.cited::jsonb, n.sources::jsonb,
       array(SELECT jsonb_array_elements_text(n.receipts::jsonb)), n.model, n.billed, n.first_text_ms, n.total_ms, n.outcome,
       n.error_code, n.unanswered, n.bytes
       FROM unnest($2::uuid[], $3::int4[], $4::text[], $5::int4[], $6::text[], $7::text[], $8::timestamptz[], $9::text[],
              $10::text[], $11::bool[], $12::text[], $13::bool[], $14::text[], $15::text[], $16::text[], $17::text[], $18::int8[],
              $19::int4[], $20::int4[], $21::text[], $22::text[], $23::bool[], $24::int4[])
         AS n (conversation_id, number, user_tag, follows, chain, request_id, at, given, question, question_cut, answer, answer_cut,
               cited, sources, receipts, model, billed, first_text_ms, total_ms, outcome, error_code, unanswered, bytes)`,
    [
      storeId,
      of((_turn, { conversationId }) => conversationId),
      of((_turn, { number }) => number),
      of(({ user }) => user),
      of((_turn, { follows }) => follows),
      of(({ chain }) => chain),
      of(({ requestId }) => requestId),
      of(({ atMs }) => new Date(atMs)),
      of((_turn, { given }) => given && JSON.stringify(given)),
      of(({ question }) => question),
      of(({ questionCut }) => questionCut),
      of(({ answer }) => answer),
      of(({ answerCut }) => answerCut),
      of(({ references }) => JSON.stringify(references)),
      of(({ sources }) => JSON.stringify(sources)),
      of(({ receipts }) => JSON.stringify(receipts)),
      of(({ model }) => model),
      of(({ billedPicoUsd }) => billedPicoUsd),
      of(({ firstTextMs }) => firstTextMs),
      of(({ totalMs }) => totalMs),
      of(({ outcome }) => outcome),
      of(({ errorCode }) => errorCode),
      of(isUnanswered),
      of((_turn, { bytes }) => bytes),
    ],
  )
}

/** Removes the oldest turns of conversations, and of the Space, that are above their limits. */
async function keepWithinLimits(transaction: Queryable, storeId: string, conversationIds: readonly string[]) {
  const { turnsPerConversation, bytesPerConversation, turnsPerSpace, bytesPerSpace } = conversationLimits
  await removeTurns(
    transaction,
    storeId,
    `SELECT conversation_id, number FROM (
       SELECT t.conversation_id, t.number,
         row_number() OVER newest_first AS place, sum(t.bytes) OVER newest_first AS total
         FROM conversations v JOIN conversation_turns t ON t.conversation_id = v.id
        WHERE v.id = ANY($1::uuid[]) AND (v.turns > $2::int4 OR v.bytes > $3::int8)
       WINDOW newest_first AS (PARTITION BY t.conversation_id ORDER BY t.number DESC)) AS counted
      WHERE place > $2::int4 OR total > $3::int8`,
    [[...new Set(conversationIds)], turnsPerConversation, bytesPerConversation],
  )
  const [store] = await transaction.query<{ turns: bigint; bytes: bigint }>(
    `SELECT turns, bytes FROM conversation_stores WHERE id = $1`,
    [storeId],
  )
  const [turnsAbove, bytesAbove] = [Number(store!.turns) - turnsPerSpace, Number(store!.bytes) - bytesPerSpace]
  if (turnsAbove <= 0 && bytesAbove <= 0) return
  await removeTurns(
    transaction,
    storeId,
    `SELECT conversation_id, number FROM (
       SELECT conversation_id, number, row_number() OVER oldest_first AS place,
         sum(bytes) OVER oldest_first - bytes AS before
         FROM (SELECT conversation_id, number, at, bytes FROM conversation_turns WHERE store_id = $1
                ORDER BY at, conversation_id, number LIMIT $4::int8) oldest
       WINDOW oldest_first AS (ORDER BY at, conversation_id, number)) AS counted
      WHERE place <= $2::int8 OR before < $3::int8`,
    [storeId, turnsAbove, bytesAbove, removalBatch],
  )
}
