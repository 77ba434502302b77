import { setTimeout as wait } from 'node:timers/promises'
import { FailedError } from './errors.ts'

/** Attempts of one request while the service is busy or unreachable. */
const maximumTries = 8
const firstRetryMs = 500
const longestRetryMs = 15_000
/** A longer Retry-After is an error instead of a wait. */
const longestRequestedMs = 10 * 60_000

export type Retries = ReturnType<typeof createRetries>

/**
 * Repeats requests that failed because the service is busy or unreachable. A Retry-After of one request delays all others, too, because
 * they would be refused as well.
 */
export function createRetries(signal: AbortSignal) {
  let pausedUntil = 0

  async function pause(): Promise<void> {
    for (let left = pausedUntil - Date.now(); left > 0; left = pausedUntil - Date.now()) {
      await wait(left, undefined, { signal }).catch(interrupted)
    }
  }

  return {
    /** Runs `attempt`, again while it fails with a status that passes. */
    async run<Result>(attempt: () => Promise<Result>): Promise<Result> {
      for (let tries = 1; ; tries++) {
        await pause()
        try {
          return await attempt()
        } catch (error) {
          if (tries === maximumTries || !mayRetry(error) || signal.aborted) throw error
          const { retryAfterMs } = error.details
          if (retryAfterMs !== undefined) pausedUntil = Math.max(pausedUntil, Date.now() + retryAfterMs)
          const backoffMs = Math.min(longestRetryMs, firstRetryMs * 2 ** (tries - 1))
          await wait(backoffMs, undefined, { signal }).catch(interrupted)
        }
      }
    },
  }
}

function interrupted(): never {
  throw new FailedError('Interrupted.')
}

function mayRetry(error: unknown): error is FailedError {
  if (!(error instanceof FailedError)) return false
  const { status, retryAfterMs = 0 } = error.details
  if (retryAfterMs > longestRequestedMs) return false
  return isUnreachable(error) || status === 429 || status === 503
}

/** The service sent no response. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof FailedError && error.details.status === undefined && error.cause !== undefined
}
