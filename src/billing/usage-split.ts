import { AppError } from '../kernel/index.ts'
import { maximumSeries, type UsageReportQuery, usageTagLimits } from '../contract/usage-reports.ts'
import type { Database } from '../database/index.ts'
import type { UsageRange } from './usage-range.ts'
import {
  type ColumnSplit,
  loadDayParts,
  loadSplitSums,
  loadTagDayParts,
  loadTagSums,
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
  days: Map<string, UsageFigures>
  /** Highest cost first, at most the requested number. */
  values: SplitValue[]
  /** Number of values that are not in `values`; null: unknown. */
  otherValues: number | null
  /** By day, in the order of the first `maximumSeries` values. */
  parts: Map<string, { requests: number; billedPicoUsd: bigint }[]>
  series: SplitValue[]
}

/** Throws `invalid_request` when the split is by a tag, and the range is too long or filtered by a tag. */
export function loadSplit(
  database: Database,
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

export const noFigures: UsageFigures = {
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

/** What has no row in `values`. */
export function restOf({ totals, values }: Split): UsageFigures {
  return values.reduce<UsageFigures>(subtract, totals)
}
