/** Words of `reasoning_effort` from least to most. */
export const effortWords = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/**
 * Every word mapped to the nearest of those that a model knows. `none` forbids thinking and has no neighbour: where a model does not know
 * it, it is not mapped. Of two that are equally near the one that thinks more wins.
 */
export function nearestOf(...known: readonly string[]): Record<string, string> {
  const ranks = known.map((word) => effortWords.indexOf(word as (typeof effortWords)[number]))
  const mapped: Record<string, string> = {}
  for (const [rank, word] of effortWords.entries()) {
    if (known.includes(word)) mapped[word] = word
    else if (word !== 'none') {
      const thinking = ranks.filter((other) => other > 0)
      if (thinking.length === 0) continue
      const nearest = thinking.reduce((best, other) => (distance(other, rank) <= distance(best, rank) ? other : best))
      mapped[word] = effortWords[nearest]!
    }
  }
  return mapped
}

const distance = (left: number, right: number) => Math.abs(left - right)
