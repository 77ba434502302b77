import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { createMinuteCounts, createVisitLimits } from './visit-limits.ts'
import type { Site } from './site.ts'

const limits = { visitorPerMinute: 100, addressPerMinute: 2, spacePerMinute: 1_000 }
const site = { spaceId: 'a-space', settings: { limits } } as unknown as Site

describe('a limit a minute', () => {
  test('counts a /64 network of IPv6 as one address, and other networks apart', () => {
    const { enterMessage } = createVisitLimits({ clock: createFakeClock() })
    enterMessage(site, '2001:db8::1', 'a')
    enterMessage(site, '2001:db8::ffff', 'b')
    expect(() => enterMessage(site, '2001:db8:0:0:1::', 'c')).toThrow('2 requests a minute from one network')
    enterMessage(site, '2001:db8:0:1::1', 'c')
    enterMessage(site, '203.0.113.1', 'd')
  })

  test('counts nothing of a message that another limit refuses', () => {
    const { enterMessage } = createVisitLimits({ clock: createFakeClock() })
    for (let message = 0; message < 2; message++) enterMessage(site, '203.0.113.1', 'a')
    for (let message = 0; message < 200; message++) expect(() => enterMessage(site, '203.0.113.1', 'a')).toThrow()
    enterMessage(site, '203.0.113.2', 'a')
  })

  test('allows no more than the limit in any minute, and the whole of it after two', async () => {
    const clock = createFakeClock()
    const counts = createMinuteCounts({ clock, maximumKeys: 10 })
    for (let event = 0; event < 10; event++) counts.add('a')
    await clock.advance(61_000)
    expect(counts.get('a')).toBeGreaterThan(9)
    await clock.advance(30_000)
    expect(counts.get('a')).toBeLessThan(5.5)
    await clock.advance(30_000)
    expect(counts.get('a')).toBe(0)
  })

  test('forgets the first keys above its bound of memory', () => {
    const counts = createMinuteCounts({ clock: createFakeClock(), maximumKeys: 3 })
    for (const key of ['a', 'b', 'c', 'd']) counts.add(key)
    expect(['a', 'b', 'c', 'd'].map((key) => counts.get(key))).toEqual([0, 1, 1, 1])
  })
})

test('the pressure doubles the work of a puzzle with each doubling of visits, up to a bound', () => {
  const { noteBegun, pressure } = createVisitLimits({ clock: createFakeClock() })
  const after = (visits: number) => {
    for (let visit = 0; visit < visits; visit++) noteBegun(site, '203.0.113.1')
    return pressure(site, '203.0.113.1')
  }
  expect([after(0), after(9), after(1), after(10), after(20), after(2_000)]).toEqual([0, 0, 1, 2, 3, 5])
})
