import { readdirSync, readFileSync } from 'node:fs'

/** What the threads of one name have used so far. */
export interface ThreadTimes {
  processorUs: number
  /** Times that a thread went to sleep: to wait for another thread, the disk or the network. */
  sleeps: number
}

/** By name, such as `libuv-worker`; of the process's threads that live now. */
export function readThreadTimes(pid: number): Map<string, ThreadTimes> {
  const times = new Map<string, ThreadTimes>()
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const read = (file: string) => readFileSync(`/proc/${pid}/task/${task}/${file}`, 'utf8')
    try {
      const name = read('comm').trim()
      const before = times.get(name) ?? { processorUs: 0, sleeps: 0 }
      times.set(name, {
        processorUs: before.processorUs + Number(read('schedstat').split(' ')[0]) / 1000,
        sleeps: before.sleeps + Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(read('status'))![1]),
      })
    } catch {
      // The thread has ended meanwhile.
    }
  }
  return times
}

/** One line for each name of threads that took at least a microsecond a call, the busiest first. */
export function describeThreads(
  before: ReadonlyMap<string, ThreadTimes>,
  after: ReadonlyMap<string, ThreadTimes>,
  calls: number,
): string[] {
  return [...after]
    .map(([name, { processorUs, sleeps }]) => {
      const earlier = before.get(name) ?? { processorUs: 0, sleeps: 0 }
      return { name, us: (processorUs - earlier.processorUs) / calls, sleeps: (sleeps - earlier.sleeps) / calls }
    })
    .filter(({ us }) => us >= 1)
    .toSorted((a, b) => b.us - a.us)
    .map(
      ({ name, us, sleeps }) =>
        `${name.padEnd(16)} ${us.toFixed(1).padStart(7)} us   ${sleeps.toFixed(2).padStart(5)} sleeps`,
    )
}
