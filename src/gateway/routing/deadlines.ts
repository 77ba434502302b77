import type { Clock } from '../../platform/kernel/index.ts'

/** Deadlines are seconds and minutes; this precision is enough. */
const deadlineTickMs = 100

/** Many deadlines with one timer: nearly all are cancelled long before they are due. */
export interface Deadlines {
  /** Calls `onDue` once, at most one tick late, unless the returned function is called before. */
  start(ms: number, onDue: () => void): () => void
}

/** The timer runs only while a deadline is pending and never keeps the process alive. */
export function createDeadlines({ clock }: { clock: Clock }): Deadlines {
  const waiting = new Set<{ dueMs: number; onDue: () => void }>()
  let stop: (() => void) | undefined

  function tick() {
    const nowMs = clock.monotonicMs()
    for (const deadline of waiting) {
      if (deadline.dueMs > nowMs) continue
      waiting.delete(deadline)
      deadline.onDue()
    }
    if (waiting.size > 0) return
    stop?.()
    stop = undefined
  }

  return {
    start(ms, onDue) {
      const deadline = { dueMs: clock.monotonicMs() + ms, onDue }
      waiting.add(deadline)
      stop ??= clock.every(deadlineTickMs, tick)
      return () => waiting.delete(deadline)
    },
  }
}
