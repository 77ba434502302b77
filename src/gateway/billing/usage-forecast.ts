import { Temporal } from 'temporal-polyfill'
import { slotMs } from './usage-tables.ts'

/** Forecast and pace of an organisation's spending. Pure. Amounts are picoUsd as floats: forecasts are estimates, the ledger is exact. */

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Complete days that a forecast reads. Four weeks, so that each day of the week counts the same. */
export const historyDays = 28
/** With less, working days and weekends are not distinguished. */
const daysForWeekends = 14
/** Of each end of the sorted days, this share is replaced by the nearest remaining day, so that one outlier does not decide. */
const winsorizedShare = 0.1
/** Normal quantile of an interval that contains 80 % of the outcomes. */
const quantile80 = 1.2816
const daysForUsual = 3
const elevatedRatio = 3
const alarmRatio = 6
/** Less than this share of the budget is never alarming. */
const smallestShare = 0.01

export interface ForecastInput {
  nowMs: number
  timeZone: string
  periodEndsAt: number
  budget: number
  spent: number
  /** Spend of each complete day before today since the first usage, oldest first, days without usage as 0. */
  days: readonly { day: string; spent: number }[]
}

export interface Forecast {
  expected: number
  low: number
  high: number
  historyDays: number
  exhaustedOn: string | null
}

/**
 * Spent so far, plus for each day until the end of the period the winsorized mean of the days of its kind: working days and
 * weekends. The interval assumes that days vary independently, as much as those of the history. Null without a complete day.
 */
export function forecastSpend({ nowMs, timeZone, periodEndsAt, budget, spent, days }: ForecastInput): Forecast | null {
  const history = days.slice(-historyDays)
  if (history.length === 0) return null
  const usual = usualDays(history)
  let expected = spent
  let variance = 0
  let exhaustedOn: string | null = null
  for (const { day, share } of remainingDays(nowMs, periodEndsAt, timeZone)) {
    const { mean, deviation } = usual(day)
    expected += mean * share
    variance += deviation ** 2 * share
    if (exhaustedOn === null && budget > 0 && expected >= budget) exhaustedOn = day.toString()
  }
  const spread = quantile80 * Math.sqrt(variance)
  return {
    expected,
    low: Math.max(spent, expected - spread),
    high: expected + spread,
    historyDays: history.length,
    exhaustedOn,
  }
}

/** Mean and standard deviation of the days of the same kind. */
function usualDays(history: ForecastInput['days']) {
  const isWeekend = (day: Temporal.PlainDate) => day.dayOfWeek >= 6
  const all = summarize(history.map(({ spent }) => spent))
  if (history.length < daysForWeekends) return () => all
  const of = (weekend: boolean) =>
    summarize(
      history.filter(({ day }) => isWeekend(Temporal.PlainDate.from(day)) === weekend).map(({ spent }) => spent),
    )
  const weekends = of(true)
  const workingDays = of(false)
  return (day: Temporal.PlainDate) => (isWeekend(day) ? weekends : workingDays)
}

function summarize(values: readonly number[]): { mean: number; deviation: number } {
  const sorted = values.toSorted((a, b) => a - b)
  const cut = Math.floor(sorted.length * winsorizedShare)
  const winsorized = sorted.map((_, place) => sorted[Math.min(Math.max(place, cut), sorted.length - 1 - cut)]!)
  const mean = winsorized.reduce((sum, value) => sum + value, 0) / winsorized.length
  const squares = winsorized.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, deviation: winsorized.length > 1 ? Math.sqrt(squares / (winsorized.length - 1)) : mean }
}

/** The days from now to the end of the period, with the share of each that is left. */
function* remainingDays(nowMs: number, endMs: number, timeZone: string) {
  let day = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone).toPlainDate()
  for (let fromMs = nowMs; fromMs < endMs;) {
    const next = day.add({ days: 1 })
    const startMs = day.toZonedDateTime(timeZone).epochMilliseconds
    const nextMs = next.toZonedDateTime(timeZone).epochMilliseconds
    yield { day, share: (Math.min(nextMs, endMs) - fromMs) / (nextMs - startMs) }
    fromMs = nextMs
    day = next
  }
}

/** The spend of a quarter hour. */
export interface Slot {
  startsAt: number
  spent: number
}

export interface PaceInput {
  nowMs: number
  periodEndsAt: number
  budget: number
  /** What is left of the budget. */
  left: number
  /** Of the last `historyDays` and today, in any order. */
  slots: readonly Slot[]
  /** When the organisation's first call began; null without any. */
  firstUsageMs: number | null
}

export interface Pace {
  spent: number
  usual: number | null
}

export interface Velocity {
  level: 'normal' | 'elevated' | 'alarm'
  lastHour: Pace
  lastDay: Pace
  exhaustedAtMs: number | null
}

/** Compares the last hour and the last 24 hours with the same hours of the days before. */
export function measureVelocity(input: PaceInput): Velocity {
  const { nowMs, periodEndsAt, budget, left } = input
  const lastHour = paceOf(input, hourMs)
  const lastDay = paceOf(input, dayMs)
  const restMs = lastHour.spent > 0 ? (left / lastHour.spent) * hourMs : Infinity
  const exhaustedAtMs = nowMs + restMs < periodEndsAt ? Math.round(nowMs + restMs) : null
  const exceeds = (ratio: number) =>
    [lastHour, lastDay].some(
      ({ spent, usual }) => usual !== null && spent > ratio * usual && spent > smallestShare * budget,
    )
  const endsSoon = budget > 0 && exhaustedAtMs !== null && restMs < dayMs
  const level = exceeds(alarmRatio) || endsSoon ? 'alarm' : exceeds(elevatedRatio) ? 'elevated' : 'normal'
  return { level, lastHour, lastDay, exhaustedAtMs }
}

function paceOf({ nowMs, slots, firstUsageMs }: PaceInput, lengthMs: number): Pace {
  const spentUntil = (endMs: number) => spentBetween(slots, endMs - lengthMs, endMs, nowMs)
  const known = firstUsageMs === null ? 0 : Math.min(historyDays, Math.floor((nowMs - lengthMs - firstUsageMs) / dayMs))
  const days = Array.from({ length: Math.max(0, known) }, (_, index) => spentUntil(nowMs - (index + 1) * dayMs))
  return {
    spent: spentUntil(nowMs),
    usual: days.length < daysForUsual ? null : days.reduce((sum, value) => sum + value, 0) / days.length,
  }
}

/** Quarter hours at the ends count in proportion; the one that runs has spent everything until now. */
function spentBetween(slots: readonly Slot[], fromMs: number, toMs: number, nowMs: number): number {
  let sum = 0
  for (const { startsAt, spent } of slots) {
    const endsAt = Math.max(startsAt + 1, Math.min(startsAt + slotMs, nowMs))
    const overlapMs = Math.min(endsAt, toMs) - Math.max(startsAt, fromMs)
    if (overlapMs > 0) sum += (spent * overlapMs) / (endsAt - startsAt)
  }
  return sum
}
