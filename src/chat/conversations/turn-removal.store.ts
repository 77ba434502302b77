import type { Queryable, SqlValue } from '../../platform/database/index.ts'

export interface Removed {
  /** Conversations of which nothing is left. */
  conversations: number
  turns: number
}

/** Most turns that one transaction removes: other statements of the embedded engine wait for it. */
export const removalBatch = 500

/**
 * Removes the turns that `chosen` selects: a query with the columns conversation_id and number, of one store, whose row the caller has
 * locked. Keeps the sums of the conversations and of the store.
 */
export async function removeTurns(
  transaction: Queryable,
  storeId: string,
  chosen: string,
  parameters: readonly SqlValue[],
): Promise<Removed> {
  const changed = await transaction.query<{ id: string; left: number; removed: number; bytes: bigint }>(
    `WITH chosen AS (${chosen}),
       gone AS (
         DELETE FROM conversation_turns t USING chosen c
          WHERE t.conversation_id = c.conversation_id AND t.number = c.number
         RETURNING t.conversation_id, t.bytes, t.outcome, t.unanswered, t.rating, t.billed_pico_usd),
       sums AS (
         SELECT conversation_id, count(*)::int4 AS turns, sum(bytes)::int8 AS bytes,
           count(*) FILTER (WHERE outcome <> 'complete')::int4 AS failed,
           count(*) FILTER (WHERE unanswered)::int4 AS unanswered,
           count(*) FILTER (WHERE rating = -1)::int4 AS disliked,
           coalesce(sum(billed_pico_usd), 0)::int8 AS billed
           FROM gone GROUP BY conversation_id)
     UPDATE conversations v SET turns = v.turns - s.turns, bytes = v.bytes - s.bytes, failed = v.failed - s.failed,
       unanswered = v.unanswered - s.unanswered, disliked = v.disliked - s.disliked,
       billed_pico_usd = v.billed_pico_usd - s.billed
       FROM sums s WHERE v.id = s.conversation_id
     RETURNING v.id, v.turns AS left, s.turns AS removed, s.bytes`,
    parameters,
  )
  if (changed.length === 0) return { conversations: 0, turns: 0 }
  const empty = changed.filter(({ left }) => left === 0)
  await transaction.execute(`DELETE FROM conversations WHERE id = ANY($1::uuid[])`, [empty.map(({ id }) => id)])
  await setTimes(
    transaction,
    changed.flatMap(({ id, left }) => (left > 0 ? [id] : [])),
  )
  const turns = changed.reduce((sum, { removed }) => sum + removed, 0)
  await transaction.execute(
    `UPDATE conversation_stores SET conversations = conversations - $2::int8, turns = turns - $3::int8,
       bytes = bytes - $4::int8
     WHERE id = $1`,
    [storeId, empty.length, turns, changed.reduce((sum, { bytes }) => sum + bytes, 0n)],
  )
  return { conversations: empty.length, turns }
}

/** Beginning and end of conversations that have lost turns. */
async function setTimes(transaction: Queryable, conversationIds: readonly string[]) {
  if (conversationIds.length === 0) return
  await transaction.execute(
    `UPDATE conversations v SET started_at = t.first, last_at = t.last
       FROM (SELECT conversation_id, min(at) AS first, max(at) AS last FROM conversation_turns
              WHERE conversation_id = ANY($1::uuid[]) GROUP BY conversation_id) t
      WHERE v.id = t.conversation_id`,
    [conversationIds],
  )
}
