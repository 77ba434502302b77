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
