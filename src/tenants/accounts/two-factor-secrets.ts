import { symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto'

export interface AccountSecrets {
  /** At least 32 characters: signs cookies, and encrypts the secrets of second factors. */
  secret: string
  /** While the secret key is replaced: what the other key encrypted is read and encrypted again. */
  secondSecret?: string | undefined
}

/** The columns that the sign-in library encrypts. */
export const encryptedColumns = ['secret', 'backup_codes'] as const
export type EncryptedColumn = (typeof encryptedColumns)[number]

/** Writes a value unless it was changed since it was read. */
export type ReplaceValue = (id: string, column: EncryptedColumn, before: string, after: string) => Promise<boolean>

/** A value under `secondSecret` made one under `secret`; undefined if it is under `secret` already. Throws if neither opens it. */
export async function renewValue({ secret, secondSecret }: AccountSecrets, value: string): Promise<string | undefined> {
  try {
    await symmetricDecrypt({ key: secret, data: value })
    return undefined
  } catch (error) {
    if (secondSecret === undefined) throw error
  }
  return symmetricEncrypt({ key: secret, data: await symmetricDecrypt({ key: secondSecret, data: value }) })
}
