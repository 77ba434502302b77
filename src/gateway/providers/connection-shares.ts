import { type EndSignal, FairShares } from '../../platform/kernel/index.ts'
import type { ConnectionsView } from './port.ts'
import { failure } from './wire-failure.ts'

/**
 * Fair shares of one provider's connections (FairShares), so that some stay free for the next tenant, however long the calls of the others
 * take.
 */
export type ConnectionShares = ReturnType<typeof createConnectionShares>

/** Longest wait for a connection; then the client gets a 429 or 503 and can retry. */
const maximumWaitMs = 5_000
/** Calls of one tenant that may wait for each connection of its share; further calls are rejected at once. */
const waitingPerShare = 1

interface Waiter {
  admit(leave: () => void): void
}

type Tenants = Map<string, Set<Waiter>>

/** Upper bound on the tenants of a view. */
const shownTenants = 5

export function createConnectionShares(total: number) {
  const shares = new FairShares(total)
  /** The calls that wait, of all tenants that hold connections or wait. */
  const tenants: Tenants = new Map()

  function take(id: string): () => void {
    shares.take(id)
    let left = false
    return () => {
      if (left) return
      left = true
      shares.release(id)
      forget(id)
      admitNext()
    }
  }

  function forget(id: string) {
    if (shares.usedBy(id) === 0 && tenants.get(id)?.size === 0) tenants.delete(id)
  }

  /** Admits the longest-waiting call of the tenant that holds the fewest connections, while there is one that may be admitted. */
  function admitNext() {
    for (;;) {
      let next: string | undefined
      for (const [id, waiting] of tenants) {
        if (waiting.size === 0 || !shares.hasRoom(id)) continue
        if (next === undefined || shares.usedBy(id) < shares.usedBy(next)) next = id
      }
      if (next === undefined) return
      const waiting = tenants.get(next)!
      const [waiter] = waiting
      waiting.delete(waiter!)
      waiter!.admit(take(next))
    }
  }

  /** The same without a wait: undefined if there is no connection now. Throws the signal's reason. */
  function enterAtOnce(id: string, signal: EndSignal): (() => void) | undefined {
    signal.throwIfAborted()
    let waiting = tenants.get(id)
    if (!waiting) tenants.set(id, (waiting = new Set()))
    // Earlier calls come first.
    return waiting.size === 0 && shares.hasRoom(id) ? take(id) : undefined
  }

  return {
    /**
     * Takes a connection for one call, at once or after a bounded wait; the returned function releases it. Rejects with ProviderError
     * `share_exhausted` if the tenant's own calls use up its share, `capacity` if all connections are in use, or the signal's reason.
     */
    async enter(id: string, signal: EndSignal): Promise<() => void> {
      const leave = enterAtOnce(id, signal)
      if (leave) return leave
      const waiting = tenants.get(id)!
      const mostWaiting = Math.max(1, Math.floor(total / 2)) * waitingPerShare
      const refused = () => refusal(shares.usedBy(id), total)
      if (waiting.size >= mostWaiting) {
        forget(id)
        throw refused()
      }
      return waitForTurn(waiting, signal, { timedOut: refused, onGivenUp: () => forget(id) })
    },
    enterAtOnce,
    view: () => viewOf(tenants, shares),
  }
}

function viewOf(tenants: Tenants, shares: FairShares): ConnectionsView {
  const all = [...tenants].map(([id, waiting]) => ({ id, held: shares.usedBy(id), waiting: waiting.size }))
  return {
    maximum: shares.maximum,
    inUse: shares.total,
    waiting: all.reduce((sum, { waiting }) => sum + waiting, 0),
    tenants: all.toSorted((left, right) => right.held - left.held).slice(0, shownTenants),
  }
}

/** Adds a waiter and resolves when it has a connection. Rejects after the longest wait or with the signal's reason. */
function waitForTurn(
  waiting: Set<Waiter>,
  signal: EndSignal,
  { timedOut, onGivenUp }: { timedOut: () => Error; onGivenUp: () => void },
): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      waiting.delete(waiter)
    }
    const giveUp = (error: unknown) => {
      end()
      onGivenUp()
      reject(error as Error)
    }
    const waiter: Waiter = {
      admit(leave) {
        end()
        resolve(leave)
      },
    }
    const onAbort = () => giveUp(signal.reason)
    const timer = setTimeout(() => giveUp(timedOut()), maximumWaitMs)
    timer.unref()
    signal.addEventListener('abort', onAbort, { once: true })
    waiting.add(waiter)
  })
}

function refusal(held: number, total: number) {
  const full = { retryAfterSeconds: 1 }
  // A tenant that holds no connection has not used up its share.
  return held === 0
    ? failure('capacity', `All ${total} connections to this provider are in use.`, full)
    : failure('share_exhausted', `${held} of ${total} connections to this provider serve this organisation.`, full)
}
