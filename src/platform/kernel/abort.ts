/** Joins signals into one; undefined members are skipped. */
export function anySignal(...signals: (AbortSignal | undefined)[]): AbortSignal {
  const present = signals.filter((signal) => signal !== undefined)
  return present.length === 1 ? present[0]! : AbortSignal.any(present)
}

/** Rejects with the signal's reason as soon as it aborts, otherwise follows `promise`. The promise itself is not stopped. */
export function raceSignal<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  if (signal.aborted) {
    promise.catch(() => {})
    return Promise.reject(signal.reason as Error)
  }
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(
      (value) => {
        signal.removeEventListener('abort', onAbort)
        resolve(value)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort)
        reject(error as Error)
      },
    )
  })
}

/** What was awaited does not answer in time. A request that fails by it is answered with 503, as by a database that is not available. */
class DeadlineError extends Error {
  readonly isUnavailable = true
}

/** Gives `work` a signal that aborts after `ms`, and rejects then even if the work ignores the signal. Uses real time. */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(new DeadlineError(`no answer within ${ms} ms`)), ms)
  try {
    return await raceSignal(work(deadline.signal), deadline.signal)
  } finally {
    clearTimeout(timer)
  }
}
