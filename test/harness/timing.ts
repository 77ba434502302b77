/**
 * Processor time of the calling thread so far, in milliseconds. Tests of fast code compare it instead of the clock, which also counts the
 * time in which other processes had the processor.
 */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * Options of a test of a promise such as "within a second", which the clock of a busy machine can miss: it is repeated up to four times.
 * What breaks the promise by design, such as an interval that is too long, breaks it each time.
 */
export const timePromise = { retry: 4 } as const

/**
 * Runs `act`, and resolves to the longest processor time, in milliseconds, that the calling thread needed for one turn of its event loop: for
 * so long no other request was handled.
 */
export async function longestTurnMs(act: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let isOver = false
  let turnStartedMs = threadMs()
  const watch = () => {
    const nowMs = threadMs()
    longest = Math.max(longest, nowMs - turnStartedMs)
    turnStartedMs = nowMs
    if (!isOver) setImmediate(watch)
  }
  setImmediate(watch)
  try {
    await act()
  } finally {
    watch()
    isOver = true
  }
  return longest
}
