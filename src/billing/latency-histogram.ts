import { bucketsPerDoubling } from './usage-tables.ts'

/** Counts of durations by bucket; see `bucketOf` in usage-tables.ts. */
export type Histogram = Map<number, number>

export interface Percentiles {
  p50: number
  p95: number
}

export function addToHistogram(histogram: Histogram, bucket: number, count: number): void {
  if (count > 0) histogram.set(bucket, (histogram.get(bucket) ?? 0) + count)
}

/** Milliseconds; null without a measurement. */
export function percentilesOf(histogram: Histogram): Percentiles | null {
  const buckets = [...histogram].sort(([a], [b]) => a - b)
  const total = buckets.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return null
  return { p50: percentile(buckets, 0.5 * total), p95: percentile(buckets, 0.95 * total) }
}

/** The duration below which `rank` of the counted ones are, interpolated within its bucket on the logarithmic scale. */
function percentile(buckets: readonly (readonly [number, number])[], rank: number): number {
  let below = 0
  for (const [bucket, count] of buckets) {
    if (below + count >= rank) return Math.round(2 ** ((bucket + (rank - below) / count) / bucketsPerDoubling))
    below += count
  }
  return Math.round(2 ** ((buckets.at(-1)![0] + 1) / bucketsPerDoubling))
}
