import type { Figure } from './figures.ts'

/** What identifies a ratio from run to run. */
export interface RatioName {
  bench: string
  case: string
  subject: string
  reference: string
  quantity: string
}

export interface Ratio extends RatioName {
  better: Figure['better']
  /** Rounds that measured both. */
  rounds: number
  /** Of the subject's value to the reference's value of the same round. */
  min: number
  median: number
  max: number
  /** Medians of the values themselves. */
  value: number
  referenceValue: number
}

/** A ratio as the repository records it: the median of a run. */
export interface RecordedRatio extends RatioName {
  better: Figure['better']
  ratio: number
}

/** A ratio fails when even its best round is worse than the recorded one by this factor. CI machines differ and are busy. */
export const grossFactor = 2

/** The ratio of each subject to each reference of its case, over the rounds that measured both. Values that are not above 0 are left out. */
export function computeRatios(bench: string, figures: readonly Figure[]): Ratio[] {
  const usable = figures.filter(({ value }) => Number.isFinite(value) && value > 0)
  const groups = Map.groupBy(usable, (figure) => JSON.stringify([figure.case, figure.quantity]))
  return [...groups.values()].flatMap((group) => {
    const subjects = [...Map.groupBy(group, ({ subject }) => subject).values()]
    const references = subjects.filter(([first]) => first!.reference)
    return subjects
      .filter(([first]) => !first!.reference)
      .flatMap((subject) => references.map((reference) => ratioOf(bench, subject, reference)))
      .filter((ratio) => ratio !== undefined)
  })
}

function ratioOf(bench: string, subject: readonly Figure[], reference: readonly Figure[]): Ratio | undefined {
  const referenceByRound = new Map(reference.map(({ round, value }) => [round, value]))
  const pairs = subject.flatMap(({ round, value }) => {
    const other = referenceByRound.get(round)
    return other === undefined ? [] : [{ value, other, ratio: value / other }]
  })
  if (pairs.length === 0) return undefined
  const ratios = pairs.map(({ ratio }) => ratio)
  const { case: name, quantity, better } = subject[0]!
  return {
    bench,
    case: name,
    subject: subject[0]!.subject,
    reference: reference[0]!.subject,
    quantity,
    better,
    rounds: pairs.length,
    min: Math.min(...ratios),
    median: median(ratios),
    max: Math.max(...ratios),
    value: median(pairs.map(({ value }) => value)),
    referenceValue: median(pairs.map(({ other }) => other)),
  }
}

/** The mean of the middle two of an even number. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length / 2
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2
}

/** A sentence for each recorded ratio that is missing in a run, or grossly worse there in every round. */
export function findRegressions(recorded: readonly RecordedRatio[], measured: readonly Ratio[]): string[] {
  const byName = new Map(measured.map((ratio) => [nameOf(ratio), ratio]))
  return recorded.flatMap((expected) => {
    const found = byName.get(nameOf(expected))
    if (!found) return [`${nameOf(expected)}: not measured`]
    const best = expected.better === 'higher' ? found.max : found.min
    const worse = expected.better === 'higher' ? expected.ratio / best : best / expected.ratio
    if (worse <= grossFactor) return []
    const figures = `the best round has ${round(best)}, recorded is ${round(expected.ratio)}`
    return [`${nameOf(expected)}: ${worse.toFixed(1)} times worse than recorded (${figures})`]
  })
}

function nameOf({ bench, case: name, subject, reference, quantity }: RatioName): string {
  return `${bench}, ${name}, ${quantity}: ${subject} to ${reference}`
}

/** A table in Markdown. */
export function formatRatios(ratios: readonly Ratio[]): string {
  const header = '| bench | case | subject | compared with | quantity | values | ratio: median | min to max |'
  const rows = ratios.map(
    (ratio) =>
      `| ${ratio.bench} | ${ratio.case} | ${ratio.subject} | ${ratio.reference} | ${ratio.quantity} | ` +
      `${round(ratio.value)} to ${round(ratio.referenceValue)} | ${round(ratio.median)} | ${round(ratio.min)} to ${round(ratio.max)} |`,
  )
  return [header, '|---|---|---|---|---|---:|---:|---:|', ...rows].join('\n')
}

/** Three significant digits. */
function round(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumSignificantDigits: 3 })
}
