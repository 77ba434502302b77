import type { OwnedDatabase } from '../../../platform/database/index.ts'
import { removeOwnTurns } from './own-turns.store.ts'

const options = { timeoutMs: 60_000, background: true }
const chatsPerPage = 500
const removedAtOnce = 10

/**
 * Deletes, in short transactions, turns that are older than their Space keeps them, and conversations whose Space keeps none, whose account
 * was deleted, or whose person has left the organisation.
 */
export async function removeOldOwn(database: OwnedDatabase, nowMs: number, signal: AbortSignal): Promise<void> {
  let after = '00000000-0000-0000-0000-000000000000'
  while (!signal.aborted) {
    const chats = await database.query<{ id: string; before: Date | null; isGone: boolean; hasOld: boolean }>(
      `SELECT id, before, "isGone", coalesce(first_at < before, false) AS "hasOld" FROM (
         SELECT c.id, c.first_at,
           $1::timestamptz - make_interval(days => coalesce((s.settings->>'conversationDays')::int4, 30)) AS before,
           NOT coalesce((s.settings->>'keepConversations')::bool, false) OR p.id IS NULL
             OR NOT (p.is_operator OR EXISTS (
               SELECT FROM people_memberships m WHERE m.person_id = p.id AND m.organisation_id = s.organisation_id)) AS "isGone"
           FROM own_chats c LEFT JOIN spaces s ON s.id = c.space_id LEFT JOIN people p ON p.id = c.person_id
          WHERE c.id > $2 ORDER BY c.id LIMIT ${chatsPerPage}) checked ORDER BY id`,
      [new Date(nowMs), after],
      options,
    )
    const gone = chats.filter(({ isGone }) => isGone).map(({ id }) => id)
    for (let first = 0; first < gone.length && !signal.aborted; first += removedAtOnce)
      await database.execute(
        `DELETE FROM own_chats WHERE id = ANY($1::uuid[])`,
        [gone.slice(first, first + removedAtOnce)],
        options,
      )
    for (const { id, before } of chats.filter(({ isGone, hasOld }) => hasOld && !isGone)) {
      if (signal.aborted) return
      const old = `SELECT chat_id, number FROM own_chat_turns WHERE chat_id = $1 AND at < $2`
      await database.transaction((transaction) => removeOwnTurns(transaction, old, [id, before]), options)
    }
    if (chats.length < chatsPerPage) return
    after = chats.at(-1)!.id
  }
}
