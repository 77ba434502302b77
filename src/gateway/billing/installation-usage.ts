import { Temporal } from 'temporal-polyfill'
import {
  type InstallationExportQuery,
  type InstallationUsage,
  type InstallationUsageQuery,
  maximumInstallationDays,
} from '../../contract/installation-usage.ts'
import { maximumReportRows, maximumSeries } from '../../contract/usage-reports.ts'
import type { Database, Queryable } from '../../platform/database/index.ts'
import { type Clock, csvCell, formatPicoUsd, sharedOwner } from '../../platform/kernel/index.ts'
import {
  hasLatency,
  type InstallationDay,
  type InstallationFigures,
  type InstallationFilter,
  type InstallationLatency,
  type InstallationRow,
  loadInstallationDays,
  loadInstallationLatency,
  loadInstallationOptions,
  loadInstallationRows,
  loadInstallationTotals,
  loadInstallationValues,
} from './installation-usage.store.ts'
import { daysBetween, daysFrom, previousDays } from './usage-range.ts'
import { renderDurations } from './usage-report-parts.ts'
import { forecastSpend, historyDays } from './usage-forecast.ts'
import { renderForecast } from './usage-spending.ts'
import { subtract } from './usage-split.ts'

/** Days of a report without a range. */
const defaultDays = 30
/** Rows that one statement of an export reads. */
const exportPage = 5_000

export interface InstallationUsageDeps {
  database: Database
  clock: Clock
  /** Counts everything that was settled before the call. */
  catchUp(owner: string): Promise<void>
  /** False while entries from before an upgrade are still being counted. */
  isComplete(): Promise<boolean>
}

/** Labels are those of the caller: this room does not know the names of organisations. */
export interface InstallationReports {
  load(query: InstallationUsageQuery): Promise<InstallationUsage>
  /** Each row of a range, as lines of CSV with a header. Throws `invalid_request` before the first line. */
  loadCsv(
    query: InstallationExportQuery,
    nameOf: (organisationId: string) => string | undefined,
  ): { name: string; lines: AsyncGenerator<string> }
}

export function createInstallationReports(deps: InstallationUsageDeps): InstallationReports {
  const { database, clock, catchUp, isComplete } = deps
  return {
    async load(query) {
      const filter = filterOf(query, clock.now())
      await catchUp(sharedOwner)
      const shared = await database.reading(sharedOwner)
      const [totals, previous, split, latency, month, options, complete] = await Promise.all([
        loadInstallationTotals(shared, filter),
        loadInstallationTotals(shared, { ...filter, days: previousDays(filter.days) }),
        loadSplit(shared, filter, query.split),
        loadLatency(shared, filter),
        loadMonth(shared, clock.now()),
        loadInstallationOptions(shared, filter.days, maximumReportRows),
        isComplete(),
      ])
      return {
        from: filter.days[0]!,
        to: filter.days.at(-1)!,
        split: query.split,
        complete,
        totals: renderFigures(totals),
        previous: renderFigures(previous),
        month,
        ...renderSplit(filter, totals, split),
        latency,
        options,
      }
    },
    loadCsv(query, nameOf) {
      const filter = filterOf(query, clock.now())
      const [from, to] = [filter.days[0]!, filter.days.at(-1)!]
      return { name: `installation-usage-${from}-${to}`, lines: renderCsv(deps, filter, nameOf) }
    },
  }
}

/** Throws `invalid_request` on a range that is reversed or too long. */
function filterOf(query: InstallationExportQuery, nowMs: number): InstallationFilter {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO('UTC').toPlainDate()
  const last = query.to === undefined ? today : Temporal.PlainDate.from(query.to)
  const first =
    query.from === undefined ? last.subtract({ days: defaultDays - 1 }) : Temporal.PlainDate.from(query.from)
  return {
    days: daysBetween(first, last, maximumInstallationDays),
    organisationId: query.organisationId ?? null,
    provider: query.provider ?? null,
    model: query.model ?? null,
    hosting: query.hosting ?? null,
  }
}

type Split = Awaited<ReturnType<typeof loadSplit>>

async function loadSplit(database: Queryable, filter: InstallationFilter, split: InstallationUsageQuery['split']) {
  const [{ values, different }, days] = await Promise.all([
    loadInstallationValues(database, filter, split, maximumReportRows),
    loadInstallationDays(database, filter),
  ])
  const ids = values.slice(0, maximumSeries).map(({ value }) => value)
  const [parts, durations] = await Promise.all([
    loadInstallationDays(database, filter, { split, values: ids }),
    hasLatency(filter)
      ? loadInstallationLatency(
          database,
          filter,
          split,
          values.map(({ value }) => value),
        )
      : null,
  ])
  return { values, different, days, ids, parts, durations }
}

const noDay: Omit<InstallationDay, 'day' | 'value'> = { requests: 0, failed: 0, billedPicoUsd: 0n }

