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

/** The value under `secret`: itself, or made from one under `secondSecret`; undefined if neither opens it. */
export async function renewValue({ secret, secondSecret }: AccountSecrets, value: string): Promise<string | undefined> {
  const read = (key: string) => symmetricDecrypt({ key, data: value }).catch(() => undefined)
  if ((await read(secret)) !== undefined) return value
  const data = secondSecret === undefined ? undefined : await read(secondSecret)
  return data === undefined ? undefined : symmetricEncrypt({ key: secret, data })
}
