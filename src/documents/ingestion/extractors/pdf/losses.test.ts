import { expect, test } from 'vitest'
import { buildGlyphPdf, buildPdf, buildTextPdf, type PdfText } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

const sentence = 'The tenant pays the rent on the first day of each month'
const prose = Array.from({ length: 12 }, (_, line) => `${sentence} and keeps the receipt number ${line}`)

/** A page of this content with the fonts F1 (Helvetica) and F2 (glyph numbers without a map to letters). */
function pdfWithUnmappedFont(contents: string[], pageEntries = ''): Buffer {
  const descriptor = '<< /Type /FontDescriptor /FontName /Own /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 >>'
  const kids = contents.map((_, index) => `${7 + index * 2} 0 R`).join(' ')
  return buildPdf([
    { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
    { dictionary: `<< /Type /Pages /Kids [${kids}] /Count ${contents.length} >>` },
    { dictionary: '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>' },
    {
      dictionary: '<< /Type /Font /Subtype /Type0 /BaseFont /Own /Encoding /Identity-H /DescendantFonts [5 0 R] >>',
    },
    {
      dictionary:
        '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Own /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 500 /FontDescriptor 6 0 R >>',
    },
    { dictionary: descriptor },
    ...contents.flatMap((stream, index) => [
      {
        dictionary: `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] ${pageEntries} /Contents ${8 + index * 2} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>`,
      },
      { dictionary: '<< >>', stream },
    ]),
  ])
}

const mapped = (text: string, x = 72, y = 700) => `BT /F1 10 Tf 1 0 0 1 ${x} ${y} Tm (${text}) Tj ET`
/** Glyph numbers as subsets have them. */
const unmapped = (count: number) =>
  `BT /F2 10 Tf 1 0 0 1 72 600 Tm <${Array.from({ length: count }, (_, at) => (0x124 + (at % 40)).toString(16).padStart(4, '0')).join('')}> Tj ET`

test('names the pages whose fonts have no letters for their glyphs', async () => {
  const { warnings } = await readBlocks('pdf', pdfWithUnmappedFont([mapped(sentence), unmapped(30), mapped(sentence)]))
  expect(warnings).toEqual([
    { code: 'damaged_characters', message: expect.stringContaining('do not state'), pages: [2] },
  ])
})

test('names the pages whose fonts map glyphs to nothing', async () => {
  const lost = Array.from('words of ~~~~~~~~', (letter) => (letter === '~' ? '\0' : letter))
  const { warnings } = await readBlocks('pdf', buildGlyphPdf([[{ glyphs: lost, x: 100, y: 700 }]]))
  expect(warnings).toEqual([expect.objectContaining({ code: 'damaged_characters', pages: [1] })])
})

test('does not warn of a few such glyphs, the signs of a formula', async () => {
  const content = `${prose.map((text, line) => mapped(text, 72, 700 - line * 12)).join('\n')}\n${unmapped(3)}`
  expect((await readBlocks('pdf', pdfWithUnmappedFont([content]))).warnings).toEqual([])
})

test('names the pages whose letters are no language', async () => {
  const moved = (text: string) => text.replace(/[a-zA-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 29))
  const page = (write: (text: string) => string) => ({
    texts: prose.map((text, line): PdfText => ({ text: write(text), x: 72, y: 700 - line * 12 })),
  })
  const { warnings } = await readBlocks('pdf', buildTextPdf([page(String), page(moved)]))
  expect(warnings).toEqual([
    { code: 'damaged_characters', message: expect.stringContaining('no language'), pages: [2] },
  ])
})

test('names the pages whose words hold letters that do not belong together, or are in pieces', async () => {
  const page = (text: string) =>
    text.match(/.{1,60}(?: |$)/gu)!.map((line, at) => ({ glyphs: [...line], x: 72, y: 700 - at * 14 }))
  const hindi = 'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।'
  const damaged = hindi.replaceAll('म', '䵔')
  const pieces = 'T h e b o a r d m e e t s i n t h e l a r g e h a l l.'
  const { warnings } = await readBlocks('pdf', buildGlyphPdf([page(hindi), page(damaged), page(pieces)]))
  expect(warnings).toEqual([
    { code: 'damaged_characters', message: expect.stringContaining('do not belong together'), pages: [2] },
    { code: 'damaged_characters', message: expect.stringContaining('in pieces'), pages: [3] },
  ])
})

test('reads letters once that are drawn twice to look bold', async () => {
  let x = 72
  const texts = Array.from('Municipality').flatMap((text) => {
    const doubled = [0, 1.2].map((shift): PdfText => ({ text, x: x + shift, y: 700 }))
    x += 6.5
    return doubled
  })
  expect((await readBlocks('pdf', buildTextPdf([{ texts }]))).texts.join('').replaceAll(/\s/g, '')).toBe('Municipality')
})

test('leaves out what is drawn outside of the page, such as the other half of a spread', async () => {
  const left = mapped('This half of the spread is the first page.', 72)
  const right = mapped('The other half of it is the second page.', 700)
  const pdf = pdfWithUnmappedFont([`${left}\n${right}`])
  const { texts, warnings } = await readBlocks('pdf', pdf)
  expect(texts).toEqual(['This half of the spread is the first page.'])
  expect(warnings.map(({ code }) => code)).toEqual(['hidden_text'])
})

test('keeps the blanks of Arabic words that are narrower than the usual ones', async () => {
  const words = ['سلام', 'دنیا']
  const visual = words.map((word) => [...word].toReversed())
  // The second word is to the left of the first, nine tenths of a unit away.
  const pdf = buildGlyphPdf([
    [
      { glyphs: visual[0]!, x: 200, y: 700 },
      { glyphs: [' '], x: 195.1, y: 700, size: 9 },
      { glyphs: visual[1]!, x: 200 - 20 - 0.9, y: 700 },
    ],
  ])
  expect((await readBlocks('pdf', pdf)).texts).toEqual([words.join(' ')])
})

test('sees the narrow blanks of a justified Arabic line that draws none', async () => {
  const words = ['سلام', 'دنیا', 'کتاب', 'بزرگ']
  const line = words.map((word, at) => ({ glyphs: [...word].toReversed(), x: 300 - at * 21.1, y: 700 }))
  expect((await readBlocks('pdf', buildGlyphPdf([line]))).texts).toEqual([words.join(' ')])
})

test('names the pages where a glyph states a whole line of text', async () => {
  const words = (text: string, y: number) => [...text].map((glyph, at) => ({ glyphs: [glyph], x: 72 + at * 5, y }))
  const page = (stated: string) => [
    ...words('words of the', 700),
    { stated, runs: [{ glyphs: ['s'], x: 72, y: 680 }] },
    ...words('next line', 660),
  ]
  const { warnings } = await readBlocks('pdf', buildGlyphPdf([page('s'), page('the whole text of this line')]))
  expect(warnings).toEqual([expect.objectContaining({ code: 'damaged_characters', pages: [2] })])
})

test('takes text for hidden by the size of its glyphs, not by the height that a font states', async () => {
  const pdf = (size: number) =>
    buildPdf([
      { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
      { dictionary: '<< /Type /Pages /Kids [3 0 R] /Count 1 >>' },
      {
        dictionary:
          '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 6 0 R /Resources << /Font << /F1 4 0 R >> >> >>',
      },
      {
        dictionary: `<< /Type /Font /Subtype /TrueType /BaseFont /Own /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 122 /Widths [${'500 '.repeat(91)}] /FontDescriptor 5 0 R >>`,
      },
      {
        dictionary:
          '<< /Type /FontDescriptor /FontName /Own /Flags 32 /FontBBox [0 -10 1000 90] /ItalicAngle 0 /Ascent 90 /Descent -10 >>',
      },
      { dictionary: '<< >>', stream: `BT /F1 ${size} Tf 1 0 0 1 72 700 Tm (${sentence}) Tj ET` },
    ])
  expect((await readBlocks('pdf', pdf(10))).warnings).toEqual([])
  expect((await readBlocks('pdf', pdf(1))).warnings.map(({ code }) => code)).toEqual(['hidden_text'])
})
