import { randomBytes } from 'node:crypto'
import { AppError, type Clock, isUuid, lookupHash } from '../../platform/kernel/index.ts'
import type { Actor } from '../operators/index.ts'
import type { createPasswordResetStore } from './password-resets.store.ts'
import type { PasswordReset } from './person.ts'

/** A link is valid for this time. */
const resetMs = 24 * 3600_000
/** 256 random bits. */
const tokenBytes = 32

interface PasswordResetDependencies {
  resets: ReturnType<typeof createPasswordResetStore>
  hashPassword: (password: string, person: { email: string; name: string }) => Promise<string>
  /** Counts a use of a link. */
  countLink: (kind: 'password reset', clientAddress: string) => Promise<void>
  /** Ends the lock after wrong passwords. */
  unlock: (email: string, clientAddress: string) => Promise<void>
  clock: Clock
}

/** Links that an operator makes for people who have lost their password, and perhaps their second factor. */
export function createPasswordResets({ resets, hashPassword, countLink, unlock, clock }: PasswordResetDependencies) {
  async function findPasswordReset(token: string, clientAddress: string): Promise<PasswordReset> {
    await countLink('password reset', clientAddress)
    const found = await resets.findByToken(lookupHash(token), clock.now())
    if (!found) throw noReset()
    return found
  }

  return {
    findPasswordReset,

    /** The token is returned only here. */
    async createPasswordReset(personId: string, { removeSecondFactor }: { removeSecondFactor: boolean }, actor: Actor) {
      const token = randomBytes(tokenBytes).toString('base64url')
      const atMs = clock.now()
      const given = {
        personId,
        tokenHash: lookupHash(token),
        removesSecondFactor: removeSecondFactor,
        expiresAt: new Date(atMs + resetMs),
      }
      const made = isUuid(personId) ? await resets.insert(given, { actor, atMs }) : undefined
      if (!made) throw new AppError('not_found', 'There is no person with this id.')
      return { ...made, token }
    },

    async usePasswordReset(
      token: string,
      password: string,
      { requestId, clientAddress }: { requestId: string; clientAddress: string },
    ): Promise<void> {
      const { email, name } = await findPasswordReset(token, clientAddress)
      const passwordHash = await hashPassword(password, { email, name })
      const actor = { name: email, requestId }
      if (!(await resets.use(lookupHash(token), passwordHash, { actor, atMs: clock.now() }))) throw noReset()
      await unlock(email, clientAddress)
    },
  }
}

function noReset(): AppError {
  return new AppError('not_found', 'There is no such link, or it was used, replaced or has expired.')
}
