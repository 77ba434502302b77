import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Period, periodAfter, periodAt } from './periods.ts'

const at = (iso: string) => Date.parse(iso)
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'Pacific/Apia',
  'Asia/Kathmandu',
  'Africa/Cairo',
  'America/Santiago',
]

describe('periods', () => {
  test('the month turns at midnight of the organisation, in summer and in winter time', () => {
    expect(periodAt(at('2026-03-31T21:59:59.999Z'), 'Europe/Berlin', 1).name).toBe('2026-03-01')
    expect(periodAt(at('2026-03-31T22:00:00Z'), 'Europe/Berlin', 1)).toEqual({
      name: '2026-04-01',
      startsAt: at('2026-03-31T22:00:00Z'),
      endsAt: at('2026-04-30T22:00:00Z'),
    })
    expect(periodAt(at('2026-11-30T22:59:59Z'), 'Europe/Berlin', 1).name).toBe('2026-11-01')
  })

  test('an anchor day shifts the month; before it the former month still runs, also over new year', () => {
    expect(periodAt(at('2026-01-14T12:00:00Z'), 'UTC', 15).name).toBe('2025-12-15')
    expect(periodAt(at('2026-01-15T00:00:00Z'), 'UTC', 15).name).toBe('2026-01-15')
    expect(periodAt(at('2026-03-01T00:00:00Z'), 'UTC', 28).name).toBe('2026-02-28')
  })

  test('where midnight does not exist the period starts at the first instant after the gap', () => {
    // Brazil put its clocks forward at midnight of 4 November 2018: the day began at 01:00.
    expect(periodAt(at('2018-11-10T00:00:00Z'), 'America/Sao_Paulo', 4).startsAt).toBe(at('2018-11-04T03:00:00Z'))
  })

  test('property: periods tile time without gap or overlap, in every zone', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: at('2005-01-01T00:00:00Z'), max: at('2040-01-01T00:00:00Z') }),
        fc.constantFrom(...zones),
        fc.integer({ min: 1, max: 28 }),
        (moment, zone, anchor) => {
          const period = periodAt(moment, zone, anchor)
          expect(period.startsAt).toBeLessThanOrEqual(moment)
          expect(period.endsAt).toBeGreaterThan(moment)
          expect(periodAt(period.startsAt, zone, anchor)).toEqual(period)
          expect(periodAt(period.endsAt - 1, zone, anchor)).toEqual(period)
          expect(periodAt(period.endsAt, zone, anchor).startsAt).toBe(period.endsAt)
        },
      ),
    )
  })

  test('property: changes of zone and anchor never make periods overlap', () => {
    const change = fc.record({
      afterMs: fc.integer({ min: 1, max: 40 * 86_400_000 }),
      zone: fc.constantFrom(...zones),
      anchor: fc.integer({ min: 1, max: 28 }),
    })
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 30 }), (changes) => {
        let now = at('2026-01-10T00:00:00Z')
        let previous: Period | undefined
        const names = new Set<string>()
        for (const { afterMs, zone, anchor } of changes) {
          now += afterMs
          const next: Period = periodAfter(previous, now, zone, anchor)
          expect(next.startsAt <= now && now < next.endsAt).toBe(true)
          if (previous && next !== previous) {
            expect(next.startsAt).toBeGreaterThanOrEqual(previous.endsAt)
            expect(names.has(next.name)).toBe(false)
          }
          names.add(next.name)
          previous = next
        }
      }),
    )
  })

  test('two periods that begin on the same day in their own zones have two names', () => {
    const first = periodAfter(undefined, at('2026-02-09T00:00:00Z'), 'Africa/Cairo', 3)
    const second = periodAfter(first, at('2026-03-02T23:00:00Z'), 'Asia/Kathmandu', 4)
    const third = periodAfter(second, at('2026-03-03T19:00:00Z'), 'UTC', 1)
    expect([first, second, third].map(({ name }) => name)).toEqual(['2026-02-03', '2026-03-03', '2026-03-04'])
    expect(third.startsAt).toBe(second.endsAt)
  })

  test('an unknown zone and an anchor day outside 1 to 28 are refused', () => {
    expect(() => periodAt(0, 'Mars/Olympus', 1)).toThrow(RangeError)
    expect(() => periodAt(0, 'UTC', 29)).toThrow(RangeError)
  })
})
