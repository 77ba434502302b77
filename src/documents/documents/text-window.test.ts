import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinWindow, type PlacedText } from './text-window.ts'

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
