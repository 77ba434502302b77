import { expect, test } from 'vitest'
import { buildPdf } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

const fonts = '/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>'

/** Two pages with a line each; the annotations are on the first. Object 7 draws "Drawn remark". */
function annotated(annotations: string[], catalogue = '', more: string[] = []): Buffer {
  const first = 8
  const page = (contents: number, more = '') =>
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${contents} 0 R /Resources << ${fonts} >> ${more} >>`
  return buildPdf([
    { dictionary: `<< /Type /Catalog /Pages 2 0 R ${catalogue} >>` },
    { dictionary: '<< /Type /Pages /Count 2 /Kids [3 0 R 4 0 R] >>' },
    { dictionary: page(5, `/Annots [${annotations.map((_, index) => `${first + index} 0 R`).join(' ')}]`) },
    { dictionary: page(6) },
    { dictionary: '<< >>', stream: 'BT /F1 12 Tf 72 700 Td (The harbour is closed on Sundays and holidays.) Tj ET' },
    { dictionary: '<< >>', stream: 'BT /F1 12 Tf 72 700 Td (Another page.) Tj ET' },
    {
      dictionary: `<< /Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << ${fonts} >> >>`,
      stream: 'BT /F1 10 Tf 2 5 Td (Drawn remark) Tj ET',
    },
    ...annotations.map((content) => ({ dictionary: `<< /Type /Annot /Rect [72 600 272 620] ${content} >>` })),
    ...more.map((dictionary) => ({ dictionary })),
  ])
}

test('notes and comments follow the text of their page, free text that is drawn is read once', async () => {
  const { blocks, warnings } = await readBlocks(
    'pdf',
    annotated([
      '/Subtype /Text /F 28 /T (Ann Miller) /Contents (Is this still so?\\rAsk the port.)',
      '/Subtype /Highlight /F 4 /QuadPoints [72 712 200 712 72 698 200 698] /Contents (Check)',
      '/Subtype /Highlight /F 4 /Contents (closed on Sundays and holidays.)',
      '/Subtype /FreeText /F 4 /DA (/F1 10 Tf) /Contents (Typed remark)',
      '/Subtype /FreeText /F 4 /DA (/F1 10 Tf) /Contents (Drawn remark) /AP << /N 7 0 R >>',
      '/Subtype /Text /F 2 /Contents (Hidden)',
      '/Subtype /Popup /Contents (Window of a note)',
      '/Subtype /Link /Contents (Not a note)',
    ]),
  )
  expect(blocks.map(({ kind, text, page }) => [kind, text, page])).toEqual([
    ['paragraph', 'The harbour is closed on Sundays and holidays.', 1],
    ['paragraph', 'Drawn remark', 1],
    ['footnote', 'Comment by Ann Miller: Is this still so?\nAsk the port.', 1],
    ['footnote', 'Comment: Check', 1],
    ['paragraph', 'Typed remark', 1],
    ['paragraph', 'Another page.', 2],
  ])
  expect(warnings).toEqual([])
})

test('attached files are named in a warning, and the pages that have some', async () => {
  const attachments = '/Names << /EmbeddedFiles << /Names [(a) 9 0 R (b) 10 0 R] >> >>'
  const { warnings } = await readBlocks(
    'pdf',
    annotated(['/Subtype /FileAttachment /F 4 /Contents (The calculation) /FS 9 0 R'], attachments, [
      '<< /Type /Filespec /F (prices.xlsx) /UF (prices.xlsx) >>',
      '<< /Type /Filespec /F (offer.docx) /UF (offer.docx) >>',
    ]),
  )
  expect(warnings).toEqual([
    { code: 'embedded_content_skipped', message: expect.stringContaining('prices.xlsx, offer.docx') },
    { code: 'embedded_content_skipped', message: expect.stringContaining('attached to these pages'), pages: [1] },
  ])
})
