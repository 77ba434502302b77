import { describe, expect, test } from 'vitest'
import { buildPdf, buildTextPdf, type PdfText } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

/** Thousandths of the font size, from the font's public metrics. */
const helveticaWidths: Record<string, number> = {
  a: 556,
  b: 556,
  d: 556,
  e: 556,
  f: 278,
  i: 222,
  l: 222,
  m: 833,
  n: 556,
  o: 556,
  s: 500,
  t: 278,
  y: 500,
}

describe('pdf', () => {
  const lines = (x: number, count: number, word: string): PdfText[] =>
    Array.from({ length: count }, (_, index) => ({
      text: `${word} column line number ${index + 1} is about this long`,
      x,
      y: 700 - index * 12,
    }))
  const page = (texts: PdfText[], rotate = 0) => buildTextPdf([{ texts, rotate }])

  test('columns are read one after the other, even when they are drawn line by line', async () => {
    const left = lines(50, 20, 'Left')
    const right = lines(320, 20, 'Right')
    const title = { text: 'A title that spans both of the columns of this page', x: 130, y: 740, size: 16 }
    const interleaved = [title, ...left.flatMap((line, index) => [line, right[index]!])]
    for (const texts of [interleaved, [title, ...left, ...right], [...right, ...left, title]]) {
      const text = (await readBlocks('pdf', page(texts))).texts.join(' ')
      const numbers = [...text.matchAll(/(Left|Right) column line number (\d+)/g)].map(
        ([, side, number]) => `${side} ${number}`,
      )
      expect(numbers).toEqual([
        ...left.map((_, index) => `Left ${index + 1}`),
        ...right.map((_, index) => `Right ${index + 1}`),
      ])
    }
  })

  test('rows of a table stay together although its columns are apart', async () => {
    const texts = ['Ann 1', 'Bob 2', 'Cat 3', 'Dan 4'].flatMap((cell, index) => [
      { text: cell.split(' ')[0]!, x: 50, y: 700 - index * 14 },
      { text: cell.split(' ')[1]!, x: 300, y: 700 - index * 14 },
    ])
    expect((await readBlocks('pdf', page(texts))).texts.join('\n').split('\n')).toEqual([
      'Ann\t1',
      'Bob\t2',
      'Cat\t3',
      'Dan\t4',
    ])
  })

  test('keeps evenly stretched lines of a justified narrow column whole', async () => {
    // Each word is drawn alone, 20 units after the end of the one before it.
    const stretched = ['a ten of one', 'is in a lot of', 'and it may be'].flatMap((line, row) => {
      let x = 50
      return line.split(' ').map((text) => {
        const place = { text, x, y: 700 - row * 12 }
        x += 20 + Array.from(text, (letter) => helveticaWidths[letter]!).reduce((sum, width) => sum + width, 0) / 100
        return place
      })
    })
    expect((await readBlocks('pdf', page(stretched))).texts).toEqual(['a ten of one is in a lot of and it may be'])
  })

  test('text drawn from the bottom up is read from the top down', async () => {
    const texts = lines(50, 8, 'One').toReversed()
    const numbers = [...(await readBlocks('pdf', page(texts))).texts.join(' ').matchAll(/number (\d)/g)].map(
      ([, number]) => number,
    )
    expect(numbers).toEqual(['1', '2', '3', '4', '5', '6', '7', '8'])
  })

  test('words split at a line’s end are joined, real hyphens kept', async () => {
    const texts = [
      { text: 'A well-known rule about hyphens in a docu-', x: 50, y: 700 },
      { text: 'ment says that words are joined, but the well-', x: 50, y: 688 },
      { text: 'known exceptions keep theirs.', x: 50, y: 676 },
    ]
    const text = (await readBlocks('pdf', page(texts))).texts.join(' ')
    expect(text).toContain('in a document says')
    expect(text).toContain('the well-known exceptions')
  })

  test('paragraphs are joined across lines, headings recognised by size and weight', async () => {
    const { blocks } = await readBlocks(
      'pdf',
      page([
        { text: 'Annual Report', x: 50, y: 740, size: 20 },
        { text: 'This is the first paragraph, which goes on', x: 50, y: 700 },
        { text: 'over two lines of text.', x: 50, y: 688 },
        { text: 'Results', x: 50, y: 660, bold: true },
        { text: 'The second paragraph stands below its heading,', x: 50, y: 640 },
        { text: 'and is as short.', x: 50, y: 628 },
      ]),
    )
    expect(blocks).toEqual([
      { kind: 'heading', level: 1, text: 'Annual Report', page: 1 },
      { kind: 'paragraph', text: 'This is the first paragraph, which goes on over two lines of text.', page: 1 },
      { kind: 'heading', level: 4, text: 'Results', page: 1 },
      { kind: 'paragraph', text: 'The second paragraph stands below its heading, and is as short.', page: 1 },
    ])
  })

  test.each([0, 90, 180, 270])('a page turned by %d degrees reads the same', async (rotate) => {
    const text = (await readBlocks('pdf', page(lines(50, 3, 'Any'), rotate))).texts.join(' ')
    expect(text).toMatch(/line number 1 .*line number 2 .*line number 3 /)
  })

  test.each([1, 2, 3])(
    'text that is drawn turned (%d) is read in order, whether or not its page is turned to fit',
    async (turns) => {
      // Places that follow one another downwards as the turned text sees it.
      const places = (index: number) =>
        [
          { x: 50, y: 0 },
          { x: 100 + index * 12, y: 100 },
          { x: 500, y: 100 + index * 12 },
          { x: 500 - index * 12, y: 700 },
        ][turns]!
      for (const rotate of [0, turns * 90]) {
        const texts = [0, 1, 2].map((index) => ({
          text: `Turned line number ${index} ends here`,
          turns,
          ...places(index),
        }))
        const text = (await readBlocks('pdf', page(texts, rotate))).texts.join(' ')
        expect(text).toMatch(/line number 0 ends here.*line number 1 ends here.*line number 2 ends here/s)
      }
    },
  )

  test('an aside that is turned against the page comes after its text', async () => {
    const texts = [...lines(50, 5, 'Main'), { text: 'Confidential draft', x: 30, y: 300, turns: 1 }]
    const { texts: read1 } = await readBlocks('pdf', page(texts))
    expect(read1.at(-1)).toBe('Confidential draft')
  })

  test('a broken page becomes a warning, and the other pages are read', async () => {
    const whole = buildTextPdf([{ texts: lines(50, 2, 'First') }, { texts: lines(50, 2, 'Second') }]).toString('latin1')
    const broken = Buffer.from(whole.replace('/Kids [5 0 R 7 0 R] /Count 2', '/Kids [99 0 R 7 0 R] /Count 2'), 'latin1')
    const { texts, blocks, warnings } = await readBlocks('pdf', broken)
    expect(texts.join(' ')).toContain('Second column')
    expect(blocks[0]!.page).toBe(2)
    expect(warnings).toEqual([{ code: 'damaged_parts', message: 'Damaged pages were left out.', pages: [1] }])
  })

  test('writes the web addresses of links after their text', async () => {
    const link = (rectangle: string, uri: string) => ({
      dictionary: `<< /Type /Annot /Subtype /Link /Rect [${rectangle}] /Border [0 0 0] /A << /S /URI /URI (${uri}) >> >>`,
    })
    const linked = buildPdf([
      { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
      { dictionary: '<< /Type /Pages /Count 1 /Kids [3 0 R] >>' },
      {
        dictionary:
          '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [6 0 R 7 0 R 8 0 R] /Resources << /Font << /F1 5 0 R >> >> >>',
      },
      { dictionary: '<< >>', stream: 'BT /F1 10 Tf 50 700 Td (See the guide, example.org and a script.) Tj ET' },
      { dictionary: '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>' },
      link('70 695 112 712', 'https://example.org/guide'),
      link('117 695 171 712', 'https://example.org/'),
      link('190 695 230 712', 'javascript:alert\\(1\\)'),
    ])
    expect((await readBlocks('pdf', linked)).texts).toEqual([
      'See the guide (https://example.org/guide), example.org and a script.',
    ])
  })

  test('the value of a form field is text', async () => {
    const font = '<< /Font << /F1 5 0 R >> >>'
    const form = buildPdf([
      { dictionary: '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] >> >>' },
      { dictionary: '<< /Type /Pages /Count 1 /Kids [3 0 R] >>' },
      {
        dictionary: `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [6 0 R] /Resources ${font} >>`,
      },
      { dictionary: '<< >>', stream: 'BT /F1 10 Tf 50 700 Td (Name:) Tj ET' },
      { dictionary: '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>' },
      {
        dictionary:
          '<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ann Miller) /F 4 /Rect [100 695 300 712] /AP << /N 7 0 R >> >>',
      },
      {
        dictionary: `<< /Type /XObject /Subtype /Form /BBox [0 0 200 17] /Resources ${font} >>`,
        stream: 'BT /F1 10 Tf 2 5 Td (Ann Miller) Tj ET',
      },
    ])
    expect((await readBlocks('pdf', form)).texts.join(' ')).toMatch(/Name:\s+Ann Miller/)
  })

  test('a pdf without text fails with advice', async () => {
    const empty = buildPdf([
      { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
      { dictionary: '<< /Type /Pages /Count 1 /Kids [3 0 R] >>' },
      { dictionary: '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>' },
    ])
    await expect(readBlocks('pdf', empty)).rejects.toMatchObject({
      code: 'no_text',
      message: expect.stringContaining('OCR'),
    })
  })
})

/** Adobe's collections of glyphs and their character maps are part of PDFium. */
test.each([
  ['a predefined character map', '90ms-RKSJ-H', '938c8b9e82cd93fa967b82cc8ef1937382c582b7', '東京は日本の首都です'],
  ['glyphs of a collection', 'Identity-H', '0430043104330B58', 'МНП鐸'],
])('reads a font without a Unicode map that names %s', async (_, encoding, codes, text) => {
  const { texts } = await readBlocks(
    'pdf',
    buildPdf([
      { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
      { dictionary: '<< /Type /Pages /Kids [3 0 R] /Count 1 >>' },
      {
        dictionary:
          '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>',
      },
      {
        dictionary: `<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /${encoding} /DescendantFonts [6 0 R] >>`,
      },
      { dictionary: '<< >>', stream: `BT /F1 20 Tf 72 700 Td <${codes}> Tj ET` },
      {
        dictionary:
          '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /FontDescriptor 7 0 R >>',
      },
      {
        dictionary:
          '<< /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 6 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>',
      },
    ]),
  )
  expect(texts).toEqual([text])
})

test('text of a negative size, on a page that is turned to show it, is read along its lines', async () => {
  const lines = ['The tenant pays the rent on the first day', 'of each month to the owner of the house.']
  const texts = lines.map((text, line) => ({ text, x: 540, y: 90 + line * 14, size: -12 }))
  const { blocks } = await readBlocks('pdf', buildTextPdf([{ texts, rotate: 180 }]))
  expect(blocks.map(({ text }) => text)).toEqual([lines.join(' ')])
})
