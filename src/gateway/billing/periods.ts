import { Temporal } from 'temporal-polyfill'

/** Budget months. Pure: the same moment, zone and anchor day always give the same period. */

export interface Period {
  /** First day in the organisation's zone, `YYYY-MM-DD`. */
  name: string
  /** Milliseconds since the epoch; included. */
  startsAt: number
  /** Milliseconds since the epoch; not included. */
  endsAt: number
}

/**
 * The budget period of a moment. A period starts at the first instant of the anchor day in the zone (on days whose
 * midnight is skipped by a clock change, that is the first instant after the gap) and ends where the next one starts.
 * Throws RangeError on an unknown zone or an anchor day outside 1..28.
 */
export function periodAt(atMs: number, timeZone: string, anchorDay: number): Period {
  if (!Number.isInteger(anchorDay) || anchorDay < 1 || anchorDay > 28) {
    throw new RangeError(`periodAnchorDay must be 1 to 28, not ${anchorDay}`)
  }
  const today = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).toPlainDate()
  let first = today.with({ day: anchorDay })
  // Compared as instants: where a clock change repeats the hour around midnight, dates alone would be ambiguous.
  if (startOfDay(first, timeZone) > atMs) first = first.subtract({ months: 1 })
  else if (startOfDay(first.add({ months: 1 }), timeZone) <= atMs) first = first.add({ months: 1 })
  return {
    name: first.toString(),
    startsAt: startOfDay(first, timeZone),
    endsAt: startOfDay(first.add({ months: 1 }), timeZone),
  }
}

/** First instant of a day in a zone, in milliseconds since the epoch. */
export function startOfDay(day: Temporal.PlainDate, timeZone: string): number {
  return day.toZonedDateTime(timeZone).epochMilliseconds
}

/**
 * The current period continues when the organisation's zone or anchor day changes, and the next one starts where it ends.
 * Otherwise a change in the middle of a month would grant a second budget.
 */
export function periodAfter(previous: Period | undefined, atMs: number, timeZone: string, anchorDay: number): Period {
  if (previous && previous.startsAt <= atMs && atMs < previous.endsAt) return previous
  const period = periodAt(atMs, timeZone, anchorDay)
  if (!previous || previous.endsAt > atMs) return period
  const isShortened = previous.endsAt > period.startsAt
  const startsAt = isShortened ? previous.endsAt : period.startsAt
  const name = isShortened ? dayOf(startsAt, timeZone) : period.name
  return { ...period, startsAt, name: laterName(name, previous.name) }
}

/** The name identifies a period: two zones may have the same first day, and that day must not name two periods. */
function laterName(name: string, previousName: string): string {
  if (name > previousName) return name
  return Temporal.PlainDate.from(previousName).add({ days: 1 }).toString()
}

function dayOf(atMs: number, timeZone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).toPlainDate().toString()
}
