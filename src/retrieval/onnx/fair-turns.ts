import { AppError } from '../../kernel/index.ts'

/** Most pieces of work of one organisation that wait; one search waits with one. */
const maximumWaiting = 64

/** One piece of work at a time. Organisations take turns, so that the many searches of one delay another by one piece each. */
export function createFairTurns() {
  /** The organisation whose turn is next comes first. */
  const waiting = new Map<string, (() => void)[]>()
  let isBusy = false

  function startNext(): void {
    const [next] = waiting
    if (!next) {
      isBusy = false
      return
    }
    const [tenant, queue] = next
    const start = queue.shift()!
    waiting.delete(tenant)
    if (queue.length > 0) waiting.set(tenant, queue)
    start()
  }

  function enter(tenant: string, signal: AbortSignal): Promise<void> {
    if (!isBusy) {
      isBusy = true
      return Promise.resolve()
    }
    const queue = waiting.get(tenant) ?? []
    if (queue.length >= maximumWaiting)
      throw new AppError('overloaded', 'Your organisation has too many searches at once. Try again in a moment.', {
        retryAfterSeconds: 1,
      })
    waiting.set(tenant, queue)
    return new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        queue.splice(queue.indexOf(start), 1)
        if (queue.length === 0) waiting.delete(tenant)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', leave, { once: true })
      queue.push(start)
    })
  }

  return {
    /** Throws `overloaded` where too much of the organisation waits already, and the signal's reason where it aborts before the turn. */
    async run<T>(tenant: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      signal.throwIfAborted()
      await enter(tenant, signal)
      try {
        return await work()
      } finally {
        startNext()
      }
    },
  }
}
