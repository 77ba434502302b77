import { plainValueOf } from './derived-numbers.ts'
import { type Evidence, type EvidenceNumbers, headSegment } from './evidence.ts'
import type { Figure } from './read-figures.ts'
import { exact, precisionOf } from './read-number.ts'
import { findShare, type Share } from './shares.ts'

/** The segments of a passage that have a figure of a sentence; those of title and headings for what belongs to all. */
export function segmentsOfFigure(passage: Evidence, figure: Figure): readonly number[] {
  switch (figure.type) {
    case 'month':
      return passage.months.get(figure.month) ?? []
    case 'currency':
      // Tables and prices often leave the currency out.
      return passage.currencies.size === 0 || passage.currencies.has(figure.code) ? [headSegment] : []
    case 'number':
      return [...segmentsOfNumber(passage, figure), ...segmentsOfPercent(passage, figure)]
  }
}

type NumberFigure = Extract<Figure, { type: 'number' }>

/** The segments of the first reading whose numbers all are in the passage. */
function segmentsOfNumber({ numbers, months }: Evidence, figure: NumberFigure): readonly number[] {
  for (const reading of figure.readings) {
    const found = reading.map((value) => [
      ...findNumber(numbers, value, figure),
      ...(figure.mayBeMonth ? (months.get(value) ?? []) : []),
    ])
    if (found.every((segments) => segments.length > 0)) return found.flat()
  }
  return []
}

/** "50 %" is in a passage with "half", and "100 %" in one with "doubled". */
function segmentsOfPercent({ wordShares }: Evidence, figure: NumberFigure): readonly number[] {
  const value = plainValueOf(figure)
  return figure.isPercent && value !== null ? (wordShares.get(value) ?? []) : []
}

/** "1.2 million" is in a passage with 1,200,000, with "1.2 million", and with 1.2 in a column of millions. */
function findNumber(numbers: EvidenceNumbers, value: number, { scales, isRounded }: NumberFigure): readonly number[] {
  const scaled = scales.length === 0 ? [value] : scales.map((scale) => exact(value * scale))
  const same = scaled.flatMap((one) => numbers.values.get(one) ?? [])
  const unscaled = (scales.length === 0 ? numbers.mantissas : numbers.plain).get(value) ?? []
  const found = [...same, ...unscaled]
  const mayBeRounded = isRounded || (scales.length > 0 && !Number.isInteger(value))
  if (found.length > 0 || !mayBeRounded) return found
  const steps = scales.length === 0 ? [1] : scales
  return steps.flatMap((scale) => findRounded(numbers, exact(value * scale), precisionOf(value) * scale))
}

/** The segments of the smallest number that is `value` after rounding to `precision`. */
function findRounded({ sorted, values }: EvidenceNumbers, value: number, precision: number): readonly number[] {
  const least = value - precision / 2
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (sorted[middle]! < least) from = middle + 1
    else to = middle
  }
  const nearest = sorted[from]
  return nearest !== undefined && nearest <= value + precision / 2 ? (values.get(nearest) ?? []) : []
}

/** Whether a passage has each share that a sentence states in words; `other`: it states another one where `isClose`, or lacks the numbers of it. */
export function compareShares(
  shares: readonly Share[],
  passage: Evidence,
  isClose: (segment: number) => boolean,
): ('found' | 'other' | 'unknown')[] {
  if (shares.length === 0) return []
  const isAnyClose = [...passage.shares.values()].flat().some(isClose)
  return shares.map((share) => {
    const found = findShare(passage.shares, share)
    if (found.includes(headSegment) || found.some(isClose)) return 'found'
    if (isAnyClose) return 'other'
    if (found.length > 0) return 'found'
    return share.numbers.some((value) => !passage.numbers.values.has(value)) ? 'other' : 'unknown'
  })
}
