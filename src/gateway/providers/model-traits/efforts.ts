/** Values of `reasoning_effort` from lowest to highest. */
export const effortWords = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/**
 * Maps every value to the nearest one that a model supports. `none` forbids thinking and has no nearest value: if a model does not support
 * it, it is not mapped. Of two equally near values the higher one wins.
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