function renderSplit(
  { days: range }: InstallationFilter,
  totals: InstallationFigures,
  { values, different, days, ids, parts, durations }: Split,
): Pick<InstallationUsage, 'series' | 'table'> {
  const dayOf = new Map(days.map((of) => [of.day, of]))
  const partOf = new Map(parts.map((of) => [`${of.day} ${of.value}`, of]))
  const durationOf = new Map((durations ?? []).map((of) => [of.key, of]))
  const rest = values.reduce<InstallationFigures>(subtract, totals)
  const idOf = (value: string) => ({ id: value === '' ? null : value, label: null })
  return {
    series: {
      values: ids.map(idOf),
      days: range.map((day) => {
        const { requests, failed, billedPicoUsd } = dayOf.get(day) ?? noDay
        const shown = ids.map((id) => partOf.get(`${day} ${id}`) ?? noDay)
        return {
          day,
          requests,
          failed,
          billedUsd: formatPicoUsd(billedPicoUsd),
          parts: shown.map((of) => ({ billedUsd: formatPicoUsd(of.billedPicoUsd), requests: of.requests })),
        }
      }),
    },
    table: {
      rows: values.map(({ value, ...figures }) => ({
        ...idOf(value),
        ...renderFigures(figures),
        totalMs: renderDurations(durationOf.get(value)).totalMs,
      })),
      other: different > values.length ? { values: different - values.length, ...renderFigures(rest) } : null,
    },
  }
}

function renderFigures({ billedPicoUsd, requests, failed, promptTokens, completionTokens }: InstallationFigures) {
  return { requests, failed, promptTokens, completionTokens, billedUsd: formatPicoUsd(billedPicoUsd) }
}

async function loadLatency(database: Queryable, filter: InstallationFilter): Promise<InstallationUsage['latency']> {
  if (!hasLatency(filter)) return null
  const counts = (await loadInstallationLatency(database, filter, 'day')) ?? []
  const byDay = new Map(counts.map((of) => [of.key, of]))
  const all: InstallationLatency = {
    key: null,
    buckets: counts.flatMap(({ buckets }) => buckets),
    firstTokens: counts.flatMap(({ firstTokens }) => firstTokens),
    totals: counts.flatMap(({ totals }) => totals),
  }
  return { days: filter.days.map((day) => ({ day, ...renderDurations(byDay.get(day)) })), all: renderDurations(all) }
}

/** Spent in the running calendar month, and what is expected at its end. */
async function loadMonth(database: Queryable, nowMs: number): Promise<InstallationUsage['month']> {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO('UTC').toPlainDate()
  const first = today.with({ day: 1 })
  const next = first.add({ months: 1 })
  // The day of an organisation can be one later than that of UTC.
  const read = daysFrom(today.subtract({ days: historyDays + 31 }), historyDays + 33)
  const filter = { days: read, organisationId: null, provider: null, model: null, hosting: null }
  const spentOn = new Map(
    (await loadInstallationDays(database, filter)).map(({ day, billedPicoUsd }) => [day, billedPicoUsd]),
  )
  const spent = read
    .filter((day) => day >= first.toString() && day < next.toString())
    .reduce((sum, day) => sum + (spentOn.get(day) ?? 0n), 0n)
  const begin = read.find((day) => spentOn.has(day)) ?? today.toString()
  const history = read
    .filter((day) => day >= begin && day < today.toString())
    .map((day) => ({ day, spent: Number(spentOn.get(day) ?? 0n) }))
  const periodEndsAt = next.toZonedDateTime('UTC').epochMilliseconds
  const forecast = forecastSpend({
    nowMs,
    timeZone: 'UTC',
    periodEndsAt,
    budget: 0,
    spent: Number(spent),
    days: history,
  })
  return {
    startsOn: first.toString(),
    endsOn: next.subtract({ days: 1 }).toString(),
    spentUsd: formatPicoUsd(spent),
    forecast: forecast && renderForecast(forecast),
  }
}

const csvColumns = ['requests', 'failed', 'promptTokens', 'completionTokens', 'billedUsd'] as const

/** RFC 4180, one line for each day, organisation, provider, model and hosting with calls. */
async function* renderCsv(
  { database, catchUp }: InstallationUsageDeps,
  filter: InstallationFilter,
  nameOf: (organisationId: string) => string | undefined,
): AsyncGenerator<string> {
  yield `${['day', 'organisationId', 'organisation', 'provider', 'model', 'hosting', ...csvColumns].join(',')}\r\n`
  await catchUp(sharedOwner)
  const shared = await database.reading(sharedOwner)
  for (let after: InstallationRow | undefined; ;) {
    const rows: InstallationRow[] = await loadInstallationRows(shared, filter, after, exportPage)
    yield rows.map((row) => renderLine(row, nameOf(row.organisationId))).join('')
    after = rows.at(-1)
    if (rows.length < exportPage) return
  }
}

function renderLine(row: InstallationRow, name: string | undefined): string {
  const figures = renderFigures(row)
  const { day, organisationId, provider, model, hosting } = row
  const cells = [day, organisationId, name, provider, model, hosting, ...csvColumns.map((column) => figures[column])]
  return `${cells.map(csvCell).join(',')}\r\n`
}
