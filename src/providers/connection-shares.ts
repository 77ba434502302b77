import type { ConnectionsView } from './port.ts'
import { failure } from './wire-failure.ts'

/**
 * Fair shares of one provider's connections. A tenant may take a connection while it holds fewer than are free (dynamic thresholds with
 * α = 1, Choudhury and Hahne 1998): one tenant gets half of them, two busy tenants get a third each, and some connections always stay free
 * for the next tenant, however long the calls of the others take.
 */
export type ConnectionShares = ReturnType<typeof createConnectionShares>

/** Longest wait for a connection; then the client gets a 429 or 503 and can retry. */
const maximumWaitMs = 5_000
/** Calls of one tenant that may wait for each connection of its share; further calls are rejected at once. */
const waitingPerShare = 1

interface Waiter {
  admit(leave: () => void): void
}

interface Tenant {
  held: number
  waiting: Set<Waiter>
}

/** Upper bound on the tenants of a view. */
const shownTenants = 5

export function createConnectionShares(total: number) {
  const tenants = new Map<string, Tenant>()
  let taken = 0

  const mayTake = ({ held }: Tenant) => taken < total && held < total - taken

  function take(id: string, tenant: Tenant): () => void {
    tenant.held++
    taken++
    let left = false
    return () => {
      if (left) return
      left = true
      tenant.held--
      taken--
      forget(id, tenant)
      admitNext()
    }
  }

  function forget(id: string, { held, waiting }: Tenant) {
    if (held === 0 && waiting.size === 0) tenants.delete(id)
  }

  /** Admits the longest-waiting call of the tenant that holds the fewest connections, while there is one that may be admitted. */
  function admitNext() {
    for (;;) {
      let next: [string, Tenant] | undefined
      for (const entry of tenants) {
        if (entry[1].waiting.size === 0 || !mayTake(entry[1])) continue
        if (next === undefined || entry[1].held < next[1].held) next = entry
      }
      if (next === undefined) return
      const [id, tenant] = next
      const [waiter] = tenant.waiting
      tenant.waiting.delete(waiter!)
      waiter!.admit(take(id, tenant))
    }
  }

  /** The same without a wait: undefined if there is no connection now. Throws the signal's reason. */
  function enterAtOnce(id: string, signal: AbortSignal): (() => void) | undefined {
    signal.throwIfAborted()
    let tenant = tenants.get(id)
    if (!tenant) tenants.set(id, (tenant = { held: 0, waiting: new Set() }))
    // Earlier calls come first.
    return tenant.waiting.size === 0 && mayTake(tenant) ? take(id, tenant) : undefined
  }

  return {
    /**
     * Takes a connection for one call, at once or after a bounded wait; the returned function releases it. Rejects with ProviderError
     * `share_exhausted` if the tenant's own calls use up its share, `capacity` if all connections are in use, or the signal's reason.
     */
    async enter(id: string, signal: AbortSignal): Promise<() => void> {
      const leave = enterAtOnce(id, signal)
      if (leave) return leave
      const tenant = tenants.get(id)!
      const mostWaiting = Math.max(1, Math.floor(total / 2)) * waitingPerShare
      if (tenant.waiting.size >= mostWaiting) {
        forget(id, tenant)
        throw refusal(tenant, total)
      }
      const { waiting } = tenant
      return waitForTurn(waiting, signal, {
        timedOut: () => refusal(tenant, total),
        onGivenUp: () => forget(id, tenant),
      })
    },
    enterAtOnce,
    view: () => viewOf(tenants, total, taken),
  }
}

function viewOf(tenants: ReadonlyMap<string, Tenant>, total: number, taken: number): ConnectionsView {
  const all = [...tenants].map(([id, { held, waiting }]) => ({ id, held, waiting: waiting.size }))
  return {
    maximum: total,
    inUse: taken,
    waiting: all.reduce((sum, { waiting }) => sum + waiting, 0),
    tenants: all.toSorted((left, right) => right.held - left.held).slice(0, shownTenants),
  }
}

/** Adds a waiter and resolves when it has a connection. Rejects after the longest wait or with the signal's reason. */
function waitForTurn(
  waiting: Set<Waiter>,
  signal: AbortSignal,
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

function refusal({ held }: Tenant, total: number) {
  const full = { retryAfterSeconds: 1 }
  // A tenant that holds no connection has not used up its share.
  return held === 0
    ? failure('capacity', `All ${total} connections to this provider are in use.`, full)
    : failure('share_exhausted', `${held} of ${total} connections to this provider serve this organisation.`, full)
}
