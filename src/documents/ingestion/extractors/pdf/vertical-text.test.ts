import { expect, test } from 'vitest'
import { buildPdf } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'
import { PdfCharacters } from './character.ts'
import type { Segment } from './segment.ts'
import { fromTheRight, verticalLines } from './vertical-text.ts'

interface Drawn {
  text: string
  x: number
  y: number
  size?: number
}

/** A page in a Japanese font that is not in the file: written from the top down, or along x. */
function buildJapanesePdf(texts: Drawn[], direction: 'V' | 'H' = 'V'): Buffer {
  const draw = ({ text, x, y, size = 12 }: Drawn) =>
    `BT /F1 ${size} Tf 1 0 0 1 ${x} ${y} Tm <${Buffer.from(text, 'utf16le').swap16().toString('hex')}> Tj ET`
  return buildPdf([
    { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
    { dictionary: '<< /Type /Pages /Kids [3 0 R] /Count 1 >>' },
    {
      dictionary:
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    },
    { dictionary: '<< >>', stream: texts.map(draw).join('\n') },
    {
      dictionary: `<< /Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light /Encoding /UniJIS-UTF16-${direction} /DescendantFonts [6 0 R] >>`,
    },
    {
      dictionary:
        '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 6 >> /FontDescriptor 7 0 R >>',
    },
    {
      dictionary:
        '<< /Type /FontDescriptor /FontName /Ryumin-Light /Flags 4 /FontBBox [0 -120 1000 880] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 700 /StemV 80 >>',
    },
  ])
}

const joined = (texts: string[]) => texts.join('').replaceAll(/\s+/g, '')
const columns = [
  'この契約は甲が乙に建物を貸し',
  '乙がこれを借りることを目的とする',
  '賃料は月額十二万円とする',
  '乙は建物を注意して使う',
]
const inColumns = (texts: string[], y: number): Drawn[] => texts.map((text, at) => ({ text, x: 500 - at * 20, y }))

test('reads vertical lines of a font that is not in the file, from the right, and blocks from the top', async () => {
  const pages = [inColumns(columns, 700), inColumns(columns.toReversed(), 350)].flat()
  const { texts, kinds, warnings } = await readBlocks('pdf', buildJapanesePdf(pages))
  expect(joined(texts)).toBe([...columns, ...columns.toReversed()].join(''))
  expect(kinds).not.toContain('table_row')
  expect(warnings).toEqual([])
})

test('reads vertical lines of any length and size', async () => {
  const long = columns.join('').repeat(8)
  const texts = [
    { text: long, x: 300, y: 780, size: 1.5 },
    { text: '甲方', x: 200, y: 780, size: 2 },
    { text: '乙方', x: 100, y: 780, size: 30 },
  ]
  const { texts: found } = await readBlocks('pdf', buildJapanesePdf(texts))
  expect(joined(found)).toHaveLength(long.length + 4)
  expect(joined(found)).toContain(long)
})

test('leaves lines along x as they are', async () => {
  const lines = columns.map((text, at) => ({ text, x: 72, y: 700 - at * 16 }))
  expect(joined((await readBlocks('pdf', buildJapanesePdf(lines, 'H'))).texts)).toBe(columns.join(''))
})

test('takes letters below each other for a line if they are of a script that is written so', () => {
  const below = (text: string, step = 10, shift = 0) =>
    PdfCharacters.of(
      Array.from(text, (letter, at) => ({
        code: letter.codePointAt(0)!,
        generated: false,
        left: 100 + at * shift,
        right: 110 + at * shift,
        bottom: 500 - at * step,
        top: 510 - at * step,
      })),
    )
  expect(verticalLines(below('契約の目的'))).toEqual([{ from: 0, to: 5 }])
  expect(verticalLines(below('Total'))).toBeNull()
  expect(verticalLines(below('契約の目的', 10, 6))).toBeNull()
  expect(verticalLines(below('契約の目的', 25))).toBeNull()
  expect(verticalLines(below('契約の目的', 0, 10))).toBeNull()
  expect(verticalLines(below('契'))).toBeNull()
})

test('puts any number of lines in order', () => {
  const line = { left: 0, right: 100, size: 10 } as Segment
  const lines = Array.from({ length: 200_000 }, (_, at) => ({ ...line, bottom: at * 12, top: at * 12 + 10 }))
  expect(fromTheRight(lines, () => true)).toEqual(lines.toReversed())
  expect(fromTheRight(lines.slice(0, 9), () => false)).toEqual(lines.slice(0, 9))
})
