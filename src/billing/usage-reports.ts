import { Temporal } from 'temporal-polyfill'
import { AppError, type Clock, formatPicoUsd } from '../kernel/index.ts'
import {
  latencyDays,
  maximumExportRows,
  maximumReportRows,
  maximumSeries,
  type UsageReport,
  type UsageReportQuery,
  usageTagLimits,
} from '../contract/usage-reports.ts'
import type { Database } from '../database/index.ts'
import type { Organisation } from '../organisations/index.ts'
import { percentilesOf } from './latency-histogram.ts'
import { startOfDay } from './periods.ts'
import type { BudgetState } from './port.ts'
import { forecastSpend, historyDays, measureVelocity } from './usage-forecast.ts'
import { csvCell, renderBudget, usageRange, type UsageRange, type UsageSubject } from './usage-report.ts'
import {
  type ColumnSplit,
  type FailureCount,
  findTag,
  type LatencyCounts,
  loadDayParts,
  loadFailures,
  loadLatency,
  loadOptions,
  loadSpendingHistory,
  loadSplitSums,
  loadTagDayParts,
  loadTagSums,
  loadTotals,
  type UsageFigures,
  type UsageFilter,
  type UsageSource,
} from './usage-reports.store.ts'
import { loadRequestPage, type RequestPageQuery, type UsageRequestsPage } from './usage-requests.ts'
import { noSpace } from './usage-tables.ts'

export interface UsageReportsDeps {
  database: Database
  clock: Clock
  loadBudget(organisation: Organisation): Promise<BudgetState>
  /** Counts everything that was settled before the call. */
  catchUp(): Promise<void>
  /** False while entries from before an upgrade are still being counted. */
  isComplete(): Promise<boolean>
}

/** A report without the names of Spaces, which this room does not know. */
type Insight = 'topDocuments' | 'unanswered' | 'unansweredQuestions'
export type BareReport = Omit<UsageReport, 'recordsTags' | 'options' | Insight> & {
  options: { models: string[]; spaceIds: string[]; tagKeys: string[] }
}

/** Fields of the query that choose calls. */
type Chosen = Pick<UsageReportQuery, 'from' | 'to' | 'model' | 'surface' | 'spaceId' | 'tagKey' | 'tagValue'>

export interface UsageReports {
  /** `budgeted` undefined: a removed organisation, which has no budget. */
  load(subject: UsageSubject, budgeted: Organisation | undefined, query: UsageReportQuery): Promise<BareReport>
  /** The table of a report as CSV, at most `maximumExportRows` rows. `nameOf` names the values of the split. */
  loadCsv(subject: UsageSubject, query: UsageReportQuery, nameOf: (id: string) => string | null): Promise<UsageCsv>
  loadRequests(subject: UsageSubject, query: RequestPageQuery): Promise<UsageRequestsPage>
}

export interface UsageCsv {
  name: string
  text: string
}

