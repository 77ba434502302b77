import { test } from 'vitest'
import { expectLinear } from '../../../../../test/harness/timing.ts'
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
