import { expect, test } from 'vitest'
import { buildGlyphPdf, type GlyphRun } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

/** A small raised mark with text right behind it. */
const marked = (mark: string, text: string, y: number, rise = 4): GlyphRun[] => [
  { glyphs: [...mark], x: 72, y: y + rise, size: 6 },
  { glyphs: [...text], x: 72 + mark.length * 3 + 0.4, y },
]

test('the mark of a footnote is parted from its first word, and a number of the same line is not', async () => {
  const page = [
    ...marked('12', 'Documents prove it.', 700),
    // So high that PDFium begins another line behind it.
    ...marked('3', 'jsou nadáni.', 640, 5),
    ...marked('†', 'Deceased.', 580),
    ...marked('14', 'C decays.', 520),
    ...marked('4', 'th line', 460, 0),
  ]
  const { texts } = await readBlocks('pdf', buildGlyphPdf([page]))
  expect(texts).toEqual(['12 Documents prove it.', '3 jsou nadáni.', '† Deceased.', '14C decays.', '4th line'])
})