/** Reports of the console over the sums of days. Everything is bounded; docs/performance.md has the times with 10 million entries. */
export function createUsageReports(deps: UsageReportsDeps): UsageReports {
  const { database, clock } = deps
  return {
    async load(subject, budgeted, query) {
      await deps.catchUp()
      const range = usageRange(subject, clock.now(), query.from, query.to)
      const { filter, source } = await choose(database, subject, range, query)
      const before = previousRange(range)
      const [split, previous, latency, failures, options, spending, complete] = await Promise.all([
        loadSplit(database, source, filter, query, maximumReportRows),
        loadTotals(database, source, { ...filter, ...before }),
        loadLatency(database, { ...filter, from: latencyFrom(range) }),
        loadFailures(database, filter),
        loadOptions(database, filter, maximumReportRows),
        loadSpending(deps, subject, budgeted),
        deps.isComplete(),
      ])
      const days = daysOf(range)
      return {
        organisationId: subject.id,
        from: range.from,
        to: range.to,
        timeZone: subject.timeZone,
        split: query.split,
        complete,
        ...spending,
        totals: renderFigures(split.totals),
        previous: renderFigures(previous),
        series: renderSeries(days, split),
        table: renderTable(split),
        latency: renderLatency(days.slice(-latencyDays), latency),
        errors: renderErrors(days, split, failures),
        options,
      }
    },
    async loadCsv(subject, query, nameOf) {
      await deps.catchUp()
      const range = usageRange(subject, clock.now(), query.from, query.to)
      const { filter, source } = await choose(database, subject, range, query)
      const split = await loadSplit(database, source, filter, query, maximumExportRows)
      return {
        name: `usage-${query.split.replaceAll(/[^\w.-]/g, '_')}-${range.from}-${range.to}.csv`,
        text: renderCsv(query.split, split, nameOf),
      }
    },
    async loadRequests(subject, query) {
      await deps.catchUp()
      const range = usageRange(subject, clock.now(), query.from, query.to)
      const { filter, source } = await choose(database, subject, range, query)
      const page = await loadRequestPage(database, subject, { ...query, range, filter, source })
      if (query.cursor !== undefined) return page
      return { ...page, options: await loadOptions(database, filter, maximumReportRows) }
    },
  }
}

/** The filter of a query, and the tag that it names. */
async function choose(database: Database, subject: UsageSubject, range: UsageRange, query: Chosen) {
  const filter: UsageFilter = {
    organisationId: subject.id,
    from: range.from,
    to: range.to,
    model: query.model ?? null,
    surface: query.surface ?? null,
    spaceId: query.spaceId === 'none' ? noSpace : (query.spaceId ?? null),
  }
  if (query.tagKey === undefined) return { filter, source: { kind: 'all' } satisfies UsageSource }
  const tagId = await findTag(database, subject.id, query.tagKey, query.tagValue!)
  // No tag has this id: nothing is found.
  return { filter, source: { kind: 'tag', tagId: tagId ?? -1n } satisfies UsageSource }
}

function previousRange(range: UsageRange): { from: string; to: string } {
  const from = Temporal.PlainDate.from(range.from)
  const days = from.until(Temporal.PlainDate.from(range.to)).days + 1
  return { from: from.subtract({ days }).toString(), to: from.subtract({ days: 1 }).toString() }
}

function latencyFrom(range: UsageRange): string {
  return daysOf(range).slice(-latencyDays)[0]!
}

function daysOf(range: UsageRange): string[] {
  const first = Temporal.PlainDate.from(range.from)
  const count = first.until(Temporal.PlainDate.from(range.to)).days + 1
  return Array.from({ length: count }, (_, index) => first.add({ days: index }).toString())
}

interface SplitValue extends UsageFigures {
  id: string | null
}

/** What a report shows by its split. */
interface Split {
  totals: UsageFigures
  days: Map<string, UsageFigures>
  /** Highest cost first, at most the requested number. */
  values: SplitValue[]
  /** Number of values that are not in `values`; null: unknown. */
  otherValues: number | null
  /** By day, in the order of the first `maximumSeries` values. */
  parts: Map<string, { requests: number; billedPicoUsd: bigint }[]>
  series: SplitValue[]
}

function loadSplit(
  database: Database,
  source: UsageSource,
  filter: UsageFilter,
  { split, tagKey }: UsageReportQuery,
  limit: number,
): Promise<Split> {
  if (split === 'model' || split === 'surface' || split === 'space') {
    return loadColumnSplit(database, source, filter, split, limit)
  }
  const days = Temporal.PlainDate.from(filter.from).until(Temporal.PlainDate.from(filter.to)).days + 1
  if (days > usageTagLimits.reportDays) {
    const message = `A report by ${split} covers at most ${usageTagLimits.reportDays} days; ask for ${days} in parts.`
    throw new AppError('invalid_request', message, { param: 'from' })
  }
  if (tagKey !== undefined) {
    throw new AppError('invalid_request', `A report by ${split} cannot be filtered by a tag.`, { param: 'tagKey' })
  }
  return loadTagSplit(database, filter, split, limit)
}

