import { expect, test } from 'vitest'
import { expectLinear } from '../../../../../test/harness/timing.ts'
import { buildGlyphPdf, type GlyphRun } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'
import { PdfCharacters } from './character.ts'
import { orderSyllables } from './syllables.ts'

/** A line whose glyphs, apart by `|`, are drawn one after the other; each can be several letters. */
const drawn = (text: string, y: number): GlyphRun => ({ glyphs: text.split('|'), x: 72, y })

const read = async (...lines: string[]) => {
  const runs = lines.map((line, at) => drawn(line, 700 - at * 60))
  return (await readBlocks('pdf', buildGlyphPdf([runs]))).texts
}

test.each([
  ['अ|ि|ध|क|ा|र| |य|ि|द| |ि|क', 'अधिकार यदि कि'],
  ['ि|स्|थ|ि|त| |ब|ु|ि|द्|ध', 'स्थिति बुद्धि'],
  // The sign of r is drawn over the end of its syllable, or is one glyph with the vowel in front.
  ['ि|द|न| |ब|त|ा|र्|व| |क|म|र्| |आ|प|ू|र्ि|त| |ि|क', 'दिन बर्ताव कर्म आपूर्ति कि'],
  ['ि|द|न|ा|े|ं| |ि|क', 'दिनों कि'],
  ['ি|ক| |ে|ক|া|ন| |ি|ন', 'কি কোন নি'],
  ['ெ|க|ா| |ே|த', 'கொ தே'],
])('vowel signs in drawn order are put into the order of writing: %s', async (line, expected) => {
  expect(await read(line)).toEqual([expected])
})

test('a page in the order of writing stays as it is', async () => {
  expect(await read('य|द|ि| |अ|ध|ि|क|ा|र| |क|ि')).toEqual(['यदि अधिकार कि'])
})

test('the blank that PDFium sees behind a mark without a width is none', () => {
  const letter = (code: string, left: number, right: number, generated = false) => ({
    code: code.codePointAt(0)!,
    generated,
    left,
    right,
    bottom: 0,
    top: 10,
  })
  const word = [letter('द', 0, 5), letter('े', 4, 4), letter(' ', 5, 5, true), letter('र', 5, 9), letter('ी', 9, 11)]
  const proof = [
    letter('ि', 20, 22),
    letter('क', 22, 27),
    letter(' ', 27, 30),
    letter('ि', 30, 32),
    letter('क', 32, 37),
  ]
  const { characters } = orderSyllables(PdfCharacters.of([...word, letter(' ', 11, 20), ...proof]))!
  const text = Array.from({ length: characters.length }, (_, at) => String.fromCodePoint(characters.code(at))).join('')
  expect(text).toBe('देरी कि कि')
})

test.each(['ि', 'िक', 'क्', 'र्', 'ि क्र्'])('takes linear time for many "%s"', async (part) => {
  const page = (count: number) => {
    const codes = Int32Array.from(`िक िक${part.repeat(count)}`, (letter) => letter.charCodeAt(0))
    return { codes, boxes: new Float32Array(codes.length * 4), generated: new Uint8Array(codes.length) }
  }
  await expectLinear((count) => orderSyllables(PdfCharacters.fromArrays(page(count))), 2_000)
})
