import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLog } from '../kernel/index.ts'
import { createOverloadMonitor, type PressureSample } from './overload-monitor.ts'

const idle: PressureSample = { eventLoopDelayMs: 1, memory: 0.2, heap: 0.2 }

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

/** The pressure after each of the samples. */
function pressures(samples: Partial<PressureSample>[]) {
  const waiting = samples.map((sample) => ({ ...idle, ...sample }))
  const monitor = createOverloadMonitor({
    maximumEventLoopDelayMs: 500,
    maximumMemoryPercent: 90,
    sampler: { sample: () => waiting.shift()!, close() {} },
    log: silentLog,
  })
  const seen = samples.map(() => {
    vi.advanceTimersByTime(500)
    return monitor.pressure()
  })
  monitor.close()
  return seen
}

describe('the pressure on the process', () => {
  it('is the event loop after two late intervals, and ends with one that is in time', () => {
    const late = { eventLoopDelayMs: 501 }
    expect(pressures([late, {}, late, late, { eventLoopDelayMs: NaN }, {}])).toEqual([
      null,
      null,
      null,
      'event_loop',
      'event_loop',
      null,
    ])
  })

  it('is memory while the resident memory or the heap is above its part', () => {
    expect(pressures([{ memory: 0.91 }, { heap: 0.91 }, { memory: 0.9, heap: 0.9 }])).toEqual([
      'memory',
      'memory',
      null,
    ])
  })

  it('is measured in this process', async () => {
    vi.useRealTimers()
    const monitor = createOverloadMonitor({ maximumEventLoopDelayMs: 10, maximumMemoryPercent: 100, log: silentLog })
    const isLate = () => {
      const end = performance.now() + 200
      while (performance.now() < end);
      return monitor.pressure()
    }
    await expect.poll(isLate, { timeout: 10_000, interval: 1 }).toBe('event_loop')
    await expect.poll(() => monitor.pressure(), { timeout: 10_000 }).toBe(null)
    monitor.close()
  })
})