async function loadColumnSplit(
  database: Database,
  source: UsageSource,
  filter: UsageFilter,
  split: ColumnSplit,
  limit: number,
): Promise<Split> {
  const sums = await loadSplitSums(database, source, filter, split)
  const sorted = sums.values.map(({ value, ...figures }) => ({ id: value, ...figures })).sort(byCost)
  const series = sorted.slice(0, maximumSeries)
  const ids = series.map(({ id }) => id)
  const parts = await loadDayParts(database, source, filter, split, ids)
  return {
    totals: sums.totals,
    days: sums.days,
    values: sorted.slice(0, limit),
    otherValues: Math.max(0, sorted.length - limit),
    series,
    parts: groupParts(parts, ids),
  }
}

async function loadTagSplit(database: Database, filter: UsageFilter, key: string, limit: number): Promise<Split> {
  // Only completions of the gateway outside of Spaces have tags: other filters find none.
  const canHaveTags = (filter.surface ?? 'gateway') === 'gateway' && (filter.spaceId ?? noSpace) === noSpace
  const [all, tags] = await Promise.all([
    loadSplitSums(database, { kind: 'all' }, filter, 'surface'),
    canHaveTags ? loadTagSums(database, filter, key, limit) : { values: [], totals: noFigures, different: 0 },
  ])
  const named = tags.values.filter(({ tagId }) => tagId !== 0n)
  const series = named.slice(0, maximumSeries)
  const parts = await loadTagDayParts(
    database,
    filter,
    series.map(({ tagId }) => tagId),
  )
  const untagged = subtract(all.totals, tags.totals)
  const values: SplitValue[] = named.map(({ value, ...figures }) => ({ id: value, ...figures }))
  if (untagged.requests > 0) values.push({ id: null, ...untagged })
  return {
    totals: all.totals,
    days: all.days,
    values: values.sort(byCost),
    otherValues: Math.max(0, tags.different - named.length),
    series: series.map(({ value, ...figures }) => ({ id: value, ...figures })),
    parts: groupParts(
      parts,
      series.map(({ tagId }) => String(tagId)),
    ),
  }
}

function byCost(a: SplitValue, b: SplitValue): number {
  if (a.billedPicoUsd !== b.billedPicoUsd) return a.billedPicoUsd > b.billedPicoUsd ? -1 : 1
  return b.requests - a.requests || (a.id ?? '').localeCompare(b.id ?? '')
}

function groupParts(
  parts: readonly { day: string; value: string | null; requests: number; billedPicoUsd: bigint }[],
  ids: readonly (string | null)[],
): Split['parts'] {
  const grouped: Split['parts'] = new Map()
  for (const { day, value, requests, billedPicoUsd } of parts) {
    const of = grouped.get(day) ?? ids.map(() => ({ requests: 0, billedPicoUsd: 0n }))
    of[ids.indexOf(value)] = { requests, billedPicoUsd }
    grouped.set(day, of)
  }
  return grouped
}

const noFigures: UsageFigures = {
  requests: 0,
  failed: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  billedPicoUsd: 0n,
}

function subtract(a: UsageFigures, b: UsageFigures): UsageFigures {
  return {
    requests: a.requests - b.requests,
    failed: a.failed - b.failed,
    promptTokens: a.promptTokens - b.promptTokens,
    completionTokens: a.completionTokens - b.completionTokens,
    cachedTokens: a.cachedTokens - b.cachedTokens,
    reasoningTokens: a.reasoningTokens - b.reasoningTokens,
    billedPicoUsd: a.billedPicoUsd - b.billedPicoUsd,
  }
}

function renderFigures({ billedPicoUsd, ...counts }: UsageFigures) {
  const { requests, failed, promptTokens, completionTokens, cachedTokens, reasoningTokens } = counts
  const billedUsd = formatPicoUsd(billedPicoUsd)
  return { requests, failed, promptTokens, completionTokens, cachedTokens, reasoningTokens, billedUsd }
}

