import fs from 'node:fs'
import { Session } from 'node:inspector'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded with --import into a process that a bench measures: each SIGUSR2 prints the processor time used so far, of the main thread
 * and of the whole process, as a line on standard error. With BENCH_PROFILE (a file), the main thread is profiled from each
 * odd signal to the next even one; the last profile stays.
 */

export interface CpuReading {
  /** Microseconds. */
  thread: number
  process: number
  /** Time in which the main thread had nothing to do: it waited for disk, network or another thread. */
  idle: number
}

const profile = process.env.BENCH_PROFILE
const sampleEveryUs = 200

if (isMainThread) {
  const session = profile === undefined ? undefined : new Session()
  session?.connect()
  session?.post('Profiler.enable')
  session?.post('Profiler.setSamplingInterval', { interval: sampleEveryUs })
  let isProfiling = false
  process.on('SIGUSR2', () => {
    const total = ({ user, system }: NodeJS.CpuUsage) => user + system
    const reading: CpuReading = {
      thread: total(process.threadCpuUsage()),
      process: total(process.cpuUsage()),
      idle: performance.eventLoopUtilization().idle * 1000,
    }
    if (session && profile !== undefined) {
      if (isProfiling) {
        session.post('Profiler.stop', (error, result) => {
          if (!error) fs.writeFileSync(profile, JSON.stringify(result.profile))
        })
      } else session.post('Profiler.start')
      isProfiling = !isProfiling
    }
    fs.writeSync(2, `cpu ${JSON.stringify(reading)}\n`)
  })
}
