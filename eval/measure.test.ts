import { expect, test } from 'vitest'
import { formatMeasure, isMet, type Measure } from './measure.ts'

const recall: Measure = {
  name: 'recall@5',
  value: 0.8,
  bound: { atLeast: 0.8 },
  baseline: { name: 'plain BM25', value: 0.75 },
}

test('a measure meets its bound at the bound itself, on the right side of it', () => {
  expect(isMet(recall)).toBe(true)
  expect(isMet({ ...recall, value: 0.799 })).toBe(false)
  expect(isMet({ ...recall, bound: { atMost: 0.8 } })).toBe(true)
  expect(isMet({ ...recall, value: 0.801, bound: { atMost: 0.8 } })).toBe(false)
})

test('a figure that could not be computed meets no bound', () => {
  expect(isMet({ ...recall, value: Number.NaN })).toBe(false)
  expect(isMet({ ...recall, value: Number.NEGATIVE_INFINITY, bound: { atMost: 1 } })).toBe(false)
})

test('a line shows the figure, the bound and the baseline', () => {
  expect(formatMeasure({ ...recall, value: 0.7 })).toMatch(
    /^MISSED {2}recall@5 +0\.700 \(at least 0\.800; plain BM25 0\.750\)$/,
  )
})
