/** Figures of one ranked list; relevance is yes or no, as in the stated baselines. */
export interface RankingScores {
  'nDCG@10': number
  'recall@5': number
  'recall@10': number
  'MRR@10': number
}

export function scoreRanking(ranked: readonly string[], relevant: ReadonlySet<string>): RankingScores {
  const top = ranked.slice(0, 10)
  let gain = 0
  let ideal = 0
  for (const [rank, id] of top.entries()) if (relevant.has(id)) gain += 1 / Math.log2(rank + 2)
  for (let rank = 0; rank < Math.min(10, relevant.size); rank++) ideal += 1 / Math.log2(rank + 2)
  const first = top.findIndex((id) => relevant.has(id))
  return {
    'nDCG@10': gain / ideal,
    'recall@5': countIn(ranked.slice(0, 5), relevant) / relevant.size,
    'recall@10': countIn(top, relevant) / relevant.size,
    'MRR@10': first < 0 ? 0 : 1 / (first + 1),
  }
}

/** Half-open ranges of characters. */
export type Range = readonly [start: number, end: number]

export interface ExcerptScores {
  /** Share of the answers' characters that the five best passages hold. */
  'excerpt recall@5': number
  /** Share of the passages' characters that are answers. */
  'excerpt precision@5': number
  /** 1 where any passage touches any answer. */
  'any overlap@5': number
}

export function scoreExcerpts(found: readonly Range[], answers: readonly Range[]): ExcerptScores {
  const shared = lengthOf(intersect(merge(found), merge(answers)))
  return {
    'excerpt recall@5': shared / lengthOf(merge(answers)),
    'excerpt precision@5': found.length === 0 ? 0 : shared / lengthOf(merge(found)),
    'any overlap@5': shared > 0 ? 1 : 0,
  }
}

export function mean<Scores extends object>(scores: readonly Scores[]): Scores {
  const keys = Object.keys(scores[0] ?? {}) as (keyof Scores)[]
  return Object.fromEntries(
    keys.map((key) => [key, scores.reduce((sum, score) => sum + (score[key] as number), 0) / scores.length]),
  ) as Scores
}

function countIn(ids: readonly string[], relevant: ReadonlySet<string>): number {
  return ids.filter((id) => relevant.has(id)).length
}

function merge(ranges: readonly Range[]): Range[] {
  const merged: [number, number][] = []
  for (const [start, end] of [...ranges].sort((left, right) => left[0] - right[0])) {
    const last = merged.at(-1)
    if (last && start <= last[1]) last[1] = Math.max(last[1], end)
    else merged.push([start, end])
  }
  return merged
}

function intersect(left: readonly Range[], right: readonly Range[]): Range[] {
  return left.flatMap(([start, end]) =>
    right
      .map(([otherStart, otherEnd]): Range => [Math.max(start, otherStart), Math.min(end, otherEnd)])
      .filter(([from, to]) => from < to),
  )
}

function lengthOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, [start, end]) => sum + end - start, 0)
}
