/**
 * Picks one of the candidates by weight. Pure: `random` is a number in [0, 1). undefined for no candidates. Weights that are
 * not above 0 count as 0; where all are, the first is taken.
 */
export function chooseByWeight<Candidate extends { readonly weight: number }>(
  candidates: readonly Candidate[],
  random: number,
): Candidate | undefined {
  let total = 0
  for (const candidate of candidates) total += Math.max(0, candidate.weight)
  let rest = random * total
  for (const candidate of candidates) {
    rest -= Math.max(0, candidate.weight)
    if (rest < 0) return candidate
  }
  // Rounding can leave a rest of almost nothing: the last one that has a weight is meant.
  return candidates.findLast((candidate) => candidate.weight > 0) ?? candidates[0]
}

/** Full jitter: anywhere between nothing and the exponential bound, so that clients that failed together do not return together. */
export function backoffMs(retry: number, random: number): number {
  return random * Math.min(maximumBackoffMs, firstBackoffMs * 2 ** retry)
}

const firstBackoffMs = 250
const maximumBackoffMs = 8_000
