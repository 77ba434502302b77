import { totalmem } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { type Log, residentBytes } from '../kernel/index.ts'

/** What the process lacks. */
export type Pressure = 'event_loop' | 'memory'

/** What is measured once in an interval. */
export interface PressureSample {
  /** Mean time by which the event loop was late; NaN if it has not been measured in this interval. */
  eventLoopDelayMs: number
  /** Used parts, from 0 to 1: of the memory of the container or the machine, and of the heap of V8. */
  memory: number
  heap: number
}

export interface OverloadMonitor {
  pressure(): Pressure | null
  close(): void
}

const intervalMs = 500
const resolutionMs = 20
/** A single late turn, such as a collection of garbage, is over before a rejection would help. */
const lateIntervals = 2

/** Measures twice a second whether this process is late or short of memory. */
export function createOverloadMonitor({
  maximumEventLoopDelayMs,
  maximumMemoryPercent,
  sampler = createSampler(),
  log,
}: {
  maximumEventLoopDelayMs: number
  maximumMemoryPercent: number
  /** Tests pass their own. */
  sampler?: { sample(): PressureSample; close(): void }
  log: Log
}): OverloadMonitor {
  let pressure: Pressure | null = null
  let late = 0
  const measure = () => {
    const { eventLoopDelayMs, memory, heap } = sampler.sample()
    if (!Number.isNaN(eventLoopDelayMs)) late = eventLoopDelayMs > maximumEventLoopDelayMs ? late + 1 : 0
    const isShort = Math.max(memory, heap) * 100 > maximumMemoryPercent
    const next = isShort ? 'memory' : late >= lateIntervals ? 'event_loop' : null
    if (next === pressure) return
    const measured = { eventLoopDelayMs: Math.round(eventLoopDelayMs), memory: round(memory), heap: round(heap) }
    if (next) log.warn({ pressure: next, ...measured }, 'overload began: new work is rejected')
    else log.info({ pressure, ...measured }, 'overload ended')
    pressure = next
  }
  const timer = setInterval(measure, intervalMs)
  timer.unref()
  return {
    pressure: () => pressure,
    close() {
      clearInterval(timer)
      sampler.close()
    },
  }
}

const round = (part: number) => Math.round(part * 100) / 100

function createSampler() {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  // 0 or a number above the memory of the machine: no limit.
  const memoryBytes = Math.min(process.constrainedMemory() || Infinity, totalmem())
  return {
    sample(): PressureSample {
      const eventLoopDelayMs = delay.mean / 1e6 - resolutionMs
      delay.reset()
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
      return { eventLoopDelayMs, memory: residentBytes() / memoryBytes, heap: used / limit }
    },
    close: () => void delay.disable(),
  }
}
