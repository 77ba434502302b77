import { describe, expect, it } from 'vitest'
import { nextRunAt } from './settings-change.ts'

const next = (schedule: Parameters<typeof nextRunAt>[0], zone: string, after: string) => {
  const atMs = nextRunAt(schedule, zone, Date.parse(after))
  return atMs === null ? null : new Date(atMs).toISOString()
}
const daily = (time: string) => ({ every: 'day', time }) as const
const weekly = (weekday: number, time: string) => ({ every: 'week', weekday, time }) as const

describe('nextRunAt', () => {
  it.each([
    ['today', daily('02:30'), 'Europe/Berlin', '2026-11-22T01:00:00Z', '2026-11-22T01:30:00.000Z'],
    ['tomorrow, at the very time', daily('02:30'), 'UTC', '2026-11-22T02:30:00Z', '2026-11-23T02:30:00.000Z'],
    ['the next Sunday', weekly(7, '10:00'), 'UTC', '2026-11-22T10:00:00Z', '2026-11-29T10:00:00.000Z'],
    ['the Monday of the zone', weekly(1, '00:15'), 'Asia/Tokyo', '2026-11-22T12:00:00Z', '2026-11-22T15:15:00.000Z'],
    ['after a skipped hour', daily('02:30'), 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:30:00.000Z'],
    ['once in a repeated hour', daily('02:30'), 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00.000Z'],
  ])('is %s', (_, schedule, zone, after, expected) => {
    expect(next(schedule, zone, after)).toBe(expected)
  })

  it('is null without a schedule', () => {
    expect(next(null, 'UTC', '2026-11-22T00:00:00Z')).toBeNull()
  })
})
