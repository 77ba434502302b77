import { FairShares } from './fair-shares.ts'
import { Turns } from './turns.ts'

interface Waiter {
  owner: string
  start(): void
}

interface FairTurnsOptions {
  /** Pieces of work that run at the same time. An owner may run one more while it runs fewer than are free. */
  places?: number
  /** Pieces of work that wait, of all owners. One more of an owner may wait while it has fewer waiting than are free. */
  maximumWaiting: number
  /** The error of an owner of which too much waits. */
  tooMany(): Error
}

/** Bounded work of several owners, which take turns: the many pieces of work of one delay another by one piece each. */
export function createFairTurns({ places = 1, maximumWaiting, tooMany }: FairTurnsOptions) {
  const running = new FairShares(places)
  const waitingShares = new FairShares(maximumWaiting)
  const waiting = new Turns<Waiter>()

  function enter(owner: string, signal: AbortSignal): Promise<void> {
    if (running.hasRoom(owner)) {
      running.take(owner)
      return Promise.resolve()
    }
    if (!waitingShares.hasRoom(owner)) throw tooMany()
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.remove(owner, waiter)
        waitingShares.release(owner)
        reject(signal.reason as Error)
      }
      const start = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const waiter = { owner, start }
      signal.addEventListener('abort', leave, { once: true })
      waiting.add(owner, waiter)
      waitingShares.take(owner)
    })
  }

  function end(owner: string): void {
    running.release(owner)
    for (;;) {
      const next = waiting.takeNext((waiter) => running.hasRoom(waiter.owner))
      if (!next) return
      waitingShares.release(next.owner)
      running.take(next.owner)
      next.item.start()
    }
  }

  return {
    /** Throws `tooMany` where too much of the owner waits already, and the signal's reason where it aborts before the turn. */
    async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      signal.throwIfAborted()
      await enter(owner, signal)
      try {
        return await work()
      } finally {
        end(owner)
      }
    },
  }
}
