import { FairShares, Turns } from '../kernel/index.ts'
import { maximumWaiting, noFreeConnection, tooManyWaiting } from './session.ts'

interface Waiter {
  grant(): void
  background: boolean
  sinceMs: number
}

export interface TurnOptions {
  signal?: AbortSignal | undefined
  /** Lets other work go first. */
  background?: boolean
  /** Longest wait; without it, as long as the signal allows. */
  waitMs?: number
}

/** Background work lets other work go first, but waits no longer than this for it. */
const maximumBackgroundDelayMs = 100
const hasPriority = ({ background, sinceMs }: Waiter) =>
  !background || performance.now() - sinceMs > maximumBackgroundDelayMs

/** What waits, by organisation. */
class WaitingTurns {
  readonly #shares = new FairShares(maximumWaiting)
  readonly #turns = new Turns<Waiter>()
  #last: (() => void) | undefined

  get size(): number {
    return this.#shares.total
  }

  /** Resolves in its turn. Throws where too many wait. */
  wait(owner: string, { signal, background = false, waitMs }: TurnOptions): Promise<void> {
    if (!this.#shares.hasRoom(owner)) throw tooManyWaiting()
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      }
      const grant = () => {
        end()
        resolve()
      }
      const waiter: Waiter = { grant, background, sinceMs: performance.now() }
      const giveUp = (error: unknown) => {
        end()
        this.#turns.remove(owner, waiter)
        this.#shares.release(owner)
        reject(error as Error)
      }
      const onAbort = () => giveUp(signal!.reason)
      const timer = waitMs === undefined ? undefined : setTimeout(() => giveUp(noFreeConnection(waitMs)), waitMs)
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#turns.add(owner, waiter)
      this.#shares.take(owner)
    })
  }

  /** Resolves after all others, except background work that still lets others go first. */
  waitLast(): Promise<void> {
    return new Promise((resolve) => (this.#last = resolve))
  }

  /** The grant of the next turn. */
  takeNext(): (() => void) | undefined {
    return this.#takeFirst(hasPriority) ?? this.#takeLast() ?? this.#takeFirst()
  }

  #takeFirst(isReady?: (waiter: Waiter) => boolean): (() => void) | undefined {
    const next = this.#turns.takeNext(isReady)
    if (next) this.#shares.release(next.owner)
    return next?.item.grant
  }

  #takeLast(): (() => void) | undefined {
    const last = this.#last
    this.#last = undefined
    return last
  }
}

/**
 * Gives the connections of a database to so many statements and transactions at a time. Organisations take turns, so that the many
 * statements of one delay a statement of another by one each.
 */
export function createTurnQueue(connections = 1) {
  const waiting = new WaitingTurns()
  let running = 0

  function takeFree(): boolean {
    if (running >= connections) return false
    running += 1
    return true
  }

  return {
    /** Statements and transactions that wait or run. */
    load: (): number => waiting.size + running,
    release(): void {
      const grant = waiting.takeNext()
      if (grant) grant()
      else running -= 1
    },
    /** The same as `take` for a caller that goes after all others, except background work that still lets others go first. Call it once. */
    async takeLast(): Promise<void> {
      if (!takeFree()) await waiting.waitLast()
    },
    /** Resolves when the caller may use a connection, in the turn of `owner`; it must call `release` once. Throws where too many wait. */
    async take(owner: string, options: TurnOptions = {}): Promise<void> {
      options.signal?.throwIfAborted()
      if (!takeFree()) await waiting.wait(owner, options)
    },
  }
}
