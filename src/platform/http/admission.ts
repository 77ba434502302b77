import { AppError, FairShares } from '../kernel/index.ts'
import type { Pressure } from './overload-monitor.ts'

/** Why a request is rejected. `share`: its organisation runs as many as the process may still begin. */
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
  /** Requests of all organisations that run at the same time, streams included; FairShares has what one of them may run. */
  maximumRunning: number
  pressure: () => Pressure | null
  refused: (reason: RefusalReason) => void
}): Admission {
  const running = new FairShares(maximumRunning)

  function reasonToRefuse(owner: string): RefusalReason | undefined {
    const ofOwner = running.usedBy(owner)
    const { total, owners } = running
    if (!running.hasRoom(owner)) return ofOwner === 0 ? 'running' : 'share'
    const lacking = total < runningUnderPressure ? null : pressure()
    if (lacking === null) return undefined
    // Those with less than half of the average are admitted, so that the load of one organisation does not close the service to others.
    if (ofOwner * owners * 2 > total) return lacking
    // Each request takes memory: next to those of the organisation that runs most, only a few more begin.
    return lacking === 'memory' && total - running.most >= runningUnderPressure ? lacking : undefined
  }

  return {
    enter(owner) {
      const reason = reasonToRefuse(owner)
      if (reason) {
        refused(reason)
        throw toError(reason, maximumRunning, running.usedBy(owner))
      }
      running.take(owner)
      let left = false
      return () => {
        if (left) return
        left = true
        running.release(owner)
      }
    },
    running: () => running.total,
  }
}

function toError(reason: RefusalReason, maximumRunning: number, ofOwner: number): AppError {
  if (reason === 'share') {
    return new AppError(
      'rate_limit_exceeded',
      `This organisation may run ${ofOwner} requests at the same time. Try again when one of them has ended.`,
      { retryAfterSeconds },
    )
  }
  const internal = reason === 'running' ? `${maximumRunning} requests run` : `the process lacks ${reason}`
  return new AppError('overloaded', 'The service has too much to do. Try again in a moment.', {
    retryAfterSeconds,
    internal,
  })
}
