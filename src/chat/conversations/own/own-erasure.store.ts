import { columnsOf, countRows, type OwnedDatabase, type Queryable } from '../../../platform/database/index.ts'
import { type Removed } from '../turn-removal.store.ts'
import { removeOwnTurns } from './own-turns.store.ts'

const options = { timeoutMs: 60_000, background: true }
const chatsPerPage = 100

interface CitingTurn {
  chatId: string
  number: number
  at: Date
}

/** What cites one document in the conversations of people with the Spaces of an organisation. */
export interface CitedDocument {
  organisationId: string
  documentId: string
}

export interface RemovedOwnTurns extends Removed {
  spaceId: string
  from: Date
  to: Date
}

/** Removes the turns that cite the document; `onRemoved` is called in each transaction. */
export async function eraseCitingTurns(
  database: OwnedDatabase,
  document: CitedDocument,
  onRemoved: (transaction: Queryable, removed: RemovedOwnTurns) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for await (const { spaceId, turns } of findCitingTurns(database, document, signal))
    await database.transaction(async (transaction) => {
      const removed = await removeOwnTurns(
        transaction,
        `SELECT chat_id, number FROM unnest($1::uuid[], $2::int4[]) AS given (chat_id, number)`,
        columnsOf(turns, 'chatId', 'number'),
      )
      if (removed.turns === 0) return
      const times = turns.map(({ at }) => at).toSorted((left, right) => left.getTime() - right.getTime())
      await onRemoved(transaction, { ...removed, spaceId, from: times[0]!, to: times.at(-1)! })
    }, options)
}

/** Conversations of deleted Spaces count as one each: a sweep deletes them soon. */
export async function countCitingTurns(
  database: OwnedDatabase,
  document: CitedDocument,
  signal: AbortSignal,
): Promise<number> {
  let left = await countRows(database, 'own_chats WHERE space_id IS NULL', [], options)
  for await (const { turns } of findCitingTurns(database, document, signal)) left += turns.length
  return left
}

/** Reads every turn of the organisation, in pages; yields those of one conversation at a time. */
async function* findCitingTurns(
  database: OwnedDatabase,
  { organisationId, documentId }: CitedDocument,
  signal: AbortSignal,
) {
  const cited = JSON.stringify([{ documentId: documentId.toLowerCase() }])
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    signal.throwIfAborted()
    const chats = await database.query<{ id: string; spaceId: string }>(
      `SELECT c.id, c.space_id AS "spaceId" FROM own_chats c JOIN spaces s ON s.id = c.space_id
        WHERE s.organisation_id = $1 AND c.id > $2 ORDER BY c.id LIMIT ${chatsPerPage}`,
      [organisationId, after],
      options,
    )
    const found = await database.query<CitingTurn>(
      `SELECT chat_id AS "chatId", number, at FROM own_chat_turns WHERE chat_id = ANY($1::uuid[]) AND cited @> $2::jsonb`,
      [chats.map(({ id }) => id), cited],
      options,
    )
    for (const { id, spaceId } of chats) {
      const turns = found.filter(({ chatId }) => chatId === id)
      if (turns.length > 0) yield { spaceId, turns }
    }
    if (chats.length < chatsPerPage) return
    after = chats.at(-1)!.id
  }
}