const valueOf = ({ id }: { id: string | null }) => ({ id, label: null })

function renderSeries(days: readonly string[], { days: sums, series, parts }: Split): UsageReport['series'] {
  return {
    values: series.map(valueOf),
    days: days.map((day) => {
      const { billedPicoUsd, requests } = sums.get(day) ?? noFigures
      const own = parts.get(day) ?? series.map(() => ({ requests: 0, billedPicoUsd: 0n }))
      return {
        day,
        billedUsd: formatPicoUsd(billedPicoUsd),
        requests,
        parts: own.map((part) => ({ billedUsd: formatPicoUsd(part.billedPicoUsd), requests: part.requests })),
      }
    }),
  }
}

function restOf({ totals, values }: Split): UsageFigures {
  return values.reduce<UsageFigures>(subtract, totals)
}

function renderTable(split: Split): UsageReport['table'] {
  const rest = restOf(split)
  return {
    rows: split.values.map((value) => ({ ...valueOf(value), ...renderFigures(value) })),
    other: rest.requests > 0 ? { values: split.otherValues, ...renderFigures(rest) } : null,
  }
}

const csvColumns = [
  'requests',
  'failed',
  'promptTokens',
  'completionTokens',
  'cachedTokens',
  'reasoningTokens',
  'billedUsd',
] as const

/** RFC 4180. The last line sums up what has no line. */
function renderCsv(splitName: string, split: Split, nameOf: (id: string) => string | null): string {
  const hasNames = splitName === 'space'
  const names = hasNames ? ['space', 'name'] : [splitName]
  const line = (cells: (string | number | null)[]) => cells.map(csvCell).join(',')
  const figures = (value: UsageFigures) => {
    const rendered = renderFigures(value)
    return csvColumns.map((column) => rendered[column])
  }
  const rows = split.values.map((value) =>
    line([value.id, ...(hasNames ? [value.id === null ? null : nameOf(value.id)] : []), ...figures(value)]),
  )
  const rest = restOf(split)
  if (rest.requests > 0) rows.push(line(['(other)', ...(hasNames ? [null] : []), ...figures(rest)]))
  return `${[line([...names, ...csvColumns]), ...rows].join('\r\n')}\r\n`
}

function renderLatency(days: readonly string[], counts: readonly LatencyCounts[]): UsageReport['latency'] {
  const byDay = new Map(counts.map((of) => [of.day, of]))
  return {
    from: days[0]!,
    days: days.map((day) => ({ day, ...renderDurations(byDay.get(day)) })),
    models: counts
      .flatMap((of) => (of.model === null ? [] : [{ model: of.model, ...renderDurations(of) }]))
      .sort((a, b) => b.requests - a.requests)
      .slice(0, maximumReportRows),
  }
}

function renderDurations(counts: LatencyCounts | undefined) {
  const { buckets, firstTokens, totals } = counts ?? { buckets: [], firstTokens: [], totals: [] }
  const requests = totals.reduce((sum, count) => sum + count, 0)
  return { requests, firstTokenMs: percentilesOf(buckets, firstTokens), totalMs: percentilesOf(buckets, totals) }
}

