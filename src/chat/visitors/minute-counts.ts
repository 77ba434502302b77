import type { Clock } from '../../platform/kernel/index.ts'

const minuteMs = 60_000

interface Window {
  startMs: number
  count: number
  /** Of the minute before. */
  previous: number
}

export type MinuteCounts = ReturnType<typeof createMinuteCounts>

/**
 * Counts events a minute by a key, in bounded memory. The count is of a sliding minute: the current one and a share of the one before. Above
 * `maximumKeys` the keys that came first are forgotten.
 */
export function createMinuteCounts({ clock, maximumKeys }: { clock: Pick<Clock, 'monotonicMs'>; maximumKeys: number }) {
  const windows = new Map<string, Window>()

  function find(key: string): Window | undefined {
    const window = windows.get(key)
    if (!window) return undefined
    const minutes = Math.floor((clock.monotonicMs() - window.startMs) / minuteMs)
    if (minutes > 0) {
      window.previous = minutes === 1 ? window.count : 0
      window.count = 0
      window.startMs += minutes * minuteMs
    }
    return window
  }

  function countOf(window: Window): number {
    const passed = (clock.monotonicMs() - window.startMs) / minuteMs
    return window.count + window.previous * (1 - passed)
  }

  return {
    /** Events of the last minute. */
    get(key: string): number {
      const window = find(key)
      return window ? countOf(window) : 0
    },
    add(key: string): void {
      const known = find(key)
      if (known) {
        known.count += 1
        return
      }
      if (windows.size >= maximumKeys) windows.delete(windows.keys().next().value!)
      windows.set(key, { startMs: clock.monotonicMs(), count: 1, previous: 0 })
    },
    /** Seconds until an event more is within the limit: an upper bound. */
    secondsUntil(key: string): number {
      const window = find(key)
      if (!window) return 0
      return Math.max(1, Math.ceil((window.startMs + minuteMs - clock.monotonicMs()) / 1000))
    },
  }
}
