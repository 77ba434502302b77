import { expect, test } from 'vitest'
import { type PdfCharacter, PdfCharacters } from './character.ts'
import { splitAtGaps, wideGap } from './split-segments.ts'

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
