import { createHash, randomBytes } from 'node:crypto'
import type { PasswordHashing } from '../../src/tenants/accounts/index.ts'

const hashOf = (salt: string, password: string) =>
  `${salt}:${createHash('sha256')
    .update(salt + password)
    .digest('hex')}`

/** One round: scrypt takes 50 ms of a processor for each sign-in. Services in separate processes have scrypt. */
export const quickHashing: PasswordHashing = {
  hash: async (password) => hashOf(randomBytes(16).toString('hex'), password),
  verify: async ({ hash, password }) => hash === hashOf(hash.split(':')[0]!, password),
}
