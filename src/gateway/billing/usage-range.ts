import { Temporal } from 'temporal-polyfill'
import { maximumUsageDays } from '../../contract/usage.ts'
import { invalidField } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import { periodAt, startOfDay } from './periods.ts'

/** What a report needs of an organisation, which may be removed by now. */
export type UsageSubject = Pick<Organisation, 'id' | 'timeZone' | 'periodAnchorDay'>

export interface UsageRange {
  from: string
  to: string
  /** Every day from `from` to `to`. */
  days: readonly string[]
  fromMs: number
  toMs: number
}

/** Days are those of the organisation's zone. Throws `invalid_request` on a range that is reversed or too long. */
export function usageRange(organisation: UsageSubject, nowMs: number, from?: string, to?: string): UsageRange {
  const { timeZone, periodAnchorDay } = organisation
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone).toPlainDate()
  const last = to === undefined ? today : Temporal.PlainDate.from(to)
  const first =
    from === undefined
      ? earlier(Temporal.PlainDate.from(periodAt(nowMs, timeZone, periodAnchorDay).name), last)
      : Temporal.PlainDate.from(from)
  return {
    from: first.toString(),
    to: last.toString(),
    days: daysBetween(first, last, maximumUsageDays),
    fromMs: startOfDay(first, timeZone),
    toMs: startOfDay(last.add({ days: 1 }), timeZone),
  }
}

/** Every day of a range, `YYYY-MM-DD`. Throws `invalid_request` if it is reversed or longer than `maximum`. */
export function daysBetween(first: Temporal.PlainDate, last: Temporal.PlainDate, maximum: number): string[] {
  const count = first.until(last).days + 1
  if (count < 1) throw invalidField('from', '`from` must not lie after `to`.')
  if (count > maximum) {
    const message = `A report covers at most ${maximum} days; ask for ${count} in parts.`
    throw invalidField('from', message)
  }
  return daysFrom(first, count)
}

function earlier(a: Temporal.PlainDate, b: Temporal.PlainDate): Temporal.PlainDate {
  return Temporal.PlainDate.compare(a, b) <= 0 ? a : b
}

/** The same number of days before these. */
export function previousDays(days: readonly string[]): string[] {
  return daysFrom(Temporal.PlainDate.from(days[0]!).subtract({ days: days.length }), days.length)
}

export function daysFrom(first: Temporal.PlainDate, count: number): string[] {
  return Array.from({ length: count }, (_, index) => first.add({ days: index }).toString())
}
