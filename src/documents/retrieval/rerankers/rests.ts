import type { Clock } from '../../../platform/kernel/index.ts'

/** Failures in a row after which a key rests. */
const failuresToRest = 3
/** Doubles with each further failure. */
const firstRestMs = 10_000
const maximumRestMs = 60_000
/** Most keys with failures; the oldest is dropped first. */
const maximumTracked = 10_000

/**
 * A circuit breaker for each key. A rest ends by itself; the calls after it decide whether another one follows. Keys are organisations: the
 * calls of one must not switch off the reranker of others.
 */
export function createRests({ clock }: { clock: Pick<Clock, 'monotonicMs'> }) {
  const failing = new Map<string, { failures: number; untilMs: number }>()
  return {
    isResting: (key: string): boolean => (failing.get(key)?.untilMs ?? 0) > clock.monotonicMs(),
    succeeded: (key: string): void => void failing.delete(key),
    failed(key: string): void {
      const failures = (failing.get(key)?.failures ?? 0) + 1
      const beyond = failures - failuresToRest
      const restMs = beyond < 0 ? 0 : Math.min(firstRestMs * 2 ** beyond, maximumRestMs)
      failing.delete(key)
      if (failing.size >= maximumTracked) failing.delete(failing.keys().next().value!)
      failing.set(key, { failures, untilMs: clock.monotonicMs() + restMs })
    },
  }
}
