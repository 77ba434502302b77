import { readFileSync } from 'node:fs'
import { childrenOf } from '../../test/chaos/harness/processes.ts'
import type { TestDatabase } from '../../test/harness/statements.ts'

/** Milliseconds of a tick of /proc: the kernel counts a hundred a second for programs. */
const tickMs = 10
const stillMs = 200
/** A process at rest uses less than a twentieth of a core. */
const restMs = stillMs / 20
const longestWaitMs = 4_000

/** Processor time of a process with its threads and its living children, in ms; undefined where the system has no /proc. */
export function processorMs(pid: number): number | undefined {
  try {
    const own = ticksOf(pid) * tickMs
    return childrenOf(pid).reduce((sum, child) => sum + (processorMs(child) ?? 0), own)
  } catch {
    return undefined
  }
}

/** As `processorMs`, when the process has finished its background work, such as the projection of a journal. Waits at most 4 s. */
export async function processorMsAtRest(pid: number): Promise<number | undefined> {
  const endMs = performance.now() + longestWaitMs
  let before = processorMs(pid)
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, stillMs))
    const after = processorMs(pid)
    if (before === undefined || after === undefined) return undefined
    if (after - before <= restMs || performance.now() > endMs) return after
    before = after
  }
}

const readEveryMs = 250

/** Processor time of all connections that a database had since the first reading: 0 where its server is on another machine. */
export function createConnectionTimes(database: TestDatabase) {
  // The last reading of each connection; connections come and go.
  const lastMs = new Map<number, number>()
  async function read(): Promise<number> {
    const rows = await database.query<{ pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'",
    )
    for (const { pid } of rows) {
      const ms = processorMs(pid)
      if (ms !== undefined) lastMs.set(pid, ms)
    }
    return [...lastMs.values()].reduce((sum, ms) => sum + ms, 0)
  }
  return {
    read,
    /** Reads also while `work` runs, so that a connection that ends meanwhile counts. */
    async during<T>(work: () => Promise<T>): Promise<T> {
      const timer = setInterval(() => void read(), readEveryMs)
      try {
        return await work()
      } finally {
        clearInterval(timer)
      }
    },
  }
}

/** utime and stime; the name before them may contain blanks and brackets. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
