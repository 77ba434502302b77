import {
  columnsOf,
  countRows,
  type Database,
  type OwnedDatabase,
  type Queryable,
  type SqlValue,
} from '../../platform/database/index.ts'
import type { ConversationService } from './conversations.ts'
import { countCitingTurns, eraseCitingTurns } from './own/own-erasure.store.ts'
import { removalBatch, type Removed, removeTurns } from './turn-removal.store.ts'

/** Erases the stored turns of one visitor, or those that cite one document, in all Spaces of an organisation. */

export interface TurnSubject {
  organisationId: string
  kind: 'user' | 'document'
  value: string
  /** Of a visitor, questions after it stay. */
  requestedAt: Date
}

export interface RemovedTurns extends Removed {
  spaceId: string
  from: Date
  to: Date
  /** Texts of the unanswered questions among them. */
  unanswered: string[]
}

/** Called in the transaction of the removal. */
type OnRemoved = (transaction: Queryable, removed: RemovedTurns) => Promise<void>

interface Place {
  at: Date
  conversationId: string
  number: number
}

const background = { timeoutMs: 60_000, background: true }

export function createSubjectErasure({
  database,
  service,
}: {
  database: Database
  service: Pick<ConversationService, 'flush' | 'sweep'>
}) {
  return {
    /** What this instance has not written yet is erased as well. */
    async erase(subject: TurnSubject, onRemoved: OnRemoved, signal: AbortSignal): Promise<void> {
      await service.flush()
      await service.sweep()
      const own = database.for(subject.organisationId)
      for await (const { store, places } of findTurns(own, subject, signal)) {
        await own.transaction((transaction) => removePlaces(transaction, store, places, onRemoved), background)
      }
      if (subject.kind === 'document')
        await eraseCitingTurns(
          own,
          documentOf(subject),
          (transaction, removed) => onRemoved(transaction, { ...removed, unanswered: [] }),
          signal,
        )
    },
    /** Stores that are detached from their Spaces count as one each: a sweep deletes them soon. */
    async countLeft(subject: TurnSubject, signal: AbortSignal): Promise<number> {
      const own = database.for(subject.organisationId)
      let left = await countRows(own, 'conversation_stores WHERE space_id IS NULL', [], background)
      for await (const { places } of findTurns(own, subject, signal)) left += places.length
      if (subject.kind === 'document') left += await countCitingTurns(own, documentOf(subject), signal)
      return left
    },
  }
}

/** People in the console are no visitors; their conversations may cite the document. */
const documentOf = ({ organisationId, value }: TurnSubject) => ({ organisationId, documentId: value })

interface Store {
  id: string
  spaceId: string
}

/** Pages of turns of the subject, of one Space each. A page may be removed before the next one is read. */
async function* findTurns(database: OwnedDatabase, subject: TurnSubject, signal: AbortSignal) {
  const stores = await database.query<Store>(
    `SELECT k.id, k.space_id AS "spaceId" FROM conversation_stores k JOIN spaces s ON s.id = k.space_id
      WHERE s.organisation_id = $1 ORDER BY k.id`,
    [subject.organisationId],
    background,
  )
  for (const store of stores) {
    for (let after: Place | undefined; ;) {
      signal.throwIfAborted()
      const page = await loadPage(database, store.id, subject, after)
      const places = page.filter(({ isSubject }) => isSubject)
      if (places.length > 0) yield { store, places }
      if (page.length < removalBatch) break
      after = page.at(-1)
    }
  }
}

/** The turns of a visitor have an index; for a document every turn is read. */
function loadPage(database: OwnedDatabase, storeId: string, { kind, value, requestedAt }: TurnSubject, after?: Place) {
  const isUser = kind === 'user'
  const parameters: SqlValue[] = isUser
    ? [storeId, value, requestedAt]
    : [storeId, JSON.stringify([{ documentId: value.toLowerCase() }])]
  const condition = isUser ? 'user_tag = $2 AND at <= $3' : 'true'
  const place: SqlValue[] = after ? [after.at, after.conversationId, after.number] : []
  const [at, id, number] = place.map((_value, index) => `$${parameters.length + index + 1}`)
  return database.query<Place & { isSubject: boolean }>(
    `SELECT conversation_id AS "conversationId", number, at, ${isUser ? 'true' : 'cited @> $2::jsonb'} AS "isSubject"
       FROM conversation_turns
      WHERE store_id = $1 AND ${condition}
        ${after ? `AND (at, conversation_id, number) > (${at}, ${id}::uuid, ${number}::int4)` : ''}
      ORDER BY at, conversation_id, number LIMIT ${removalBatch}`,
    [...parameters, ...place],
    background,
  )
}

async function removePlaces(
  transaction: Queryable,
  { id, spaceId }: Store,
  places: readonly Place[],
  onRemoved: OnRemoved,
): Promise<void> {
  await transaction.query(`SELECT FROM conversation_stores WHERE id = $1 FOR UPDATE`, [id])
  const chosen = columnsOf(places, 'conversationId', 'number')
  const given = `unnest($1::uuid[], $2::int4[]) AS given (conversation_id, number)`
  const rows = await transaction.query<{ at: Date; unanswered: boolean; question: string | null }>(
    `SELECT at, CASE WHEN unanswered THEN question END AS question FROM conversation_turns JOIN ${given} USING (conversation_id, number)`,
    chosen,
  )
  if (rows.length === 0) return
  const removed = await removeTurns(transaction, id, `SELECT conversation_id, number FROM ${given}`, chosen)
  const times = rows.map(({ at }) => at).toSorted((a, b) => a.getTime() - b.getTime())
  const unanswered = rows.flatMap(({ question }) => question ?? [])
  await onRemoved(transaction, { ...removed, spaceId, from: times[0]!, to: times.at(-1)!, unanswered })
}
