import { expect, test } from 'vitest'
import { type PdfCharacter, PdfCharacters } from './character.ts'
import { isInterleaved } from './lines.ts'

/** Letters 5 wide, from left to right; a space leaves its place free. */
const drawn = (text: string, left: number): PdfCharacter[] =>
  Array.from(text).flatMap((letter, at) =>
    letter === ' '
      ? []
      : [
          {
            code: letter.codePointAt(0)!,
            generated: false,
            left: left + at * 5,
            right: left + at * 5 + 5,
            bottom: 0,
            top: 10,
          },
        ],
  )

const line = (...parts: PdfCharacter[][]) => PdfCharacters.of(parts.flat())

test('letters that fit into the words before them are put into their places', () => {
  expect(isInterleaved(line(drawn('m  c a', 100), drawn('ở', 105), drawn('ử', 120)))).toBe(true)
})

test('an arrow between the cells of a form is no letter of a word', () => {
  expect(isInterleaved(line(drawn('sign here', 105), drawn('▲', 100)))).toBe(false)
})

test('letters over others, and a line in its order, stay as they are', () => {
  expect(isInterleaved(line(drawn('a line', 100), drawn('over', 112)))).toBe(false)
  expect(isInterleaved(line(drawn('a line', 100)))).toBe(false)
})
