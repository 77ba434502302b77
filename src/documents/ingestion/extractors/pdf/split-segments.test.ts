import { expect, test } from 'vitest'
import { type PdfCharacter, PdfCharacters } from './character.ts'
import { toSegment } from './segment.ts'
import { splitAtGaps, splitSegment, wideGap } from './split-segments.ts'

const character = (letter: string, left: number, right: number, generated = false): PdfCharacter => ({
  code: letter.codePointAt(0)!,
  generated,
  left,
  right,
  bottom: 0,
  top: 10,
})
const split = (...characters: PdfCharacter[]) => splitAtGaps(PdfCharacters.of(characters), wideGap).length

test('a letter without a width, as PDFium gives to those of several glyphs, ends where the next letter or blank begins', () => {
  const [one, other] = [character('யை', 100, 100), character('க', 125, 130)]
  expect(split(one, other)).toBe(1)
  expect(split(one, character(' ', 122, 125), other)).toBe(1)
  expect(split(one, character(' ', 125, 125, true), other)).toBe(2)
  expect(split(character('அ', 95, 100), other)).toBe(2)
})

test('a date in a cell of a right-to-left row keeps its order', () => {
  const drawn = (text: string, from: number) =>
    Array.from(text, (letter, at) => character(letter, from + at * 5, from + at * 5 + 5))
  // From left to right: a date, and a word whose last letter is at the left.
  const row = toSegment(PdfCharacters.of([...drawn('2024-05-01', 100), ...drawn('بقن', 190)]), true)!
  const cells = splitSegment(row, ({ left }) => (left < 150 ? 1 : 0))!
  expect(cells.map(({ text }) => text).toSorted()).toEqual(['2024-05-01', 'نقب'])
})
