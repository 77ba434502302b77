import { describe, expect, it } from 'vitest'
import {
  type ChartValue,
  createFrame,
  labelPlaces,
  largestOf,
  linePaths,
  stackedBars,
  valueTicks,
  yOf,
} from './geometry.ts'

const frameOf = (count: number, { width = 700, top = 10 } = {}) =>
  createFrame({ width, height: 100, count }, [0, top], String)

/** The numbers of a path. */
const numbersOf = (path: string) => (path.match(/-?[\d.]+/g) ?? []).map(Number)

describe('ticks of values', () => {
  it.each([
    [10, [0, 2.5, 5, 7.5, 10]],
    [7, [0, 2, 4, 6, 8]],
    [0.151, [0, 0.05, 0.1, 0.15, 0.2]],
    [1, [0, 0.25, 0.5, 0.75, 1]],
    [123_456_789, [0, 50_000_000, 100_000_000, 150_000_000]],
  ])('of %d are round and reach it', (maximum, ticks) => {
    expect(valueTicks(maximum)).toEqual(ticks)
  })

  it.each([
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [7, [0, 2, 4, 6, 8]],
    [10, [0, 5, 10]],
    [90, [0, 25, 50, 75, 100]],
  ])('of %d calls are whole numbers', (maximum, ticks) => {
    expect(valueTicks(maximum, true)).toEqual(ticks)
  })

  it.each([0, -1, Number.NaN, Infinity, Number.MIN_VALUE])('of %d, which has no scale, reach 1', (maximum) => {
    expect(valueTicks(maximum).at(-1)).toBe(1)
  })

  it('are three to five even steps of any value', () => {
    for (let exponent = -11; exponent < 300; exponent += 1) {
      for (const digits of [1, 1.01, 1.9, 2, 3.3, 4, 5, 7.77, 9.99]) {
        const maximum = digits * 10 ** exponent
        const ticks = valueTicks(maximum)
        expect(ticks.length, String(maximum)).toBeGreaterThanOrEqual(3)
        expect(ticks.length, String(maximum)).toBeLessThanOrEqual(6)
        expect(ticks.at(-1), String(maximum)).toBeGreaterThanOrEqual(maximum * (1 - 1e-9))
        expect(ticks.at(-2), String(maximum)).toBeLessThan(maximum)
      }
    }
  })
})

describe('labels of places', () => {
  it('include the last place, never overlap and stay in the chart', () => {
    for (const count of [1, 2, 7, 31, 92, 398]) {
      for (const width of [200, 294, 700, 1900]) {
        const frame = frameOf(count, { width })
        const labels = labelPlaces(frame, count, 80)
        expect(labels[0]?.place).toBe(count - 1)
        for (const [at, { centre }] of labels.entries()) {
          expect(centre + 40).toBeLessThanOrEqual(frame.width)
          expect(centre - 40).toBeGreaterThanOrEqual(-frame.axisWidth)
          if (at > 0) expect(labels[at - 1]!.centre - centre).toBeGreaterThanOrEqual(80)
        }
      }
    }
  })

  it('are none without places', () => {
    expect(labelPlaces(frameOf(0), 0, 0)).toEqual([])
  })

  it('of values have as much room as the longest needs', () => {
    const size = { width: 700, height: 100, count: 3 }
    const frame = createFrame(size, [0, 1e9], (value) => `US$${value.toFixed(2)}`)
    expect(frame.axisWidth).toBeGreaterThan('US$1000000000.00'.length * 6)
    expect(frame.axisWidth + frame.width).toBe(700)
  })
})

describe('bars', () => {
  it('of one place are stacked, and at most 48 pixels wide', () => {
    const [lower, upper] = stackedBars([[4], [5]], frameOf(1))
    // Left, bottom, top, width, bottom.
    const [, lowerBottom, lowerTop, width] = numbersOf(lower!)
    const [, upperBottom, upperTop] = numbersOf(upper!)
    expect([lowerBottom, lowerTop, upperBottom, upperTop]).toEqual([100, 60, 60, 10])
    expect(width).toBe(48)
  })

  it('are none of zeros, of values that are missing, and without places', () => {
    expect(
      stackedBars(
        [
          [0, null],
          [null, 0],
        ],
        frameOf(2),
      ),
    ).toEqual(['', ''])
    expect(stackedBars([[]], frameOf(0))).toEqual([''])
    expect(stackedBars([], frameOf(0))).toEqual([])
  })

  it('do not overlap, of a year in a narrow window', () => {
    const count = 398
    const [path] = stackedBars([Array.from({ length: count }, () => 5)], frameOf(count, { width: 358 }))
    const bars = path!.split('M').slice(1).map(numbersOf)
    expect(bars).toHaveLength(count)
    for (const [at, [left, , , width]] of bars.entries())
      if (at > 0) expect(left! - bars[at - 1]![0]!).toBeGreaterThanOrEqual(width! - 0.3)
  })
})

describe('lines', () => {
  const commands = (values: ChartValue[], width?: number) => {
    const { line, dots } = linePaths(values, frameOf(values.length, { ...(width !== undefined && { width }) }))
    return { line: line.replaceAll(/[^ML]/g, ''), dots: dots.split('M').length - 1 }
  }

  it('have a gap where a value is missing', () => {
    expect(commands([1, 2, null, 3, 4])).toEqual({ line: 'MLML', dots: 4 })
  })

  it('show one value as a dot, and no dots of a year but those without a neighbour', () => {
    expect(commands([5])).toEqual({ line: 'M', dots: 1 })
    const year = Array.from({ length: 398 }, (_, day): ChartValue => (day === 1 ? null : day))
    expect(commands(year)).toEqual({ line: `MM${'L'.repeat(395)}`, dots: 1 })
  })

  it('are none without values', () => {
    expect(commands([])).toEqual({ line: '', dots: 0 })
    expect(commands([null, null])).toEqual({ line: '', dots: 0 })
  })
})

it('scales huge values, and all zeros to the bottom', () => {
  const huge = { ticks: valueTicks(8e14), height: 100 }
  expect(yOf(huge, 8e14)).toBe(0)
  expect(yOf({ ticks: valueTicks(0), height: 100 }, 0)).toBe(100)
})

it('finds the largest sum of stacked values, and the largest value of lines', () => {
  const series = [
    [1, 5, null],
    [2, 4, 7],
  ]
  expect(largestOf(series, true)).toBe(9)
  expect(largestOf(series, false)).toBe(7)
  expect(largestOf([], true)).toBe(0)
  expect(largestOf([[null]], false)).toBe(0)
})
