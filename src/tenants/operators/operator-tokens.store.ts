import type { AdminAction } from '../../contract/admin-log.ts'
import type { OwnedDatabase, RecordChange } from '../../platform/database/index.ts'
import type { StoredCredential } from '../../platform/kernel/index.ts'
import type { Actor } from './admin-log.ts'
import { recordAdminChange } from './admin-log.store.ts'

export const operatorTokenTopic = 'operator-token'
/** The topic has one row, so all changes have the same id. */
const onlyId = 'only'

export type OperatorTokenStore = ReturnType<typeof createOperatorTokenStore>

export function createOperatorTokenStore(database: OwnedDatabase, recordChange: RecordChange) {
  async function write(
    token: StoredCredential,
    actor: Actor,
    nowMs: number,
    {
      onConflict,
      action,
      beforeCommit,
    }: { onConflict: string; action: AdminAction; beforeCommit?: () => Promise<void> },
  ) {
    return database.transaction(async (transaction) => {
      const [before = null] = await transaction.query<{ prefix: string; lastFour: string }>(
        `SELECT prefix, last_four AS "lastFour" FROM operator_token FOR UPDATE`,
      )
      const written = await transaction.execute(
        `INSERT INTO operator_token (token_hash, prefix, last_four, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (only_row) ${onConflict}`,
        [token.hash, token.prefix, token.lastFour, new Date(nowMs)],
      )
      if (written === 0) return false
      await recordAdminChange(transaction, {
        actor,
        atMs: nowMs,
        action,
        subjectType: 'operator_token',
        subjectId: onlyId,
        organisationId: null,
        before,
        after: { prefix: token.prefix, lastFour: token.lastFour },
      })
      await recordChange(transaction, operatorTokenTopic, onlyId)
      await beforeCommit?.()
      return true
    })
  }

  return {
    /** Hash of the current token. */
    async loadHash(): Promise<Uint8Array | null> {
      const [row] = await database.query<{ hash: Uint8Array }>(`SELECT token_hash AS hash FROM operator_token`)
      return row?.hash ?? null
    },
    /** Stores the token unless one exists. Resolves to true if it was stored; `beforeCommit` runs before the commit. */
    insertFirst: (
      token: StoredCredential,
      actor: Actor,
      nowMs: number,
      beforeCommit: () => Promise<void>,
    ): Promise<boolean> =>
      write(token, actor, nowMs, { onConflict: 'DO NOTHING', action: 'operator_token.created', beforeCommit }),
    async replace(token: StoredCredential, actor: Actor, nowMs: number): Promise<void> {
      const onConflict = `DO UPDATE SET token_hash = excluded.token_hash, prefix = excluded.prefix,
        last_four = excluded.last_four, created_at = excluded.created_at`
      await write(token, actor, nowMs, { onConflict, action: 'operator_token.rotated' })
    },
  }
}
