import { Worker } from 'node:worker_threads'
import { processorMs } from './processor-time.ts'

/**
 * Starts the watchdog of a child process (see watchdog.ts), and ignores the signals that a terminal sends to every process: the parent
 * decides when its children end. Without limits until they are set.
 */
export function startWatchdog() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('disconnect', () => process.exit(0))
  const limits = new Float64Array(new SharedArrayBuffer(16)).fill(Infinity)
  const watchdog = new Worker(new URL('watchdog.ts', import.meta.url), { workerData: limits.buffer })
  watchdog.on('error', () => process.exit(1))
  return {
    online: new Promise<void>((resolve) => watchdog.once('online', () => resolve())),
    setMemoryLimit: (bytes: number) => void (limits[0] = bytes),
    /** Processor time of this process from now on. */
    setTimeLimit: (milliseconds: number) => void (limits[1] = processorMs() + milliseconds),
    /** Runs work whose processor time does not count, up to this much of it. */
    async withMoreTime<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
      const before = processorMs()
      limits[1] = limits[1]! + milliseconds
      try {
        return await work()
      } finally {
        limits[1] -= Math.max(0, milliseconds - (processorMs() - before))
      }
    },
  }
}
