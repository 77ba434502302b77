import { raceSignal } from '../../kernel/index.ts'
import { maximumWaiting, tooManyWaiting } from '../session.ts'

interface Waiter {
  grant(): void
  abandoned: boolean
  background: boolean
  sinceMs: number
}

/** Background work lets other work go first, but waits no longer than this for it. */
const maximumBackgroundDelayMs = 100
const hasPriority = ({ background, sinceMs }: Waiter) =>
  !background || performance.now() - sinceMs > maximumBackgroundDelayMs

/** Gives the one connection of an embedded database to one statement or transaction at a time. */
export function createTurnQueue() {
  let busy = false
  let waiting: Waiter[] = []

  function release() {
    waiting = waiting.filter((waiter) => !waiter.abandoned)
    const next = waiting.find(hasPriority) ?? waiting[0]
    if (!next) {
      busy = false
      return
    }
    waiting.splice(waiting.indexOf(next), 1)
    next.grant()
  }

  return {
    /** Statements and transactions that wait or run. */
    load: (): number => waiting.length + (busy ? 1 : 0),
    release,
    /** Resolves when the caller may use the connection; it must call `release` once. Throws where too many wait. */
    async take(signal: AbortSignal | undefined, background: boolean): Promise<void> {
      signal?.throwIfAborted()
      if (!busy) {
        busy = true
        return
      }
      if (waiting.length >= maximumWaiting) throw tooManyWaiting()
      const turn = Promise.withResolvers<void>()
      const waiter: Waiter = { grant: turn.resolve, abandoned: false, background, sinceMs: performance.now() }
      waiting.push(waiter)
      await raceSignal(turn.promise, signal).catch((error: unknown) => {
        // A waiter that is no longer in the queue was granted its turn at the same moment and must pass it on.
        if (waiting.includes(waiter)) waiter.abandoned = true
        else release()
        throw error
      })
    },
  }
}
