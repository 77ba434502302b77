import type { OwnedDatabase } from '../../platform/database/index.ts'
import type { PasswordReset } from './person.ts'
import { type Change, endSignIns, record, removeSecondFactor, setPassword } from './people.store.ts'

const columns = `r.person_id AS "personId", p.email, p.name, r.removes_second_factor AS "removesSecondFactor",
  r.expires_at AS "expiresAt"`
const source = `people_password_resets r JOIN people p ON p.id = r.person_id`

/** The condition of a valid link at the time of a placeholder: the operator who has made it is one, the operator token was not replaced. */
const isValidAt = (time: string) => `r.expires_at > ${time} AND (
  EXISTS (SELECT 1 FROM people s WHERE s.id = r.created_by_person AND s.is_operator)
  OR (r.created_by_person IS NULL AND NOT EXISTS (SELECT 1 FROM operator_token t WHERE t.created_at > r.created_at)))`

/** Links with which a person sets a new password, once. */
export function createPasswordResetStore(database: OwnedDatabase) {
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
          `INSERT INTO people_password_resets (person_id, token_hash, removes_second_factor, created_at, expires_at, created_by_person)
           VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (person_id) DO UPDATE SET token_hash = excluded.token_hash, created_at = excluded.created_at,
             removes_second_factor = excluded.removes_second_factor, expires_at = excluded.expires_at,
             created_by_person = excluded.created_by_person`,
          [personId, tokenHash, removesSecondFactor, new Date(change.atMs), expiresAt, change.actor.personId ?? null],
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
        `SELECT ${columns} FROM ${source} WHERE r.token_hash = $1 AND ${isValidAt('$2')}`,
        [tokenHash, new Date(nowMs)],
      )
      return found
    },

    /** Uses the link: sets the password and ends all sessions. Resolves to false if the link was used or has expired. */
    use: (tokenHash: string, passwordHash: string, { actor, atMs }: Change): Promise<boolean> =>
      database.transaction(async (transaction) => {
        const [used] = await transaction.query<{ personId: string; removesSecondFactor: boolean }>(
          `DELETE FROM people_password_resets r WHERE r.token_hash = $1 AND ${isValidAt('$2')}
           RETURNING person_id AS "personId", removes_second_factor AS "removesSecondFactor"`,
          [tokenHash, new Date(atMs)],
        )
        if (!used) return false
        const { personId, removesSecondFactor } = used
        await setPassword(transaction, personId, passwordHash, atMs)
        if (removesSecondFactor) await removeSecondFactor(transaction, personId)
        await endSignIns(transaction, personId)
        const change = { actor: { ...actor, personId }, atMs }
        await record(transaction, change, 'person.password_reset', personId, null, {
          before: null,
          after: { removesSecondFactor },
        })
        return true
      }),
  }
}
