import type { Database } from '../database/index.ts'
import type { PasswordReset } from './person.ts'
import { type Change, record, removeSecondFactor, setPassword } from './people.store.ts'

const columns = `r.person_id AS "personId", p.email, p.name, r.removes_second_factor AS "removesSecondFactor",
  r.expires_at AS "expiresAt"`
const source = `people_password_resets r JOIN people p ON p.id = r.person_id`

/** Links with which a person sets a new password, once. */
export function createPasswordResetStore(database: Database) {
  return {
    /** Replaces an open link of the person. Resolves to undefined if there is no such person. */
    insert: (
      given: { personId: string; tokenHash: string; removesSecondFactor: boolean; expiresAt: Date },
      change: Change,
    ): Promise<PasswordReset | undefined> =>
      database.transaction(async (transaction) => {
        const { personId, tokenHash, removesSecondFactor, expiresAt } = given
        const [person] = await transaction.query(`SELECT 1 FROM people WHERE id = $1 FOR UPDATE`, [personId])
        if (!person) return undefined
        await transaction.execute(
          `INSERT INTO people_password_resets (person_id, token_hash, removes_second_factor, created_at, expires_at)
           VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (person_id) DO UPDATE SET token_hash = excluded.token_hash, created_at = excluded.created_at,
             removes_second_factor = excluded.removes_second_factor, expires_at = excluded.expires_at`,
          [personId, tokenHash, removesSecondFactor, new Date(change.atMs), expiresAt],
        )
        await record(transaction, change, 'person.password_reset_created', personId, null, {
          before: null,
          after: { removesSecondFactor, expiresAt: expiresAt.toISOString() },
        })
        const [made] = await transaction.query<PasswordReset>(
          `SELECT ${columns} FROM ${source} WHERE r.person_id = $1`,
          [personId],
        )
        return made
      }),

    async findByToken(tokenHash: string, nowMs: number): Promise<PasswordReset | undefined> {
      const [found] = await database.query<PasswordReset>(
        `SELECT ${columns} FROM ${source} WHERE r.token_hash = $1 AND r.expires_at > $2`,
        [tokenHash, new Date(nowMs)],
      )
      return found
    },

    /** Uses the link: sets the password and ends all sessions. Resolves to false if the link was used or has expired. */
    use: (tokenHash: string, passwordHash: string, { actor, atMs }: Change): Promise<boolean> =>
      database.transaction(async (transaction) => {
        const [used] = await transaction.query<{ personId: string; removesSecondFactor: boolean }>(
          `DELETE FROM people_password_resets WHERE token_hash = $1 AND expires_at > $2
           RETURNING person_id AS "personId", removes_second_factor AS "removesSecondFactor"`,
          [tokenHash, new Date(atMs)],
        )
        if (!used) return false
        const { personId, removesSecondFactor } = used
        await setPassword(transaction, personId, passwordHash, atMs)
        if (removesSecondFactor) await removeSecondFactor(transaction, personId)
        await transaction.execute(`DELETE FROM people_sessions WHERE person_id = $1`, [personId])
        const change = { actor: { ...actor, personId }, atMs }
        await record(transaction, change, 'person.password_reset', personId, null, {
          before: null,
          after: { removesSecondFactor },
        })
        return true
      }),
  }
}
