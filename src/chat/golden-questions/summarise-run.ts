import type { GoldenRunMeasures } from '../../contract/golden-runs.ts'
import { percentile } from '../../platform/kernel/index.ts'
import type { QuestionMeasures } from './measure-answer.ts'

/** One question of a run. `measures` is null where no answer was made. */
export interface MeasuredQuestion {
  isPassed: boolean
  mustAbstain: boolean
  measures: QuestionMeasures | null
}

/** The measures of a run. All but the share of passed questions are means over the questions that have them. */
export function summariseRun(questions: readonly MeasuredQuestion[]): GoldenRunMeasures {
  const answered = questions.flatMap(({ mustAbstain, measures }) => (measures ? [{ mustAbstain, ...measures }] : []))
  const latencies = answered.map(({ milliseconds }) => milliseconds).toSorted((left, right) => left - right)
  return {
    passedShare: mean(questions.map(({ isPassed }) => Number(isPassed))) ?? 0,
    retrievalHitRate: mean(answered.map(({ retrievalHit }) => (retrievalHit === null ? null : Number(retrievalHit)))),
    retrievalRecall: mean(answered.map(({ retrievalRecall }) => retrievalRecall)),
    meanReciprocalRank: mean(answered.map(({ reciprocalRank }) => reciprocalRank)),
    citationPrecision: mean(answered.map(({ citationPrecision }) => citationPrecision)),
    citationRecall: mean(answered.map(({ citationRecall }) => citationRecall)),
    factShare: mean(answered.map(({ factShare }) => factShare)),
    tokenF1: mean(answered.map(({ tokenF1 }) => tokenF1)),
    abstentionAccuracy: mean(answered.map(({ isAbstention, mustAbstain }) => Number(isAbstention === mustAbstain))),
    latencyP50Ms: percentile(latencies, 0.5),
    latencyP95Ms: percentile(latencies, 0.95),
  }
}

/** Null where no value counts. Four decimals: more would be noise, and less would hide one of 500 questions. */
function mean(values: readonly (number | null)[]): number | null {
  const counted = values.filter((value) => value !== null)
  if (counted.length === 0) return null
  return Math.round((counted.reduce((sum, value) => sum + value, 0) / counted.length) * 1e4) / 1e4
}
