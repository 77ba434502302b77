import type { OwnedDatabase, Queryable } from '../../platform/database/index.ts'
import { countingTimeoutMs, tryCountingLock } from './usage-counting.store.ts'

/** The spans of migration 0130-usage-spans: sums of 14 days, from which reports of many days are read. */

export const spanDays = 14
/** A Monday; the function usage_span_start of the migration counts from the same day. */
const firstSpan = '2000-01-03'
/** Days after its end until a span is closed: its last day has ended in all time zones, and nearly all of its calls are counted. */
const closedAfterDays = 2
const dayMs = 86_400_000

/** How a range of days is read: each day is in exactly one of the lists. */
interface CoveredDays {
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

/** Organisations whose span is closed in one transaction. Few on the embedded engine, whose one connection is occupied meanwhile. */
const organisationsPerRound = { embedded: 20, postgres: 50 }

/** Spans that end before this day are closed in every table. */
export async function loadClosedTo(database: Queryable): Promise<string> {
  const [row] = await database.query<{ day: string }>(
    `select to_char(min(closed_to), 'YYYY-MM-DD') as day from usage_span_tables`,
  )
  return row!.day
}

/** The table whose spans are closed the least far. */
export async function findSpanTable(database: Queryable): Promise<string> {
  const [row] = await database.query<{ name: string }>(
    'select target as name from usage_span_tables order by closed_to, target limit 1',
  )
  return row!.name
}

/** Closes the next span of a table that ends before the day `before`, for some organisations. `done`: there is none. */
export function closeSpan(
  database: OwnedDatabase,
  table: string,
  before: string,
): Promise<{ done: boolean; locked: boolean }> {
  const close = async (transaction: Queryable) => {
    if (!(await tryCountingLock(transaction))) return { done: false, locked: false }
    const [row] = await transaction.query<{ closed: boolean }>(
      'select usage_close_span($1, $2::date, $3::int4) as closed',
      [table, before, organisationsPerRound[database.engine]],
    )
    return { done: !row!.closed, locked: true }
  }
  return database.transaction(close, { timeoutMs: countingTimeoutMs, background: true })
}

/** Rows of closed spans and of the other days, as `coverDays` divides them. $1 is the organisation, $2 are days, $3 are spans. */
export function withSpans(columns: string, days: string, spans: string, condition = 'true'): string {
  return `select ${columns} from ${days} where organisation_id = $1 and day = any($2::date[]) and ${condition}
    union all select ${columns} from ${spans} where organisation_id = $1 and first_day = any($3::date[]) and ${condition}`
}
