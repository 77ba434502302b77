/** The only source of time. Tests pass a clock they can move (test/harness/fake-clock.ts). */
export interface Clock {
  /** Wall time, milliseconds since the epoch. May jump. */
  now(): number
  /** Milliseconds from an arbitrary start; never goes back. For durations. */
  monotonicMs(): number
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `task` every `ms` until the returned function is called. Does not keep the process alive. */
  every(ms: number, task: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  },
  every(ms, task) {
    const timer = setInterval(task, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}

interface RepeatedWorkOptions {
  clock: Pick<Clock, 'every'>
  everyMs: number
  /** Ends soon after the signal aborts, at a stop of the service. */
  work(signal: AbortSignal): Promise<void>
  onFailed(error: unknown): void
}

export type RepeatedWork = ReturnType<typeof repeatWork>

/** Background work at an interval and on request, never twice at once in this process. */
export function repeatWork({ clock, everyMs, work, onFailed }: RepeatedWorkOptions) {
  const stop = new AbortController()
  let running: Promise<void> | undefined

  /** Resolves when the work that runs has ended. Never rejects. */
  function run(): Promise<void> {
    running ??= work(stop.signal)
      .catch(onFailed)
      .finally(() => (running = undefined))
    return running
  }

  const end = clock.every(everyMs, () => void run())
  return {
    run,
    async close(): Promise<void> {
      end()
      stop.abort(new Error('the service stops'))
      await running
    },
  }
}
