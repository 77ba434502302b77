import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLog, systemClock } from '../kernel/index.ts'
import {
  createAdmission,
  createOverloadMonitor,
  type Pressure,
  type PressureSample,
  type RefusalReason,
  runningUnderPressure,
} from './load.ts'

function arrange(maximumRunning: number) {
  const state: { pressure: Pressure | null } = { pressure: null }
  const refused: RefusalReason[] = []
  const admission = createAdmission({
    maximumRunning,
    pressure: () => state.pressure,
    refused: (reason) => refused.push(reason),
  })
  const enter = (owner: string, count = 1) => Array.from({ length: count }, () => admission.enter(owner))
  return { state, refused, admission, enter }
}

const overloaded = expect.objectContaining({ code: 'overloaded', retryAfterSeconds: 2 })

describe('the admission of requests', () => {
  it('runs at most the configured number, of one organisation at most half', () => {
    const { admission, enter, refused } = arrange(4)
    const [leave] = enter('one', 2)
    expect(() => admission.enter('one')).toThrow(
      expect.objectContaining({ code: 'rate_limit_exceeded', retryAfterSeconds: 2 }),
    )
    enter('two')
    enter('three')
    expect(() => admission.enter('four')).toThrow(overloaded)
    leave!()
    leave!()
    expect(admission.running()).toBe(3)
    enter('four')
    expect(() => admission.enter('five')).toThrow(overloaded)
    expect(refused).toEqual(['share', 'running', 'running'])
  })

  it('has room for another organisation while several run as many as they may', () => {
    const { admission, enter } = arrange(100)
    for (const owner of ['one', 'two', 'three']) {
      for (let count = 0; count < 100; count++) {
        try {
          admission.enter(owner)
        } catch (error) {
          expect(error).toMatchObject({ code: 'rate_limit_exceeded' })
        }
      }
    }
    expect(admission.running()).toBeLessThan(100)
    enter('four')
  })

  it('rejects those who run most while memory is short, and admits a few requests of others', () => {
    const { admission, enter, state, refused } = arrange(1_000)
    const leaves = enter('flood', 100)
    state.pressure = 'memory'
    expect(() => admission.enter('flood')).toThrow(overloaded)
    for (let number = 0; number < runningUnderPressure; number++) enter(`small ${number}`)
    expect(() => admission.enter('new')).toThrow(overloaded)
    expect(refused).toEqual(['memory', 'memory'])
    state.pressure = null
    enter('new')
    state.pressure = 'memory'
    // The floor counts the requests of all.
    for (const leave of leaves) leave()
    expect(() => admission.enter('new')).toThrow(overloaded)
  })

  it('rejects nothing below a small number while memory is short', () => {
    const { admission, enter, state, refused } = arrange(1_000)
    state.pressure = 'memory'
    const leaves = enter('one', runningUnderPressure)
    expect(() => admission.enter('one')).toThrow(overloaded)
    expect(refused).toEqual(['memory'])
    leaves[0]!()
    enter('one')
  })

  it('rejects those who run most while the event loop is late, and admits others', () => {
    const { admission, enter, state, refused } = arrange(1_000)
    enter('flood', 100)
    enter('small')
    state.pressure = 'event_loop'
    expect(() => admission.enter('flood')).toThrow(overloaded)
    enter('small')
    enter('new')
    expect(refused).toEqual(['event_loop'])
  })

  it('rejects all while the event loop is late because of equal organisations', () => {
    const { admission, enter, state } = arrange(1_000)
    const owners = Array.from({ length: 20 }, (_, index) => `owner ${index}`)
    for (const owner of owners) enter(owner, 2)
    state.pressure = 'event_loop'
    for (const owner of owners) expect(() => admission.enter(owner)).toThrow(overloaded)
  })
})

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
    clock: systemClock,
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
    const limits = { maximumEventLoopDelayMs: 10, maximumMemoryPercent: 100 }
    const monitor = createOverloadMonitor({ ...limits, clock: systemClock, log: silentLog })
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
