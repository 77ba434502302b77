import { expect, test } from 'vitest'
import { expectLinear } from '../../../../../test/harness/timing.ts'
import { buildGlyphPdf, type GlyphRun } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'
import { composeAccents } from './accents.ts'
import { PdfCharacters } from './character.ts'

/** A line as TeX draws it: each accent over the letter behind it, moved by `rise`. */
function accentedLine(text: string, y: number, rise: number): GlyphRun[] {
  const runs: GlyphRun[] = []
  let x = 72
  for (const letter of text) {
    if (letter === '¸') runs.push({ glyphs: [letter], x: x - 5, y })
    else if ('`´ˆ¨'.includes(letter)) runs.push({ glyphs: [letter], x: x + 0.2, y: y + rise })
    else if (letter !== ' ') runs.push({ glyphs: [letter], x, y })
    if (!'`´ˆ¨¸'.includes(letter)) x += 5
  }
  return runs
}

test('accents that a font draws as separate signs are parts of their letters', async () => {
  const page = [
    ...accentedLine('C¸a dit ´el`eve, `a l’´et´e ou`', 700, 0),
    ...accentedLine('ˆEtre ¨uber w¨aren zur¨uck', 640, 1.5),
  ]
  const { texts } = await readBlocks('pdf', buildGlyphPdf([page]))
  expect(texts).toEqual(['Ça dit élève, à l’été ou`', 'Être über wären zurück'])
})

test('a sign that is not over a letter stays', async () => {
  const page = [{ glyphs: [...'type `a` here'], x: 72, y: 700 }]
  expect((await readBlocks('pdf', buildGlyphPdf([page]))).texts).toEqual(['type `a` here'])
})

test('an accent at the end of its line finds its letter, and the hyphen before it stays one', () => {
  const characters = PdfCharacters.of([
    ...letters('fur Be-'),
    ...letters(' ', true),
    { code: 0xa8, generated: false, left: 5, right: 10, bottom: 1, top: 11 },
    ...letters('\r\n', true),
    ...letters('richt', false, -14),
  ])
  const composed = composeAccents(characters)!.characters
  const text = Array.from({ length: composed.length }, (_, at) => String.fromCharCode(composed.code(at))).join('')
  expect(text).toBe('für Be\u0002 \r\nricht')
})

test('many accents without letters take linear time', async () => {
  await expectLinear((count) => composeAccents(PdfCharacters.of(letters('`\r\n'.repeat(count), true))), 1_000)
})

function letters(text: string, generated = false, bottom = 0) {
  return Array.from(text, (letter, at) => {
    const left = at * 5
    return { code: letter.charCodeAt(0), generated, left, right: left + 5, bottom, top: bottom + 10 }
  })
}
