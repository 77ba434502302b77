import { expect, test } from 'vitest'
import { buildGlyphPdf, type GlyphRun } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

/** Letters of 5 units that are apart by `gap`, and blanks that are only wider gaps. */
function spaced(text: string, y: number, gap: number, x = 72): GlyphRun[] {
  let left = x
  const runs: GlyphRun[] = []
  for (const glyph of text) {
    if (glyph === ' ') left += 3
    else {
      runs.push({ glyphs: [glyph], x: left, y })
      left += 5 + gap
    }
  }
  return runs
}

test('letter-spaced words are whole, whether the spacing is narrow or as wide as columns', async () => {
  const page = [1, 2.5, 5, 12].flatMap((gap, index) => spaced('Annual report of the board', 700 - index * 60, gap))
  const { texts } = await readBlocks('pdf', buildGlyphPdf([page]))
  expect(texts).toEqual(Array.from({ length: 4 }, () => 'Annual report of the board'))
})

test('a letter-spaced number is whole next to words with the same spacing', async () => {
  const page = [...spaced('Order', 700, 2), ...spaced('17-4', 640, 2), ...spaced('38 15', 580, 4)]
  const { texts } = await readBlocks('pdf', buildGlyphPdf([page]))
  expect(texts).toEqual(['Order', '17-4', '3 8 1 5'])
})

test('the spacing of a word ends at the usual words of its line', async () => {
  const page = [...spaced('we', 700, 0), ...spaced('order', 700, 4, 85), ...spaced('and pay', 700, 0, 135)]
  const { texts } = await readBlocks('pdf', buildGlyphPdf([page]))
  expect(texts).toEqual(['we order and pay'])
})

test('single letters between the words of a line stay apart', async () => {
  const { texts } = await readBlocks('pdf', buildGlyphPdf([spaced('columns A B C D E of it', 700, 0)]))
  expect(texts).toEqual(['columns A B C D E of it'])
})

test('a letter-spaced word that is split at the end of its line is whole', async () => {
  const line = (text: string, y: number) => ({
    glyphs: [...text].flatMap((glyph) => (glyph === ' ' ? [''] : [glyph, ''])),
    x: 72,
    y,
  })
  const { texts } = await readBlocks('pdf', buildGlyphPdf([[line('this was deli-', 700), line('vered at noon', 688)]]))
  expect(texts).toEqual(['this was delivered at noon'])
})
