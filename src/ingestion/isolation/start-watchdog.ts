import { Worker } from 'node:worker_threads'

/**
 * Starts the watchdog of a child process (see watchdog.ts), and ignores the signals that a terminal sends to every process: the parent
 * decides when its children end. Without a limit until one is set.
 */
export function startWatchdog(): { online: Promise<void>; setMemoryLimit: (bytes: number) => void } {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('disconnect', () => process.exit(0))
  const limit = new Float64Array(new SharedArrayBuffer(8))
  limit[0] = Infinity
  const watchdog = new Worker(new URL('watchdog.ts', import.meta.url), { workerData: limit.buffer })
  watchdog.on('error', () => process.exit(1))
  return {
    online: new Promise((resolve) => watchdog.once('online', () => resolve())),
    setMemoryLimit: (bytes) => void (limit[0] = bytes),
  }
}
