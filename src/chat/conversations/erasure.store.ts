import type { OwnedDatabase, Queryable, SqlValue } from '../../platform/database/index.ts'
import { type Actor, recordAdminChange } from '../../tenants/operators/index.ts'
import type { OrganisationId } from '../../platform/kernel/index.ts'
import type { Erasure } from './erasure.ts'
import { removalBatch, type Removed, removeTurns } from './turn-removal.store.ts'

/** Who changes what, for the admin log. */
export interface LoggedChange {
  organisationId: string
  spaceId: string
  actor: Actor
  atMs: number
}

const options = { timeoutMs: 60_000, background: true }

/** Erases in short transactions until nothing is left, and writes one entry of the admin log, also when it fails halfway. */
export async function erase(database: OwnedDatabase, change: LoggedChange, erasure: Erasure): Promise<Removed> {
  if (erasure.scope === 'space') return eraseAll(database, change)
  const total: Removed = { conversations: 0, turns: 0 }
  const add = ({ conversations, turns }: Removed) => {
    total.conversations += conversations
    total.turns += turns
  }
  try {
    for (let removed = removalBatch; removed === removalBatch;) {
      const batch = await eraseBatch(database, change, erasure)
      removed = batch.turns
      add(batch)
    }
  } finally {
    if (total.turns > 0) await log(database, change, erasure, total)
  }
  return total
}

const eraseBatch = (
  database: OwnedDatabase,
  { spaceId, atMs }: LoggedChange,
  erasure: Exclude<Erasure, { scope: 'space' }>,
) =>
  database.transaction(async (transaction) => {
    const [store] = await transaction.query<{ id: string }>(
      `SELECT id FROM conversation_stores WHERE space_id = $1 FOR UPDATE`,
      [spaceId],
    )
    if (!store) return { conversations: 0, turns: 0 }
    const { where, parameters } = conditionOf(erasure, new Date(atMs))
    return removeTurns(
      transaction,
      store.id,
      `SELECT conversation_id, number FROM conversation_turns WHERE store_id = $1 AND ${where} LIMIT $2::int8`,
      [store.id, removalBatch, ...parameters],
    )
  }, options)

/** Turns that are stored after the request began are newer than it. */
function conditionOf(
  erasure: Exclude<Erasure, { scope: 'space' }>,
  requestedAt: Date,
): { where: string; parameters: SqlValue[] } {
  switch (erasure.scope) {
    case 'conversation':
      return { where: 'conversation_id = $3::uuid', parameters: [erasure.conversationId] }
    case 'user':
      return { where: 'user_tag = $3::text AND at <= $4', parameters: [erasure.user, requestedAt] }
    case 'time':
      return {
        where: '($3::timestamptz IS NULL OR at >= $3) AND at < $4',
        parameters: [erasure.from, erasure.to ?? requestedAt],
      }
  }
}

/** Detaches the whole store from its Space: it can no longer be read, and a job deletes its rows. */
const eraseAll = (database: OwnedDatabase, change: LoggedChange): Promise<Removed> =>
  database.transaction(async (transaction) => {
    const [store] = await transaction.query<{ conversations: bigint; turns: bigint }>(
      `UPDATE conversation_stores SET space_id = NULL WHERE space_id = $1 RETURNING conversations, turns`,
      [change.spaceId],
    )
    const removed = { conversations: Number(store?.conversations ?? 0n), turns: Number(store?.turns ?? 0n) }
    if (removed.turns > 0) await log(transaction, change, { scope: 'space' }, removed)
    return removed
  })

/** Neither a text nor the value of `user`. */
function log(database: Queryable, change: LoggedChange, erasure: Erasure, { conversations, turns }: Removed) {
  const { organisationId, spaceId, actor, atMs } = change
  const times = erasure.scope === 'time' && {
    ...(erasure.from && { from: erasure.from.toISOString() }),
    ...(erasure.to && { to: erasure.to.toISOString() }),
  }
  return recordAdminChange(database, {
    actor,
    atMs,
    action: 'conversations.removed',
    subjectType: 'space',
    subjectId: spaceId,
    organisationId: organisationId as OrganisationId,
    before: { scope: erasure.scope, ...times, conversations, turns },
  })
}

/** The admin log has who exported conversations, and of what time. */
export function logExport(
  database: Queryable,
  { organisationId, spaceId, actor, atMs }: LoggedChange,
  filter: Record<string, unknown>,
) {
  return recordAdminChange(database, {
    actor,
    atMs,
    action: 'conversations.exported',
    subjectType: 'space',
    subjectId: spaceId,
    organisationId: organisationId as OrganisationId,
    after: filter,
  })
}
