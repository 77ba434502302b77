import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectLinear } from '../../../test/harness/timing.ts'
import { countWithTokenizer, createTextCounter } from './index.ts'

/** Pairs of letters are tokens; quadratic in the text, as tokenizers of models may be; `[` and `]` begin and end every text. */
const encoded: number[] = []
const tokenizer = {
  encode(text: string) {
    encoded.push(text.length)
    return { ids: ['[', ...(text.match(/\S{1,2}/g) ?? []), ']'].map((_, id) => id) }
  },
}

test('a model tokenizer counts short texts exactly and never sees more than 1,024 units at once', () => {
  const count = countWithTokenizer(tokenizer)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.integer({ min: 1, max: 40 }), (text, times) => {
      const long = `${text} `.repeat(times)
      const exact = (long.match(/\S{1,2}/g)?.length ?? 0) + 2
      encoded.length = 0
      const tokens = count(long)
      expect(Math.max(...encoded)).toBeLessThanOrEqual(1024)
      // Each cut inside a word may add one.
      expect(tokens).toBeGreaterThanOrEqual(exact)
      expect(tokens).toBeLessThanOrEqual(exact + encoded.length)
      if (long.length <= 1024) expect(tokens).toBe(exact)
    }),
  )
})

test.each(['word_pieces', 'o200k'] as const)('%s counts a text without word ends in linear time', async (kind) => {
  const count = await createTextCounter({ kind })
  // Made once: new memory of this size costs more than counting the words in it.
  const text = 'é'.repeat(400_000)
  await expectLinear((length) => expect(count(text.slice(0, length))).toBeGreaterThan(length / 100), 50_000)
})

test('word_pieces counts English text as it counts the same words in other letters', async () => {
  const count = await createTextCounter({ kind: 'word_pieces' })
  const ascii = fc.string({ unit: 'binary-ascii', maxLength: 200 })
  fc.assert(
    fc.property(ascii, (text) => {
      // A letter beyond ASCII at the end is one piece more.
      expect(count(`${text} é`)).toBe(count(text) + 1)
    }),
  )
  expect(count('A keeper, 1234567!')).toBe(6)
})
