import { bucketsPerDoubling } from './usage-tables.ts'

export interface Percentiles {
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
