export interface Scored {
  ordinal: number
  score: number
}

/** The best of many scored ordinals, without sorting all of them: a binary heap whose root is the worst one kept. */
export type TopList = ReturnType<typeof createTopList>

export function createTopList(capacity: number) {
  const scores = new Float64Array(capacity)
  const ordinals = new Uint32Array(capacity)
  let size = 0

  /** Of equal scores, the first one offered is better. */
  function isWorse(left: number, right: number): boolean {
    return scores[left]! < scores[right]! || (scores[left] === scores[right] && ordinals[left]! > ordinals[right]!)
  }

  function swap(left: number, right: number): void {
    const score = scores[left]!
    const ordinal = ordinals[left]!
    scores[left] = scores[right]!
    ordinals[left] = ordinals[right]!
    scores[right] = score
    ordinals[right] = ordinal
  }

  function rise(start: number): void {
    for (let at = start; at > 0;) {
      const parent = (at - 1) >> 1
      if (!isWorse(at, parent)) return
      swap(at, parent)
      at = parent
    }
  }

  function sink(): void {
    for (let at = 0; ;) {
      const left = 2 * at + 1
      if (left >= size) return
      const worse = left + 1 < size && isWorse(left + 1, left) ? left + 1 : left
      if (!isWorse(worse, at)) return
      swap(at, worse)
      at = worse
    }
  }

  return {
    /** Scores up to this are no longer accepted. */
    threshold: (): number => (size < capacity ? Number.NEGATIVE_INFINITY : scores[0]!),
    offer(ordinal: number, score: number): void {
      if (size < capacity) {
        scores[size] = score
        ordinals[size] = ordinal
        rise(size++)
      } else if (score > scores[0]!) {
        scores[0] = score
        ordinals[0] = ordinal
        sink()
      }
    },
    /** Best first; equal scores in the order of their ordinals. Empties the list. */
    take(): Scored[] {
      const taken = Array.from({ length: size }, (_, at) => ({ ordinal: ordinals[at]!, score: scores[at]! }))
      size = 0
      return taken.sort((left, right) => right.score - left.score || left.ordinal - right.ordinal)
    },
  }
}
