import { describe, expect, test } from 'vitest'
import { percentilesOf } from './usage-report-parts.ts'
import { forecastSpend, measureVelocity } from './usage-forecast.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
// A Saturday at noon; the period ends after nine and a half days.
const nowMs = Date.parse('2026-11-21T12:00:00Z')
const periodEndsAt = Date.parse('2026-12-01T00:00:00Z')

/** The complete days before now, oldest first. */
function daysBefore(count: number, spent: (day: Date) => number) {
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(Date.parse('2026-11-21T00:00:00Z') - (count - index) * dayMs)
    return { day: day.toISOString().slice(0, 10), spent: spent(day) }
  })
}
const input = { nowMs, timeZone: 'UTC', periodEndsAt, budget: 1000, spent: 200 }

describe('the forecast', () => {
  test('adds the usual day for each day that is left, without a spread where days are equal', () => {
    const forecast = forecastSpend({ ...input, days: daysBefore(28, () => 10) })!
    expect(forecast).toMatchObject({ expected: 295, low: 295, high: 295, historyDays: 28, exhaustedOn: null })
  })

  test('distinguishes working days from weekends', () => {
    const days = daysBefore(28, (day) => (day.getUTCDay() % 6 === 0 ? 0 : 20))
    // Six working days are left.
    expect(forecastSpend({ ...input, days })!.expected).toBeCloseTo(200 + 6 * 20)
  })

  test('is hardly changed by one outlier', () => {
    const days = daysBefore(28, () => 10)
    days[5]!.spent = 10_000
    expect(forecastSpend({ ...input, days })!.expected).toBeLessThan(310)
  })

  test('names the day on which the budget ends', () => {
    const forecast = forecastSpend({ ...input, budget: 225, days: daysBefore(5, () => 10) })!
    expect(forecast.exhaustedOn).toBe('2026-11-23')
  })

  test('needs a complete day, and never expects less than what is spent', () => {
    expect(forecastSpend({ ...input, days: [] })).toBeNull()
    const wild = daysBefore(6, (day) => (day.getUTCDate() % 2 === 0 ? 0 : 100))
    expect(forecastSpend({ ...input, days: wild })!.low).toBeGreaterThanOrEqual(200)
  })
})

describe('the pace of spending', () => {
  const slotsOf = (spent: (hoursAgo: number) => number) =>
    Array.from({ length: 29 * 24 * 4 }, (_, index) => ({
      startsAt: nowMs - (index + 1) * (hourMs / 4),
      spent: spent(Math.floor(index / 4)) / 4,
    }))
  const pace = { nowMs, periodEndsAt, budget: 1000, left: 800, firstUsageMs: nowMs - 40 * dayMs }

  test('is normal while the last hour and day cost what they usually do', () => {
    const velocity = measureVelocity({ ...pace, slots: slotsOf(() => 1) })
    expect(velocity).toMatchObject({ level: 'normal', lastHour: { usual: 1 }, lastDay: { usual: 24 } })
    expect(velocity.lastHour.spent).toBeCloseTo(1)
  })

  test('is elevated above 3 times and alarming above 6 times the usual', () => {
    expect(measureVelocity({ ...pace, slots: slotsOf((ago) => (ago === 0 ? 20 : 5)) }).level).toBe('elevated')
    expect(measureVelocity({ ...pace, slots: slotsOf((ago) => (ago === 0 ? 31 : 5)) }).level).toBe('alarm')
  })

  test('ignores what is less than 1 % of the budget', () => {
    expect(measureVelocity({ ...pace, slots: slotsOf((ago) => (ago === 0 ? 7 : 0.1)) }).level).toBe('normal')
  })

  test('alarms when the budget ends within a day, also without history', () => {
    const velocity = measureVelocity({
      ...pace,
      left: 100,
      firstUsageMs: nowMs - hourMs,
      slots: slotsOf((ago) => (ago === 0 ? 50 : 0)),
    })
    expect(velocity).toMatchObject({ level: 'alarm', lastHour: { usual: null }, exhaustedAtMs: nowMs + 2 * hourMs })
  })
})

describe('percentiles', () => {
  test('are between the ends of the bucket that holds their rank', () => {
    // Bucket 40 holds 1,024 to 1,218 ms, bucket 60 holds 32,768 to 38,968 ms.
    expect(percentilesOf([60, 40], [10, 90])).toEqual({
      p50: expect.closeTo(1128, -1),
      p95: expect.closeTo(35_734, -1),
    })
    expect(percentilesOf([], [])).toBeNull()
  })
})
