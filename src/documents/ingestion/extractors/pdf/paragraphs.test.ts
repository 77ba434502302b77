import { expect, test } from 'vitest'
import { expectLinear } from '../../../../../test/harness/timing.ts'
import { buildGlyphPdf } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'
import { PdfCharacters } from './character.ts'
import { createDocumentSense, pageBlocks } from './paragraphs.ts'
import type { Line } from './reading-order.ts'
import { createPdfTableReader } from './tables/table-blocks.ts'

function lineOf(row: number): Line {
  const place = { left: 50, right: 300, bottom: -12 * row, top: 10 - 12 * row, size: 10 }
  const flags = { bold: false, hyphenated: false, hasNarrowGaps: false }
  const segment = { ...place, ...flags, text: 'and so on', characters: PdfCharacters.none }
  return { ...place, segments: [segment] }
}

test('a paragraph without an end is read in linear time', async () => {
  const sense = createDocumentSense()
  const read = (lines: number) =>
    pageBlocks(
      Array.from({ length: lines }, (_, row) => lineOf(row)),
      1,
      sense,
      createPdfTableReader(sense.keepsHyphen),
    )
  await expectLinear(read, 2_000)
})

test('a line end within Thai and Lao is no blank, one behind a stop is', async () => {
  const page = (...lines: string[]) => lines.map((line, at) => ({ glyphs: [...line], x: 72, y: 700 - at * 14 }))
  const pages = [page('ภาษาไทยของคน', 'และภาษาลาว'), page('ພາສາລາວຂອງ', 'ຄວາມສະເໝີ'), page('ភាសាខ្មែរ។', 'ភាសាថៃ')]
  const { texts } = await readBlocks('pdf', buildGlyphPdf(pages))
  expect(texts).toEqual(['ภาษาไทยของคนและภาษาลาว', 'ພາສາລາວຂອງຄວາມສະເໝີ', 'ភាសាខ្មែរ។ ភាសាថៃ'])
})
