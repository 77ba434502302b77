import type { OwnedDatabase } from '../../platform/database/index.ts'
import { type Reencrypted, renewColumn, replaceValue } from '../operators/index.ts'
import type { AccountSecrets, EncryptedColumn, ReplaceValue } from './two-factor-secrets.ts'

const encrypted = (column: EncryptedColumn) => ({ table: 'people_two_factors', id: 'id', column })

export const replaceValueOf =
  (database: OwnedDatabase): ReplaceValue =>
  (id, column, before, after) =>
    replaceValue(database, encrypted(column), id, before, after)

/** Encrypts the secrets and backup codes of second factors again that are under the second secret. Loads the sign-in library if there are any. */
export async function reencryptSecondFactors(database: OwnedDatabase, secrets: AccountSecrets): Promise<Reencrypted> {
  const renew = async (value: string) => {
    const { renewValue } = await import('./two-factor-secrets.ts')
    return renewValue(secrets, value)
  }
  const [keys, codes] = [
    await renewColumn(database, encrypted('secret'), renew),
    await renewColumn(database, encrypted('backup_codes'), renew),
  ]
  return {
    reencrypted: keys.reencrypted + codes.reencrypted,
    unchanged: keys.unchanged + codes.unchanged,
    unreadable: keys.unreadable + codes.unreadable,
  }
}
