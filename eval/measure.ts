import type { Half } from './half.ts'

/** One figure of an evaluation, the bound that it must meet, and what a simple method reaches on the same data in the same run. */
export interface Measure {
  /** What is measured and on which items, for example `recall@5, 183 questions`. */
  name: string
  value: number
  bound: { atLeast: number } | { atMost: number }
  baseline: { name: string; value: number } | null
}

/** The measures of one folder of the shared data. */
export interface Evaluation {
  title: string
  /** The folder below `--data` that `run` reads; the evaluation is skipped where it is missing. */
  folder: string
  /** `folder` is a path. Must give the same figures for the same data. `half`: the part of it to measure, where that is fitted. */
  run: (folder: string, half?: Half) => Promise<Measure[]>
}

export function isMet({ value, bound }: Measure): boolean {
  // Without this, a figure that could not be computed would meet no bound by accident only.
  if (!Number.isFinite(value)) return false
  return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost
}

/** `MET     recall@5, 183 questions        0.861 (at least 0.818; plain BM25 0.768)` */
export function formatMeasure(measure: Measure): string {
  const { name, value, bound, baseline } = measure
  const limit = 'atLeast' in bound ? `at least ${round(bound.atLeast)}` : `at most ${round(bound.atMost)}`
  const compared = baseline === null ? '' : `; ${baseline.name} ${round(baseline.value)}`
  return `${isMet(measure) ? 'MET   ' : 'MISSED'}  ${name.padEnd(64)} ${round(value)} (${limit}${compared})`
}

const round = (value: number) => value.toFixed(3)