function renderErrors(days: readonly string[], split: Split, counts: readonly FailureCount[]): UsageReport['errors'] {
  const group = (of: (count: FailureCount) => string | null) => {
    const groups = new Map<string, { failed: number; refused: number }>()
    for (const count of counts) {
      const key = of(count)
      if (key === null) continue
      const { failed, refused } = groups.get(key) ?? { failed: 0, refused: 0 }
      const { requests } = count
      groups.set(key, count.refused ? { failed, refused: refused + requests } : { failed: failed + requests, refused })
    }
    return groups
  }
  const byDay = group(({ day }) => day)
  const byModel = group(({ model }) => model)
  return {
    days: days.map((day) => {
      const { failed, refused } = byDay.get(day) ?? { failed: 0, refused: 0 }
      return { day, calls: (split.days.get(day)?.requests ?? 0) + refused, failed, refused }
    }),
    codes: counts
      .flatMap(({ code, refused, requests }) => (code === null ? [] : [{ code, refused, requests }]))
      .sort((a, b) => b.requests - a.requests)
      .slice(0, maximumReportRows),
    models: [...byModel]
      .map(([model, { failed, refused }]) => ({ model: model === '' ? null : model, failed, refused }))
      .sort((a, b) => b.failed + b.refused - a.failed - a.refused)
      .slice(0, maximumReportRows),
  }
}

const dayMs = 86_400_000

type Spending = Pick<UsageReport, 'budget' | 'forecast' | 'velocity'>

/** Of the whole organisation, whatever the report is filtered by. */
async function loadSpending(
  { database, clock, loadBudget }: UsageReportsDeps,
  { id, timeZone }: UsageSubject,
  budgeted: Organisation | undefined,
): Promise<Spending> {
  if (!budgeted) return { budget: null, forecast: null, velocity: null }
  const nowMs = clock.now()
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone).toPlainDate()
  const firstDay = today.subtract({ days: historyDays })
  const [state, history] = await Promise.all([
    loadBudget(budgeted),
    loadSpendingHistory(database, id, firstDay.toString(), nowMs - (historyDays + 2) * dayMs),
  ])
  const spentOn = new Map(history.days.map(({ day, billedPicoUsd }) => [day, Number(billedPicoUsd)]))
  const since = history.firstDay === null ? today : Temporal.PlainDate.from(history.firstDay)
  const begin = Temporal.PlainDate.compare(since, firstDay) > 0 ? since : firstDay
  const complete = Math.max(0, begin.until(today).days)
  const days = Array.from({ length: complete }, (_, index) => {
    const day = begin.add({ days: index }).toString()
    return { day, spent: spentOn.get(day) ?? 0 }
  })
  const { period: _, organisationId: __, ...budget } = renderBudget(state)
  const money = { budget: Number(state.budgetPicoUsd), spent: Number(state.settledPicoUsd) }
  const { periodEndsAt } = state
  const forecast = forecastSpend({ nowMs, timeZone, periodEndsAt, ...money, days })
  const velocity = measureVelocity({
    nowMs,
    periodEndsAt,
    budget: money.budget,
    left: Math.max(0, money.budget - money.spent),
    slots: history.slots.map(({ startsAt, billedPicoUsd }) => ({ startsAt, spent: Number(billedPicoUsd) })),
    firstUsageMs: history.firstDay === null ? null : startOfDay(Temporal.PlainDate.from(history.firstDay), timeZone),
  })
  return {
    budget: { period: state.period, periodStartsAt: new Date(state.periodStartsAt).toISOString(), ...budget },
    forecast: forecast && {
      expectedUsd: formatFloat(forecast.expected),
      lowUsd: formatFloat(forecast.low),
      highUsd: formatFloat(forecast.high),
      historyDays: forecast.historyDays,
      exhaustedOn: forecast.exhaustedOn,
    },
    velocity: {
      level: velocity.level,
      lastHour: renderPace(velocity.lastHour),
      lastDay: renderPace(velocity.lastDay),
      exhaustedAt: velocity.exhaustedAtMs === null ? null : new Date(velocity.exhaustedAtMs).toISOString(),
    },
  }
}

function renderPace({ spent, usual }: { spent: number; usual: number | null }) {
  return {
    spentUsd: formatFloat(spent),
    usualUsd: usual === null ? null : formatFloat(usual),
    ratio: usual === null || usual === 0 ? null : Math.round((spent / usual) * 100) / 100,
  }
}

function formatFloat(picoUsd: number): string {
  return formatPicoUsd(BigInt(Math.round(picoUsd)))
}
