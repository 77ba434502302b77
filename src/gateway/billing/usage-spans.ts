/** The spans of migration 0130-usage-spans: sums of 14 days, from which reports of many days are read. */

export const spanDays = 14
/** A Monday; the function usage_span_start of the migration counts from the same day. */
const firstSpan = '2000-01-03'
/** Days after its end until a span is closed: its last day has ended in all time zones, and nearly all of its calls are counted. */
const closedAfterDays = 2
const dayMs = 86_400_000

/** How a range of days is read: each day is in exactly one of the lists. */
export interface CoveredDays {
  /** First days of closed spans. */
  spans: string[]
  days: string[]
}

/** Covers consecutive days with closed spans as far as possible. `closedTo`: spans that end before this day are closed. */
export function coverDays(consecutive: readonly string[], closedTo: string): CoveredDays {
  const covered: CoveredDays = { spans: [], days: [] }
  let next = 0
  while (next < consecutive.length) {
    const first = consecutive[next]!
    const last = consecutive[next + spanDays - 1]
    const isClosed = last !== undefined && last < closedTo && isSpanStart(first)
    covered[isClosed ? 'spans' : 'days'].push(first)
    next += isClosed ? spanDays : 1
  }
  return covered
}

function isSpanStart(day: string): boolean {
  return ((Date.parse(day) - Date.parse(firstSpan)) / dayMs) % spanDays === 0
}

/** Spans that end before this day may be closed. */
export function closableBefore(nowMs: number): string {
  return new Date(nowMs - closedAfterDays * dayMs).toISOString().slice(0, 10)
}
