import { invalidField } from '../../platform/kernel/index.ts'
import { maximumSeries, type UsageReportQuery, usageTagLimits } from '../../contract/usage-reports.ts'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import type { UsageRange } from './usage-range.ts'
import {
  type DayFigures,
  type DayPart,
  loadDayParts,
  loadDays,
  loadTagDayParts,
  loadTagValues,
  loadTopTags,
  loadTopValues,
  loadTotals,
  type UsageColumn,
  type UsageFigures,
  type UsageFilter,
  type UsageSource,
} from './usage-reports.store.ts'
import { noSpace } from './usage-tables.ts'

/** The sums of a report, split by model, surface, Space or tag. */

export interface SplitValue extends UsageFigures {
  id: string | null
}

/** The calls that a query chooses. */
export interface ChosenUsage {
  range: UsageRange
  filter: UsageFilter
  source: UsageSource
}

/** What a report shows by its split. */
export interface Split {
  totals: UsageFigures
  days: Map<string, DayFigures>
  /** Highest cost first, at most the requested number. */
  values: SplitValue[]
  /** Number of values that are not in `values`. */
  otherValues: number
  /** By day, in the order of the first `maximumSeries` values. */
  parts: Map<string, DayFigures[]>
  series: SplitValue[]
}

/** Throws `invalid_request` when the split is by a tag, and the range is too long or filtered by a tag. */
export function loadSplit(
  database: OwnedDatabase,
  { range, filter, source }: ChosenUsage,
  { split, tagKey }: UsageReportQuery,
  limit: number,
): Promise<Split> {
  if (split === 'model' || split === 'surface' || split === 'space') {
    return loadColumnSplit(database, source, filter, split, limit)
  }
  const days = range.days.length
  if (days > usageTagLimits.reportDays) {
    const message = `A report by ${split} covers at most ${usageTagLimits.reportDays} days; ask for ${days} in parts.`
    throw invalidField('from', message)
  }
  if (tagKey !== undefined) {
    throw invalidField('tagKey', `A report by ${split} cannot be filtered by a tag.`)
  }
  return loadTagSplit(database, filter, split, limit)
}

async function loadColumnSplit(
  database: OwnedDatabase,
  source: UsageSource,
  filter: UsageFilter,
  split: UsageColumn,
  limit: number,
): Promise<Split> {
  const [{ totals, values, different }, days] = await Promise.all([
    loadTopValues(database, source, filter, split, limit),
    loadDays(database, source, filter),
  ])
  const ids = values.slice(0, maximumSeries).map(({ value }) => value)
  const named = values.map(({ value, ...figures }) => ({ id: value === noSpace ? null : value, ...figures }))
  return {
    totals,
    days,
    values: named,
    otherValues: different - values.length,
    series: named.slice(0, maximumSeries),
    parts: groupParts(await loadDayParts(database, source, filter, split, ids), ids),
  }
}

async function loadTagSplit(database: OwnedDatabase, filter: UsageFilter, key: string, limit: number): Promise<Split> {
  // Only completions of the gateway outside of Spaces have tags: other filters find none.
  const canHaveTags = (filter.surface ?? 'gateway') === 'gateway' && (filter.spaceId ?? noSpace) === noSpace
  const source: UsageSource = { kind: 'all' }
  const [totals, days, top] = await Promise.all([
    loadTotals(database, source, filter),
    loadDays(database, source, filter),
    canHaveTags ? loadTopTags(database, filter, key, limit) : { values: [], totals: noFigures, different: 0 },
  ])
  const ids = top.values.map(({ value }) => value)
  const seriesIds = ids.slice(0, maximumSeries)
  const [names, parts] = await Promise.all([loadTagValues(database, ids), loadTagDayParts(database, filter, seriesIds)])
  const named: SplitValue[] = top.values.map(({ value, ...figures }) => ({ id: names.get(value) ?? null, ...figures }))
  const untagged = subtract(totals, top.totals)
  return {
    totals,
    days,
    values: (untagged.requests > 0 ? [...named, { id: null, ...untagged }] : named).toSorted(byCost),
    otherValues: top.different - named.length,
    series: named.slice(0, maximumSeries),
    parts: groupParts(parts, seriesIds),
  }
}

function byCost(a: SplitValue, b: SplitValue): number {
  if (a.billedPicoUsd !== b.billedPicoUsd) return a.billedPicoUsd > b.billedPicoUsd ? -1 : 1
  return b.requests - a.requests || (a.id ?? '').localeCompare(b.id ?? '')
}

function groupParts(parts: readonly DayPart[], ids: readonly string[]): Split['parts'] {
  const grouped: Split['parts'] = new Map()
  for (const { day, value, requests, billedPicoUsd } of parts) {
    const of = grouped.get(day) ?? ids.map(() => noDay)
    of[ids.indexOf(value)] = { requests, billedPicoUsd }
    grouped.set(day, of)
  }
  return grouped
}

/** A day without calls. */
export const noDay: DayFigures = { requests: 0, billedPicoUsd: 0n }

export const noFigures: UsageFigures = {
  requests: 0,
  failed: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  billedPicoUsd: 0n,
}

/** The difference of each figure of `a`; a figure is a number or a bigint in both. */
export function subtract<Figures extends object>(a: Figures, b: Figures): Figures {
  const entries = Object.entries(a) as [keyof Figures, number][]
  return Object.fromEntries(entries.map(([name, value]) => [name, value - (b[name] as number)])) as Figures
}

/** What has no row in `values`. */
export function restOf({ totals, values }: Split): UsageFigures {
  return values.reduce<UsageFigures>(subtract, totals)
}
