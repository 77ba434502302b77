/** By the nearest rank, of ascending values. `share`: from 0 to 1. Null: there are no values. */
export function percentile(ascending: readonly number[], share: number): number | null {
  return ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? null
}
