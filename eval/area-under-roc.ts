/** The chance that a positive item has a higher score than a negative one; equal scores count half. */
export function areaUnderRoc(items: readonly { score: number; isPositive: boolean }[]): number {
  const sorted = items.toSorted((left, right) => left.score - right.score)
  let pairs = 0
  let negatives = 0
  for (let start = 0; start < sorted.length;) {
    let end = start
    while (end < sorted.length && sorted[end]!.score === sorted[start]!.score) end++
    const tied = sorted.slice(start, end)
    const positives = tied.filter(({ isPositive }) => isPositive).length
    pairs += positives * (negatives + (tied.length - positives) / 2)
    negatives += tied.length - positives
    start = end
  }
  return pairs / (negatives * (sorted.length - negatives))
}
