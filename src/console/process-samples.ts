import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { type Clock, residentBytes } from '../platform/kernel/index.ts'

const everyMs = 10_000
/** Of ten minutes. */
const maximumSamples = 60
/** Of the histogram: shorter delays are noise. */
const resolutionMs = 10

interface ProcessSample {
  at: string
  residentBytes: number
  heapBytes: number
  cpuPercent: number
  delayP99Ms: number
  delayMaximumMs: number
}

/** Memory, processor time and event-loop delay of this process over the last minutes. */
export function createProcessSamples(clock: Clock) {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  const samples: ProcessSample[] = []
  let since = { atMs: clock.monotonicMs(), cpu: process.cpuUsage() }

  function sample(): ProcessSample {
    const used = process.cpuUsage(since.cpu)
    const elapsedMs = Math.max(1, clock.monotonicMs() - since.atMs)
    return {
      at: new Date(clock.now()).toISOString(),
      residentBytes: residentBytes(),
      heapBytes: getHeapStatistics().used_heap_size,
      cpuPercent: Math.round((used.user + used.system) / elapsedMs / 10),
      delayP99Ms: milliseconds(delay.percentile(99), delay),
      delayMaximumMs: milliseconds(delay.max, delay),
    }
  }
  const stop = clock.every(everyMs, () => {
    samples.push(sample())
    if (samples.length > maximumSamples) samples.shift()
    delay.reset()
    since = { atMs: clock.monotonicMs(), cpu: process.cpuUsage() }
  })

  return {
    /** Oldest first; the last one is of this moment. */
    list: (): ProcessSample[] => [...samples, sample()],
    close(): void {
      stop()
      delay.disable()
    },
  }
}

/** The timer itself waits for the resolution; an empty histogram has no values. */
function milliseconds(nanoseconds: number, { count }: ReturnType<typeof monitorEventLoopDelay>): number {
  return count === 0 ? 0 : Math.max(0, Math.round(nanoseconds / 1e5) / 10 - resolutionMs)
}
