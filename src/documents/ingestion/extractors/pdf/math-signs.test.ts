import { expect, test } from 'vitest'
import { buildPdf } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

/** A page with letters of Helvetica and of a font with this name, whose box is as high as that of TeX's large signs. */
function pageWith(fontName: string): Buffer {
  const widths = `/FirstChar 32 /LastChar 122 /Widths [${'500 '.repeat(91)}]`
  const text = (font: string, letters: string, x: number, y = 700) =>
    `BT /${font} 10 Tf 1 0 0 1 ${x} ${y} Tm (${letters}) Tj ET`
  const content = [text('F1', 'mean =', 72), text('F2', 'X', 110, 707), text('F1', 'is small.', 116)]
  return buildPdf([
    { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
    { dictionary: '<< /Type /Pages /Kids [3 0 R] /Count 1 >>' },
    {
      dictionary:
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 7 0 R /Resources << /Font << /F1 4 0 R /F2 5 0 R >> >> >>',
    },
    { dictionary: '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>' },
    { dictionary: `<< /Type /Font /Subtype /TrueType /BaseFont /${fontName} ${widths} /FontDescriptor 6 0 R >>` },
    {
      dictionary: `<< /Type /FontDescriptor /FontName /${fontName} /Flags 4 /FontBBox [-24 -2960 1454 772] /ItalicAngle 0 >>`,
    },
    { dictionary: '<< >>', stream: content.join('\n') },
  ])
}

const read = async (fontName: string) => (await readBlocks('pdf', pageWith(fontName))).texts.join(' ')

test('large signs of formulas in fonts of TeX are signs, not letters', async () => {
  expect(await read('ABCDEF+CMEX10')).toContain('∑')
  expect(await read('ABCDEF+CMEX10')).not.toContain('X')
})

test('tall letters of other fonts stay', async () => {
  expect(await read('ABCDEF+Display')).toContain('X')
})
