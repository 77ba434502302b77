import { maximumReportRows, type UsageReport } from '../../contract/usage-reports.ts'
import { csvCell, formatPicoUsd } from '../../platform/kernel/index.ts'
import type { FailureCount, LatencyCounts, UsageFigures } from './usage-reports.store.ts'
import { noDay, restOf, type Split } from './usage-split.ts'
import { bucketsPerDoubling } from './usage-tables.ts'

/** The parts of a report as the contract has them, and its table as CSV. Pure. */

export function renderFigures({ billedPicoUsd, ...counts }: UsageFigures) {
  const { requests, failed, promptTokens, completionTokens, cachedTokens, reasoningTokens } = counts
  const billedUsd = formatPicoUsd(billedPicoUsd)
  return { requests, failed, promptTokens, completionTokens, cachedTokens, reasoningTokens, billedUsd }
}

const valueOf = ({ id }: { id: string | null }) => ({ id, label: null })

export function renderSeries(days: readonly string[], { days: sums, series, parts }: Split): UsageReport['series'] {
  return {
    values: series.map(valueOf),
    days: days.map((day) => {
      const { billedPicoUsd, requests } = sums.get(day) ?? noDay
      const own = parts.get(day) ?? series.map(() => noDay)
      return {
        day,
        billedUsd: formatPicoUsd(billedPicoUsd),
        requests,
        parts: own.map((part) => ({ billedUsd: formatPicoUsd(part.billedPicoUsd), requests: part.requests })),
      }
    }),
  }
}

export function renderTable(split: Split): UsageReport['table'] {
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
export function renderCsv(splitName: string, split: Split, nameOf: (id: string) => string | null): string {
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

export function renderLatency(days: readonly string[], counts: readonly LatencyCounts[]): UsageReport['latency'] {
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

export function renderDurations(counts: Pick<LatencyCounts, 'buckets' | 'firstTokens' | 'totals'> | undefined) {
  const { buckets, firstTokens, totals } = counts ?? { buckets: [], firstTokens: [], totals: [] }
  const requests = totals.reduce((sum, count) => sum + count, 0)
  return { requests, firstTokenMs: percentilesOf(buckets, firstTokens), totalMs: percentilesOf(buckets, totals) }
}

export function renderErrors(
  days: readonly string[],
  split: Split,
  counts: readonly FailureCount[],
): UsageReport['errors'] {
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
    codes: [...group(({ code }) => code)]
      .flatMap(([code, { failed, refused }]) => [
        { code, refused: false, requests: failed },
        { code, refused: true, requests: refused },
      ])
      .filter(({ requests }) => requests > 0)
      .sort((a, b) => b.requests - a.requests)
      .slice(0, maximumReportRows),
    models: [...byModel]
      .map(([model, { failed, refused }]) => ({ model: model === '' ? null : model, failed, refused }))
      .sort((a, b) => b.failed + b.refused - a.failed - a.refused)
      .slice(0, maximumReportRows),
  }
}

interface Percentiles {
  p50: number
  p95: number
}

/** Milliseconds, from counts of durations by bucket (`bucketOf` in usage-tables.ts) in any order; null without a measurement. */
export function percentilesOf(buckets: readonly number[], counts: readonly number[]): Percentiles | null {
  const sorted = buckets
    .map((bucket, place): [number, number] => [bucket, counts[place] ?? 0])
    .filter(([, count]) => count > 0)
    .sort(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return null
  return { p50: percentile(sorted, 0.5 * total), p95: percentile(sorted, 0.95 * total) }
}

/** The duration below which `rank` of the counted ones are, interpolated within its bucket on the logarithmic scale. */
function percentile(sorted: readonly (readonly [number, number])[], rank: number): number {
  let below = 0
  for (const [bucket, count] of sorted) {
    if (below + count >= rank) return Math.round(2 ** ((bucket + (rank - below) / count) / bucketsPerDoubling))
    below += count
  }
  return Math.round(2 ** ((sorted.at(-1)![0] + 1) / bucketsPerDoubling))
}
