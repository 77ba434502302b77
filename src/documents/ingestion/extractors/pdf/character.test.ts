import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type PdfCharacter, PdfCharacters } from './character.ts'

const place = fc.integer({ min: -2_000, max: 2_000 })
const character: fc.Arbitrary<PdfCharacter> = fc.record({
  code: fc.constantFrom(0x20, 0x09, 0, 0x41, 0x5d0, 0x627, 0x2019, 0x1f600),
  generated: fc.boolean(),
  left: place,
  right: place,
  bottom: place,
  top: place,
})

test('parts, copies and joined texts have the same characters as lists of objects', () => {
  const lists = fc.tuple(fc.array(character), fc.array(character), fc.nat(20), fc.nat(20))
  fc.assert(
    fc.property(lists, ([one, other, first, second]) => {
      const from = Math.min(first, second, one.length)
      const to = Math.min(Math.max(first, second), one.length)
      const characters = PdfCharacters.of(one)
      const part = characters.slice(from, to)
      const expected = one.slice(from, to)
      expect(part.toArray()).toEqual(expected)
      expect(part.slice(0, part.length).concat(PdfCharacters.of(other), PdfCharacters.none).toArray()).toEqual([
        ...expected,
        ...other,
      ])
      const odd = Array.from({ length: expected.length }, (_, at) => at).filter((at) => at % 2 === 1)
      expect(part.pick(odd).toArray()).toEqual(expected.filter((_, at) => at % 2 === 1))
      expect(part.hasRightToLeft()).toBe(expected.some(({ code }) => code === 0x5d0 || code === 0x627))
      const drawn = expected.filter(({ code }) => code > 0x20)
      const extent = part.extent()
      expect(extent && [extent.left, extent.right, extent.bottom, extent.top]).toEqual(
        drawn.length === 0
          ? null
          : [
              Math.min(...drawn.map(({ left }) => left)),
              Math.max(...drawn.map(({ right }) => right)),
              Math.min(...drawn.map(({ bottom }) => bottom)),
              Math.max(...drawn.map(({ top }) => top)),
            ],
      )
      const heights = new Set(drawn.map(({ bottom, top }) => top - bottom))
      if (extent) expect(extent.height).toBe(heights.size === 1 ? [...heights][0] : null)
      const repeated = expected.flatMap(({ code }, at) =>
        code > 0x20 && expected.slice(Math.max(0, at - 4), at).some((other) => other.code === code) ? [at] : [],
      )
      expect(part.repeatedWithin(4)).toEqual(repeated)
      for (const [at, { code, generated, left, right, bottom, top }] of expected.entries()) {
        expect([part.code(at), part.isGenerated(at), part.isBlank(at)]).toEqual([code, generated, code <= 0x20])
        expect([part.left(at), part.right(at), part.bottom(at), part.top(at)]).toEqual([left, right, bottom, top])
      }
    }),
    { seed: 3 },
  )
})
