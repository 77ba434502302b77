import { expect, test } from 'vitest'
import { slopeOf } from './slope.ts'

const samplesOf = (values: number[]) => values.map((value, minute) => ({ minutes: minute / 2, value }))

test('a line has its own slope', () => {
  expect(slopeOf(samplesOf([5, 6, 7, 8]))).toBeCloseTo(2, 12)
  expect(slopeOf(samplesOf([9, 9, 9]))).toBe(0)
})

test('noise that rises and falls changes the slope little', () => {
  const noisy = Array.from({ length: 40 }, (_, index) => 100 + 0.25 * index + (index % 2 === 0 ? 3 : -3))
  expect(slopeOf(samplesOf(noisy))).toBeCloseTo(0.5, 1)
})

test('fewer than two samples have no slope', () => {
  expect(slopeOf([])).toBe(0)
  expect(slopeOf(samplesOf([4]))).toBe(0)
})
