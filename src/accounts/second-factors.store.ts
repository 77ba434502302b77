import type { Database } from '../database/index.ts'
import type { Reencrypted } from '../operators/index.ts'
import type { AccountSecrets, ReplaceValue } from './two-factor-secrets.ts'

const rowsPerRead = 500

export const replaceValueOf =
  (database: Database): ReplaceValue =>
  async (id, column, before, after) =>
    (await database.execute(`UPDATE people_two_factors SET ${column} = $3 WHERE id = $1 AND ${column} = $2`, [
      id,
      before,
      after,
    ])) > 0

/** Encrypts the secrets and backup codes of second factors again that are under the second secret. Loads the sign-in library if there are any. */
export async function reencryptSecondFactors(database: Database, secrets: AccountSecrets): Promise<Reencrypted> {
  const replace = replaceValueOf(database)
  const counts = { reencrypted: 0, unchanged: 0, unreadable: 0 }
  for (let after: string | null = null; ;) {
    const rows: { id: string; secret: string; backup_codes: string }[] = await database.query(
      `SELECT id, secret, backup_codes FROM people_two_factors
       WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT ${rowsPerRead}`,
      [after],
    )
    if (rows.length === 0) return counts
    const { encryptedColumns, renewValue } = await import('./two-factor-secrets.ts')
    for (const row of rows)
      for (const column of encryptedColumns) {
        const renewed = await renewValue(secrets, row[column])
        if (renewed === undefined) counts.unreadable++
        // What the person changes at the same time stays as they changed it.
        else if (renewed !== row[column] && (await replace(row.id, column, row[column], renewed))) counts.reencrypted++
        else counts.unchanged++
      }
    after = rows.at(-1)!.id
  }
}
