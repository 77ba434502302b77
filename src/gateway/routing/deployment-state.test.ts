import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { trafficSlotMs, trafficSlots } from '../models/index.ts'
import { createDeploymentTraffic } from './deployment-state.ts'

function setUp() {
  const clock = createFakeClock()
  return { clock, traffic: createDeploymentTraffic({ clock }) }
}

describe('the traffic of a deployment', () => {
  test('is null before its first call', () => {
    expect(setUp().traffic.view('a')).toBeNull()
  })

  test('counts every outcome once, and a broken stream as an error of a counted request', () => {
    const { traffic } = setUp()
    for (const outcome of ['answered', 'answered', 'failed', 'limited', 'rejected'] as const)
      traffic.attempt('a', outcome)
    traffic.brokenStream('a')
    expect(traffic.view('a')).toMatchObject({ requests: 5, errors: 2, rateLimited: 1, rejected: 1 })
    expect(traffic.view('a')!.slots.at(-1)).toEqual({ requests: 5, errors: 2, rateLimited: 1 })
    expect(traffic.view('b')).toBeNull()
  })

  test('forgets what is older than the window, slot by slot', async () => {
    const { clock, traffic } = setUp()
    traffic.attempt('a', 'failed')
    traffic.finished('a', 100)
    await clock.advance(trafficSlotMs)
    traffic.attempt('a', 'answered')
    expect(
      traffic
        .view('a')!
        .slots.slice(-2)
        .map(({ requests }) => requests),
    ).toEqual([1, 1])
    await clock.advance(trafficSlotMs * (trafficSlots - 1))
    expect(traffic.view('a')).toMatchObject({ requests: 1, errors: 0, latencyMs: null })
    await clock.advance(trafficSlotMs)
    expect(traffic.view('a')).toMatchObject({ requests: 0, errors: 0 })
    // The ring is used again from its beginning.
    traffic.attempt('a', 'answered')
    expect(traffic.view('a')).toMatchObject({ requests: 1, errors: 0 })
  })

  test('has percentiles within 7 % of the exact ones', () => {
    const { traffic } = setUp()
    let seed = 7
    const durations = Array.from({ length: 5_000 }, () => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      // From 1 ms to 60 s, evenly on a logarithmic scale.
      return Math.exp((seed / 2 ** 32) * Math.log(60_000))
    })
    for (const ms of durations) traffic.finished('a', ms)
    const sorted = durations.toSorted((left, right) => left - right)
    for (const [name, share] of [
      ['p50', 0.5],
      ['p95', 0.95],
    ] as const) {
      const exact = sorted[Math.ceil(sorted.length * share) - 1]!
      expect(Math.abs(traffic.view('a')!.latencyMs![name] / exact - 1)).toBeLessThan(0.08)
    }
  })

  test('has the tokens per second of all answers together', () => {
    const { traffic } = setUp()
    traffic.generated('a', 100, 1_000)
    traffic.generated('a', 200, 500)
    expect(traffic.view('a')!.outputTokensPerSecond).toBeCloseTo(200)
  })

  test('is dropped for the deployment that was added first when there are too many', () => {
    const { traffic } = setUp()
    for (let index = 0; index <= 1_000; index++) traffic.attempt(`d${index}`, 'answered')
    expect(traffic.view('d0')).toBeNull()
    expect(traffic.view('d1')).not.toBeNull()
    expect(traffic.view('d1000')).not.toBeNull()
  })
})
