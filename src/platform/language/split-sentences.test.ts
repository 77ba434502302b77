import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitSentences } from './tokenize.ts'

const textsOf = (text: string) => splitSentences(text).map((sentence) => sentence.text)

test.each<{ text: string; sentences: string[] }>([
  {
    text: 'It rains. It pours! Does it? “Yes.” He left.',
    sentences: ['It rains.', 'It pours!', 'Does it?', '“Yes.”', 'He left.'],
  },
  {
    text: 'Dr. J. R. Smith of Acme Inc. ran 3.5 km in the U.S. Army, e.g. in 1944. He won.',
    sentences: ['Dr. J. R. Smith of Acme Inc. ran 3.5 km in the U.S. Army, e.g. in 1944.', 'He won.'],
  },
  { text: '“Why?” he asked. Nobody knew.', sentences: ['“Why?” he asked.', 'Nobody knew.'] },
  { text: 'They lost by 24. The coach left.', sentences: ['They lost by 24.', 'The coach left.'] },
  {
    text: 'Am 12. Juni und im 19. Jahrhundert war die Feier. Sie dauerte lange.',
    sentences: ['Am 12. Juni und im 19. Jahrhundert war die Feier.', 'Sie dauerte lange.'],
  },
  { text: '1. First item\n2. Second item', sentences: ['1. First item', '2. Second item'] },
  {
    text: '他去了北京。他说：“很好。”然后回家了！',
    sentences: ['他去了北京。', '他说：“很好。”', '然后回家了！'],
  },
  { text: 'ذهب إلى المدينة. متى عاد؟ عاد أمس.', sentences: ['ذهب إلى المدينة.', 'متى عاد؟', 'عاد أمس.'] },
  { text: 'वह घर गया। वह सो गया।', sentences: ['वह घर गया।', 'वह सो गया।'] },
  { text: 'Một. Hai ba bốn. Năm?', sentences: ['Một.', 'Hai ba bốn.', 'Năm?'] },
  { text: ' \n--\n', sentences: [] },
])('splits $text', ({ text, sentences }) => {
  expect(textsOf(text)).toEqual(sentences)
})

test('divides a long Thai text at spaces into parts of the length of a sentence', () => {
  const clause = 'กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย'
  const parts = textsOf(Array.from({ length: 12 }, () => clause).join(' '))
  expect(parts.length).toBeGreaterThan(3)
  for (const part of parts) expect(part.length).toBeLessThan(160)
  expect(textsOf(`${clause} ${clause}`)).toEqual([`${clause} ${clause}`])
})

test('returns every letter and digit of any text exactly once, in order', () => {
  const wordCharacters = (text: string) => (text.match(/[\p{L}\p{N}]/gu) ?? []).join('')
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('a', 'B', '7', '.', '。', ' ', '\n', '"', '!', 'ก', '漢', 'é', '😀'),
        maxLength: 300,
      }),
      (text) => {
        const sentences = splitSentences(text)
        expect(sentences.map((sentence) => wordCharacters(sentence.text)).join('')).toBe(wordCharacters(text))
        let last = 0
        for (const sentence of sentences) {
          expect(sentence.from).toBeGreaterThanOrEqual(last)
          expect(text.slice(sentence.from, sentence.to)).toBe(sentence.text)
          last = sentence.to
        }
      },
    ),
  )
})
