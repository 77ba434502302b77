import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCitationRewriter } from './citation-rewriter.ts'

const sources = [1, 2, 3].map((number) => ({ documentId: `d${number}`, title: `File ${number}.pdf`, url: null }))

/** The forms that models write. */
const forms: ((number: number) => string)[] = [
  (number) => `[${number}]`,
  (number) => `[^${number}]`,
  (number) => `[[${number}]]`,
  (number) => `［${number}］`,
  (number) => `[${digits(number, '٠')}]`,
  (number) => `【${number}†source】`,
  (number) => `[Source ${number}]`,
  (number) => `(Source ${number})`,
  (number) => `[citation:${number}]`,
  (number) => superscript(number),
  (number) => `<sup>${number}</sup>`,
  (number) => `\\[${number}\\]`,
  (number) => `[${number}](#source-${number})`,
]
const digits = (number: number, zero: string) =>
  [...String(number)].map((digit) => String.fromCodePoint(zero.codePointAt(0)! + Number(digit))).join('')
const superscript = (number: number) => [...String(number)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')

/** What looks like a marker and is none. */
const others = [
  '`list[1]`',
  'process.argv[2]',
  'foo([1, 2])',
  'x[0]',
  'the interval [1, 2]',
  '[[1, 0], [0, 1]]',
  '[2024]',
  'm²',
  '10⁶',
  '[1](https://example.com/a)',
  '$a_{[1]}$',
]
const block = '\n\n```js\nconst first = items[1] // [2] [^9]\n```\n\n'

interface Part {
  text: string
  form: number
  number: number
  space: string
  end: string
}

const part: fc.Arbitrary<Part> = fc.record({
  text: fc.oneof(
    fc.constantFrom('The sky is blue', 'Rain falls', 'Es regnet', 'Über 3 km'),
    fc.constantFrom(...others),
  ),
  form: fc.nat(forms.length - 1),
  number: fc.constantFrom(1, 2, 3, 4, 9, 42, 99),
  space: fc.constantFrom(' ', ' '),
  end: fc.constantFrom('. ', '.\n', '. \n\n', `.${block}`, ' and then. '),
})

test('every form of a marker becomes [n] or goes, and no other character changes', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const numbers: number[] = []
      let text = ''
      let expected = ''
      for (const { text: before, form, number, space, end } of parts) {
        text += `Well, ${before} now${space}${forms[form]!(number)}${end}`
        if (number <= sources.length && !numbers.includes(number)) numbers.push(number)
        const shown = number <= sources.length ? `${space}[${numbers.indexOf(number) + 1}]` : ''
        expected += `Well, ${before} now${shown}${end}`
      }
      const rewriter = createCitationRewriter(sources, { inline: true })
      expect(rewriter.push(text) + rewriter.end()).toBe(expected)
      expect(rewriter.cited().map(({ source }) => source.documentId)).toEqual(numbers.map((number) => `d${number}`))
    }),
    { numRuns: 2_000 },
  )
})
