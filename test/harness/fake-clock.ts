import type { Clock } from '../../src/platform/kernel/index.ts'

/** A clock that moves only in `advance`; sleeps and intervals end in the order of their times. */
export interface FakeClock extends Clock {
  /** Moves both times forward, ends due sleeps and intervals, and lets their continuations run. */
  advance(ms: number): Promise<void>
  /** Sets the wall clock back or forward; durations do not change. */
  jump(ms: number): void
  /** Sleeps that have not ended. */
  sleeping(): number
  /** Milliseconds until the first sleep or interval is due; undefined when nothing waits. */
  nextMs(): number | undefined
}

export function createFakeClock(startMs: number = Date.UTC(2026, 10, 21)): FakeClock {
  let monotonicMs = 0
  let offsetMs = startMs
  interface Timer {
    dueMs: number
    fire(): void
  }
  const timers = new Set<Timer>()
  const intervals = new Set<Timer>()
  const earliest = (limitMs: number) =>
    [...timers, ...intervals]
      .filter((timer) => timer.dueMs <= limitMs)
      .sort((left, right) => left.dueMs - right.dueMs)[0]

  return {
    now: () => monotonicMs + offsetMs,
    monotonicMs: () => monotonicMs,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error)
        const onAbort = () => {
          timers.delete(timer)
          reject(signal?.reason as Error)
        }
        const timer: Timer = {
          dueMs: monotonicMs + ms,
          fire() {
            timers.delete(timer)
            signal?.removeEventListener('abort', onAbort)
            resolve()
          },
        }
        timers.add(timer)
        signal?.addEventListener('abort', onAbort, { once: true })
      })
    },
    every(ms, task) {
      const timer: Timer = {
        dueMs: monotonicMs + ms,
        fire() {
          timer.dueMs += ms
          task()
        },
      }
      intervals.add(timer)
      return () => intervals.delete(timer)
    },
    async advance(ms) {
      const targetMs = monotonicMs + ms
      for (let timer = earliest(targetMs); timer; timer = earliest(targetMs)) {
        monotonicMs = Math.max(monotonicMs, timer.dueMs)
        timer.fire()
        await runPending()
      }
      monotonicMs = targetMs
      await runPending()
    },
    jump(ms) {
      offsetMs += ms
    },
    sleeping: () => timers.size,
    nextMs: () => {
      const due = [...timers, ...intervals].map((timer) => timer.dueMs - monotonicMs)
      return due.length === 0 ? undefined : Math.min(...due)
    },
  }
}

/** Lets resolved promises run; after a macrotask all of their chains have run. */
function runPending(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
