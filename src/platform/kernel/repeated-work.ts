import type { Clock } from './clock.ts'

export interface RepeatedWorkOptions {
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
