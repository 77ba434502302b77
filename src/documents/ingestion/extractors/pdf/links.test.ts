import { expect, test } from 'vitest'
import { logicalOrder } from './bidi.ts'
import { PdfCharacters } from './character.ts'
import { textOf } from './letters.ts'
import { placeLinks } from './links.ts'

test('the address of a link follows its right-to-left text', () => {
  // The first letter is at the right.
  const letters = Array.from('אבג דה', (letter, at) => {
    const left = 150 - at * 5
    return { code: letter.charCodeAt(0), generated: false, left, right: left + 5, bottom: 0, top: 10 }
  })
  const link = { target: 'https://example.org/a', left: 139, right: 156, bottom: 0, top: 10 }
  const { characters } = placeLinks({ characters: PdfCharacters.of(letters), origins: null }, [link])
  expect(textOf(logicalOrder(characters, true))).toBe('אבג (https://example.org/a) דה')
})
