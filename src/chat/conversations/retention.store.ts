import type { OwnedDatabase } from '../../platform/database/index.ts'
import { removalBatch, removeTurns } from './turn-removal.store.ts'

const options = { timeoutMs: 60_000, background: true }
const storesPerPage = 100

/** Deletes, in short transactions, what is detached from its Space and what is older than the Space keeps it. */
export async function removeOld(database: OwnedDatabase, nowMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await deleteDetached(database))) continue
  let after = '00000000-0000-0000-0000-000000000000'
  while (!signal.aborted) {
    const stores = await database.query<{ id: string; before: Date; hasOld: boolean }>(
      `SELECT *, EXISTS (SELECT FROM conversation_turns t WHERE t.store_id = old.id AND t.at < old.before) AS "hasOld"
         FROM (
           SELECT k.id, $1::timestamptz - make_interval(days => coalesce((s.settings->>'conversationDays')::int4, 30)) AS before
             FROM conversation_stores k JOIN spaces s ON s.id = k.space_id
            WHERE k.id > $2 ORDER BY k.id LIMIT $3::int8) old
        ORDER BY id`,
      [new Date(nowMs), after, storesPerPage],
      options,
    )
    for (const { id, before } of stores.filter(({ hasOld }) => hasOld))
      while (!signal.aborted && (await removeBefore(database, id, before)) === removalBatch) continue
    if (stores.length < storesPerPage) return
    after = stores.at(-1)!.id
  }
}

const removeBefore = (database: OwnedDatabase, storeId: string, before: Date) =>
  database.transaction(async (transaction) => {
    await transaction.query(`SELECT FROM conversation_stores WHERE id = $1 FOR UPDATE`, [storeId])
    const { turns } = await removeTurns(
      transaction,
      storeId,
      `SELECT conversation_id, number FROM conversation_turns WHERE store_id = $1 AND at < $2
        ORDER BY at, conversation_id, number LIMIT $3::int8`,
      [storeId, before, removalBatch],
    )
    return turns
  }, options)

/** Deletes a part of one detached store. False: there is none that another instance does not work on. */
const deleteDetached = (database: OwnedDatabase): Promise<boolean> =>
  database.transaction(async (transaction) => {
    const [store] = await transaction.query<{ id: string }>(
      `SELECT id FROM conversation_stores WHERE space_id IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`,
    )
    if (!store) return false
    const of = [store.id, removalBatch]
    const turns = await transaction.execute(
      `DELETE FROM conversation_turns t USING (
         SELECT conversation_id, number FROM conversation_turns WHERE store_id = $1 LIMIT $2::int8) old
        WHERE t.conversation_id = old.conversation_id AND t.number = old.number`,
      of,
    )
    if (turns > 0) return true
    const conversations = await transaction.execute(
      `DELETE FROM conversations WHERE id IN (SELECT id FROM conversations WHERE store_id = $1 LIMIT $2::int8)`,
      of,
    )
    if (conversations === 0) await transaction.execute(`DELETE FROM conversation_stores WHERE id = $1`, [store.id])
    return true
  }, options)
