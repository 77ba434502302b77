import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinWindow, type PlacedText, rangeOfPage } from './viewer.store.ts'

/** Pieces of a text that overlap or leave white space between them, as chunks do. */
const cutText = fc
  .tuple(
    fc.string({ unit: fc.constantFrom('a', 'é', '漢', '🙂', '🧵', '\n'), minLength: 1, maxLength: 60 }),
    fc.array(fc.tuple(fc.nat(60), fc.integer({ min: 1, max: 20 })), { maxLength: 12 }),
  )
  .map(([text, cuts]) => {
    const points = [...text]
    const pieces: PlacedText[] = cuts
      .map(([from, length]) => ({ from, to: Math.min(from + length, points.length) }))
      .filter(({ from, to }) => to > from)
      .map(({ from, to }) => ({ from, to, text: points.slice(from, to).join('') }))
      .toSorted((left, right) => left.from - right.from)
    return { points, pieces }
  })

test('joins overlapping pieces to exactly the code points of the window', () => {
  fc.assert(
    fc.property(cutText, fc.nat(60), fc.integer({ min: 1, max: 40 }), ({ points, pieces }, from, length) => {
      const to = from + length
      const joined = joinWindow(pieces, from, to)
      const isCovered = (at: number) => pieces.some((piece) => piece.from <= at && at < piece.to)
      const found = [...joined.text]
      expect(found).toHaveLength(joined.to - from)
      for (const [index, character] of found.entries()) {
        if (isCovered(from + index)) expect(character).toBe(points[from + index])
        else expect(character).toMatch(/[\n ]/)
      }
      // Everything that a piece holds within the window is in the result.
      for (let at = from; at < Math.min(to, points.length); at++) if (isCovered(at)) expect(at).toBeLessThan(joined.to)
    }),
  )
})

test('puts a line feed between two pieces', () => {
  const pieces = [
    { from: 0, to: 2, text: '🙂a' },
    { from: 3, to: 5, text: 'bc' },
  ]
  expect(joinWindow(pieces, 1, 4)).toEqual({ from: 1, to: 4, text: 'a\nb' })
})

test('finds the range of a page in chunks that cover several pages and overlap', () => {
  const chunks = [
    { pageFrom: 1, pageStarts: [40, 90], from: 0, to: 120 },
    { pageFrom: 3, pageStarts: [], from: 100, to: 180 },
    // Page 4 has no text.
    { pageFrom: 3, pageStarts: [190, 190], from: 150, to: 220 },
  ]
  const pageTo = [3, 3, 5]
  const chunksOf = (page: number) => chunks.filter(({ pageFrom }, at) => pageFrom <= page && page <= pageTo[at]!)
  expect([1, 2, 3, 4, 5].map((page) => rangeOfPage(chunksOf(page), page))).toEqual([
    { from: 0, to: 40 },
    { from: 40, to: 90 },
    { from: 90, to: 190 },
    { from: 0, to: 0 },
    { from: 190, to: 220 },
  ])
})
