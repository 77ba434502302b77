import type { AnswerRatingBody } from '../../contract/answer-ratings.ts'
import type { OwnedDatabase } from '../../platform/database/index.ts'

const points = { up: 1, down: -1 } as const

/** Replaces the rating of a stored answer; null removes it. False if the Space has not stored an answer of this request, for this user if one is given. */
export function rateTurn(
  database: OwnedDatabase,
  { spaceId, requestId, user, atMs }: { spaceId: string; requestId: string; user: string | null; atMs: number },
  given: AnswerRatingBody | null,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const [turn] = await transaction.query<{ conversationId: string; number: number; isDisliked: boolean }>(
      `SELECT t.conversation_id AS "conversationId", t.number, coalesce(t.rating = -1, false) AS "isDisliked"
         FROM conversation_stores k JOIN conversation_turns t ON t.store_id = k.id
        WHERE k.space_id = $1 AND t.request_id = $2 AND ($3::text IS NULL OR t.user_tag = $3) FOR UPDATE OF k`,
      [spaceId, requestId, user],
    )
    if (!turn) return false
    const { conversationId, number, isDisliked } = turn
    await transaction.execute(
      `UPDATE conversation_turns SET rating = $3::int2, rating_reason = $4, rated_at = $5
        WHERE conversation_id = $1::uuid AND number = $2::int4`,
      [conversationId, number, given && points[given.rating], given?.reason || null, given && new Date(atMs)],
    )
    const change = Number(given?.rating === 'down') - Number(isDisliked)
    if (change !== 0)
      await transaction.execute(`UPDATE conversations SET disliked = disliked + $2::int4 WHERE id = $1::uuid`, [
        conversationId,
        change,
      ])
    return true
  })
}
