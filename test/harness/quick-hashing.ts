import { createHash } from 'node:crypto'
import type { PasswordHashing } from '../../src/accounts/index.ts'

const hashOf = (password: string) => createHash('sha256').update(password).digest('hex')

/** One round: scrypt takes 50 ms of a processor for each sign-in. Services in separate processes have scrypt. */
export const quickHashing: PasswordHashing = {
  hash: async (password) => hashOf(password),
  verify: async ({ hash, password }) => hash === hashOf(password),
}
