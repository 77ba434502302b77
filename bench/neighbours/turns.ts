/**
 * Loaded into a measured server (`--import`). From one SIGUSR2 to the next it measures how long the main thread runs without a pause in which timers
 * could run; then it writes `LoopReport` to the file of BENCH_LOOP_FILE. In processor time: other programs of the machine do not change it.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/** Milliseconds of processor time of the main thread, between two ticks of a timer of 1 ms: at most two turns of the event loop. */
export interface LoopReport {
  ticks: number[]
}

if (isMainThread) {
  const file = process.env.BENCH_LOOP_FILE!
  // Not for the processes that the server starts.
  delete process.env.NODE_OPTIONS
  let ticks: number[] = []
  let timer: NodeJS.Timeout | undefined
  process.on('SIGUSR2', () => {
    if (timer) {
      clearInterval(timer)
      timer = undefined
      writeFileSync(`${file}.new`, JSON.stringify({ ticks } satisfies LoopReport))
      renameSync(`${file}.new`, file)
      return
    }
    ticks = []
    let before = busyMs()
    timer = setInterval(() => {
      const now = busyMs()
      ticks.push(now - before)
      before = now
    }, 1)
  })
}

function busyMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
