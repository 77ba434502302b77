import type { FastifyRequest } from 'fastify'
import { type Clock, isAppError } from '../kernel/index.ts'

/** A session that ended, or a membership that was removed, ends an open stream at the latest after this time. */
const checkEveryMs = 10_000

const refusals = ['not_signed_in', 'forbidden_role', 'invalid_operator_token'] as const

/**
 * Checks regularly whether the caller of an open stream may still call its route. `ended` aborts with the refusal. Call `stop` when the
 * stream has ended.
 */
export function followAccess(
  request: Pick<FastifyRequest, 'checkAccess'>,
  clock: Pick<Clock, 'every'>,
): { ended: AbortSignal; stop(): void } {
  const access = new AbortController()
  let isChecking = false
  async function check() {
    if (isChecking) return
    isChecking = true
    try {
      await request.checkAccess()
    } catch (error) {
      // Other errors, for example of the database, are no reason to end the stream.
      const isRefused = refusals.some((code) => isAppError(error, code)) || isMissing(error)
      if (isRefused) access.abort(error)
    } finally {
      isChecking = false
    }
  }
  const stop = clock.every(checkEveryMs, () => void check())
  return { ended: access.signal, stop }
}

/** The organisation is no longer one of the person's, or the resource was removed: the 404 of the route. */
function isMissing(error: unknown): boolean {
  return isAppError(error) && error.code.endsWith('not_found')
}
