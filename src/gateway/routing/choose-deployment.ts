/**
 * Picks one candidate by weight. Pure: `random` is a number in [0, 1). Returns undefined if there are no candidates. Weights that are not
 * above 0 count as 0; if all do, the first candidate is returned.
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
  // Rounding can leave a tiny rest; the last candidate with a weight is correct then.
  return candidates.findLast((candidate) => candidate.weight > 0) ?? candidates[0]
}

/** Exponential backoff with full jitter, so that clients that failed together do not retry together. */
export function backoffMs(retry: number, random: number): number {
  return random * Math.min(maximumBackoffMs, firstBackoffMs * 2 ** retry)
}

const firstBackoffMs = 250
const maximumBackoffMs = 8_000
