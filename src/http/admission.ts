import { AppError } from '../kernel/index.ts'
import type { Pressure } from './overload-monitor.ts'

/** Why a request is rejected. `share`: its organisation runs half of what the process may run. */
export type RefusalReason = Pressure | 'running' | 'share'

/** Decides which requests of organisations begin, before their bodies are read. Probes, metrics and the operator API are not counted. */
export interface Admission {
  /** Returns a function to call once, when the request has ended. Throws `overloaded` or `rate_limit_exceeded`. */
  enter(owner: string): () => void
  running(): number
}

/** So many requests run even under pressure: rejecting them would not help, since the load has another cause. */
export const runningUnderPressure = 16

const retryAfterSeconds = 2

export function createAdmission({
  maximumRunning,
  pressure,
  refused,
}: {
  /** Requests of all organisations that run at the same time, streams included. One organisation may run half of them. */
  maximumRunning: number
  pressure: () => Pressure | null
  refused: (reason: RefusalReason) => void
}): Admission {
  const maximumOfOwner = Math.max(1, Math.floor(maximumRunning / 2))
  const owners = new Map<string, number>()
  let total = 0

  function reasonToRefuse(ofOwner: number): RefusalReason | undefined {
    if (total >= maximumRunning) return 'running'
    if (ofOwner >= maximumOfOwner) return 'share'
    const lacking = total < runningUnderPressure ? null : pressure()
    if (lacking === 'memory') return lacking
    // Those with less than half of the average are admitted, so that the load of one organisation does not close the service to others.
    if (lacking === 'event_loop' && ofOwner * owners.size * 2 > total) return lacking
    return undefined
  }

  return {
    enter(owner) {
      const ofOwner = owners.get(owner) ?? 0
      const reason = reasonToRefuse(ofOwner)
      if (reason) {
        refused(reason)
        throw toError(reason, maximumRunning, maximumOfOwner)
      }
      total++
      owners.set(owner, ofOwner + 1)
      let left = false
      return () => {
        if (left) return
        left = true
        total--
        const rest = owners.get(owner)! - 1
        if (rest > 0) owners.set(owner, rest)
        else owners.delete(owner)
      }
    },
    running: () => total,
  }
}

function toError(reason: RefusalReason, maximumRunning: number, maximumOfOwner: number): AppError {
  if (reason === 'share') {
    return new AppError(
      'rate_limit_exceeded',
      `This organisation may run ${maximumOfOwner} requests at the same time. Try again when one of them has ended.`,
      { retryAfterSeconds },
    )
  }
  const internal = reason === 'running' ? `${maximumRunning} requests run` : `the process lacks ${reason}`
  return new AppError('overloaded', 'The service has too much to do. Try again in a moment.', {
    retryAfterSeconds,
    internal,
  })
}
