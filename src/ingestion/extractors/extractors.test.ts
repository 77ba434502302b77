import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import iconv from 'iconv-lite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DocumentFormat, ExtractedBlock, ExtractionWarning } from '../extraction.ts'
import { defaultLimits } from '../isolation/limits.ts'
import { buildDocx, buildPdf, buildTextPdf, docxParagraph, wordPart, type PdfText } from '../testing/build-documents.ts'
import { cleanText } from './clean-text.ts'
import { createFileExtractor } from './extract-file.ts'

const extractor = createFileExtractor()
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-extractors-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function read(format: DocumentFormat, content: string | Buffer) {
  const filePath = path.join(folder, `file.${format}`)
  await writeFile(filePath, content)
  const sizeBytes = Buffer.byteLength(content)
  const warnings: ExtractionWarning[] = []
  const report = { progress() {}, warn: (warning: ExtractionWarning) => void warnings.push(warning) }
  const blocks: ExtractedBlock[] = []
  const input = { filePath, sizeBytes, limits: defaultLimits(format, sizeBytes), report }
  for await (const batch of extractor.extract(format, input)) blocks.push(...batch)
  return { blocks, texts: blocks.map(({ text }) => text), kinds: blocks.map(({ kind }) => kind), warnings }
}

describe('clean text', () => {
  test('is NFC, without controls, bidi marks, soft hyphens and halves of surrogate pairs, for any input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const cleaned = cleanText(text)
        expect(cleaned).toBe(cleaned.normalize('NFC'))
        expect(cleaned.isWellFormed()).toBe(true)
        expect(cleaned).not.toMatch(/(?![\n\t])\p{Cc}|\p{Bidi_Control}|\u00ad/u)
        expect(cleanText(cleaned)).toBe(cleaned)
      }),
      { seed: 7, numRuns: 500 },
    )
    expect(cleanText('Ho\u0308he a\r\nb\rc\u0000 co\u00adop \ud800')).toBe('Höhe a\nb\nc coop \ufffd')
  })
})

describe('txt', () => {
  const german =
    'Die Straße führt über die Brücke zum Rathaus. Später gehen wir nach Hause, weil es kühl wird und regnet.'
  const russian =
    'Документы обрабатываются по очереди. Каждый файл проверяется, делится на части и сохраняется в базе данных.'
  const japanese =
    '文書は順番に処理されます。各ファイルは検査され、分割され、データベースに保存されます。日本語の文章です。'
  const chinese = '文件按顺序处理。每个文件都会被检查、分割并保存到数据库中。这是一个用中文写的句子，用来测试编码。'
  const korean = '문서는 순서대로 처리됩니다. 각 파일은 검사되고 나뉘어 데이터베이스에 저장됩니다. 한국어 문장입니다.'

  test.each([
    ['windows-1252', german],
    ['windows-1251', russian],
    ['koi8-r', russian],
    ['shift_jis', japanese],
    ['euc-jp', japanese],
    ['gb18030', chinese],
    ['big5', '文件按順序處理。每個檔案都會被檢查、分割並保存到資料庫中。這是一個用中文寫的句子，用來測試編碼。'],
    ['euc-kr', korean],
    ['utf-8', german],
    ['utf-16le', german],
    ['utf-16be', german],
  ])('%s is read without a byte order mark', async (encoding, text) => {
    expect((await read('txt', iconv.encode(text, encoding))).texts).toEqual([text])
  })

  test.each(['utf-8', 'utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'])(
    '%s is read by its byte order mark',
    async (encoding) => {
      expect((await read('txt', iconv.encode(japanese, encoding, { addBOM: true }))).texts).toEqual([japanese])
    },
  )

  test('a single broken byte does not turn a UTF-8 file into another encoding', async () => {
    const bytes = Buffer.concat([Buffer.from(`${japanese} `), Buffer.from([0xff]), Buffer.from(` ${japanese}`)])
    const { texts, warnings } = await read('txt', bytes)
    expect(texts).toEqual([`${japanese} \ufffd ${japanese}`])
    expect(warnings).toEqual([{ code: 'damaged_characters', message: expect.stringContaining('1 damaged character') }])
  })

  test('empty lines separate paragraphs, which keep their lines', async () => {
    expect((await read('txt', 'One\r\ntwo  \r\n \r\n\r\nThree\rfour\n')).texts).toEqual(['One\ntwo', 'Three\nfour'])
  })

  test('text of any length and line end survives whole, in bounded blocks', async () => {
    const words = Array.from({ length: 40_000 }, (_, index) => `word${index}`)
    const { texts } = await read('txt', words.join(' '))
    expect(texts.length).toBeGreaterThan(5)
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(33_000)
    expect(texts.join(' ').split(/\s+/)).toEqual(words)
  })
})

describe('csv', () => {
  test.each([',', ';', '\t', '|'])('the delimiter %j is found, quotes respected', async (delimiter) => {
    const rows = [
      ['Name', 'Note', 'City'],
      ['Ann', `says "hi"${delimiter} twice`, 'Rome'],
      ['Bob', 'two\nlines', 'Oslo'],
    ]
    const file = rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter)).join('\r\n')
    const { blocks } = await read('csv', file)
    expect(blocks).toEqual([
      { kind: 'table_row', text: 'Name | Note | City', header: rows[0] },
      {
        kind: 'table_row',
        text: `Ann | says "hi"${delimiter.trim() === '' ? ' ' : delimiter} twice | Rome`.replace('  ', ' '),
        // Only here the cells cannot be read from the text.
        ...(delimiter === '|' ? { cells: ['Ann', 'says "hi"| twice', 'Rome'] } : {}),
        header: rows[0],
        row: 1,
      },
      { kind: 'table_row', text: 'Bob | two lines | Oslo', header: rows[0], row: 2 },
    ])
  })

  test('a file without a header keeps its first row as data', async () => {
    const { blocks } = await read('csv', '1,2.5,2024-01-01\n2,3.5,2024-01-02\n')
    expect(blocks.map(({ row, header }) => [row, header])).toEqual([
      [1, undefined],
      [2, undefined],
    ])
  })

  test('decimal commas do not pass for delimiters', async () => {
    const { texts } = await read('csv', 'Artikel;Preis\nSchraube;1,25\nMutter;0,80\n')
    expect(texts).toEqual(['Artikel | Preis', 'Schraube | 1,25', 'Mutter | 0,80'])
  })

  test('an old encoding is read too', async () => {
    const { texts } = await read(
      'csv',
      iconv.encode('Straße;Größe\nMüllerstraße;höher als üblich\nÄußere Straße;größer\n', 'windows-1252'),
    )
    expect(texts[1]).toBe('Müllerstraße | höher als üblich')
  })

  test('a stray quotation mark does not swallow the file', async () => {
    const { texts } = await read('csv', 'a,b\n"inch 5,1\nx,2\n')
    expect(texts).toEqual(['a | b', '"inch 5 | 1', 'x | 2'])
  })

  test('reads a record of several MiB without quotation marks', async () => {
    const cells = Array.from({ length: 400_000 }, (_, index) => `cell ${index}`)
    const { blocks } = await read('csv', `${cells.join(',')}\n${cells.join(',')}`)
    expect(blocks).toHaveLength(2)
    expect(blocks[1]!.text).toBe(cells.join(' | '))
  })

  test.each([
    ['unquoted', 'too_complex', 'longer than 16 MiB', (cell: string) => cell],
    ['quoted', 'corrupt_file', 'never ends', (cell: string) => `"${cell}`],
  ])('names the fault of a record without end: %s', async (_, code, message, write) => {
    const file = `a,b\n1,${write('word '.repeat(3.5 * 1024 * 1024))}`
    await expect(read('csv', file)).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
  })

  test('separates title lines from the header below them', async () => {
    const { blocks } = await read(
      'csv',
      'Sales report 2024,,\nAll regions,,\n,,\nRegion,Month,Sum\nNorth,May,5\nSouth,May,7\n',
    )
    expect(blocks.slice(0, 4)).toEqual([
      { kind: 'paragraph', text: 'Sales report 2024' },
      { kind: 'paragraph', text: 'All regions' },
      { kind: 'table_row', text: 'Region | Month | Sum', header: ['Region', 'Month', 'Sum'] },
      { kind: 'table_row', text: 'North | May | 5', header: ['Region', 'Month', 'Sum'], row: 1 },
    ])
  })

  test.each([
    [
      'in two rows',
      ',Sales,,Costs,\nRegion,May,June,May,June\nNorth,1,2,3,4\n',
      'Region,Sales May,Sales June,Costs May,Costs June',
    ],
    ['that is half empty', 'Region,,,Sum,\nNorth,a,b,5,c\nSouth,d,e,7,f\n', 'Region,,,Sum,'],
  ])('recognises a header %s', async (_, file, names) => {
    expect((await read('csv', file)).blocks.at(-1)!.header).toEqual(names.split(','))
  })

  test('keeps a first row of text above rows of text as data where it names nothing', async () => {
    const { blocks } = await read('csv', 'one\ntwo,three\nfour,five\n')
    expect(blocks.map(({ text }) => text)).toEqual(['one', 'two | three', 'four | five'])
  })

  test('Excel’s first line that names the delimiter is no data', async () => {
    expect((await read('csv', 'sep=;\na;b\nc;d\n')).texts).toEqual(['a | b', 'c | d'])
  })
})

describe('md', () => {
  test('every construct becomes its block', async () => {
    const { blocks } = await read(
      'md',
      [
        '---\ntitle: Guide\n---\n',
        '# Main *title*\n',
        'A [link](https://example.org) and `code`.\n',
        '- one\n- two\n  1. inner\n',
        '> quoted\n',
        '```js\nconst a = 1\n\nconst b = 2\n```\n',
        '| A | B |\n|---|---|\n| 1 | 2 |\n',
        'Text[^1].\n\n[^1]: The note.\n',
        'Setext\n------\n',
      ].join('\n'),
    )
    expect(blocks).toEqual([
      { kind: 'paragraph', text: 'title: Guide' },
      { kind: 'heading', level: 1, text: 'Main title' },
      { kind: 'paragraph', text: 'A [link](https://example.org) and `code`.' },
      { kind: 'list_item', text: '- one' },
      { kind: 'list_item', text: '- two' },
      { kind: 'list_item', text: '1. inner' },
      { kind: 'quote', text: 'quoted' },
      { kind: 'code', text: '```js\nconst a = 1\n\nconst b = 2\n```' },
      { kind: 'table_row', text: 'A | B', header: ['A', 'B'] },
      { kind: 'table_row', text: '1 | 2', header: ['A', 'B'], row: 1 },
      { kind: 'paragraph', text: 'Text[^1].' },
      { kind: 'footnote', text: '[^1]: The note.' },
      { kind: 'heading', level: 2, text: 'Setext' },
    ])
  })

  test.each([
    ['dates', Array.from({ length: 300 }, (_, index) => `2024-01-${(index % 28) + 1}`).join('\n')],
    ['list items that are dates', Array.from({ length: 300 }, (_, index) => `- 1.1.20${(index % 90) + 10}`).join('\n')],
    ['IP addresses on one line', Array.from({ length: 300 }, (_, index) => `10.0.0.${index}`).join(' ')],
    ['numbers with dots on one line', Array.from({ length: 300 }, (_, index) => `${index}.`).join(' ')],
    ['brackets', '[1] '.repeat(300).trim()],
    ['a deep quotation', `${'> '.repeat(300)}deep words`],
    ['empty list items', '-\n'.repeat(300)],
  ])('reads %s by the hundred', async (_, text) => {
    const { texts } = await read('md', `# Before\n\n${text}\n\n# After\n`)
    const words = (source: string) => source.match(/[\p{L}\p{N}]+/gu) ?? []
    expect(words(texts.join('\n'))).toEqual(words(`Before ${text} After`))
    expect([texts[0], texts.at(-1)]).toEqual(['Before', 'After'])
  })

  test('a large file is read in pieces without losing a heading or splitting a code block', async () => {
    const section = (index: number) =>
      `## Section ${index}\n\n${'Some words here. '.repeat(60)}\n\n\`\`\`\n${'line\n\n# no heading\n'.repeat(40)}\`\`\`\n\n`
    const { blocks } = await read('md', Array.from({ length: 500 }, (_, index) => section(index)).join(''))
    expect(blocks.filter(({ kind }) => kind === 'heading').map(({ text }) => text)).toEqual(
      Array.from({ length: 500 }, (_, index) => `Section ${index}`),
    )
    expect(blocks.filter(({ kind }) => kind === 'code')).toHaveLength(500)
  })
})

describe('docx', () => {
  const styles = wordPart(
    'styles',
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Sub"><w:name w:val="My heading"/><w:basedOn w:val="H2"/></w:style><w:style w:styleId="H2"><w:name w:val="heading 2"/></w:style>',
  )
  const row = (...cells: string[]) =>
    `<w:tr>${cells.map((cell) => `<w:tc>${docxParagraph(cell)}</w:tc>`).join('')}</w:tr>`
  const grid = '<w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>'

  test('headings by style and by inherited style, lists, and text in order', async () => {
    const body =
      docxParagraph('Main', '<w:pStyle w:val="H1"/>') +
      docxParagraph('Part', '<w:pStyle w:val="Sub"/>') +
      docxParagraph('Item', '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr>') +
      docxParagraph('Outlined', '<w:outlineLvl w:val="2"/>') +
      docxParagraph('Plain &amp; simple')
    const { blocks } = await read('docx', buildDocx(body, { 'word/styles.xml': styles }))
    expect(blocks).toEqual([
      { kind: 'heading', level: 1, text: 'Main' },
      { kind: 'heading', level: 2, text: 'Part' },
      { kind: 'list_item', text: 'Item' },
      { kind: 'heading', level: 3, text: 'Outlined' },
      { kind: 'paragraph', text: 'Plain & simple' },
    ])
  })

  test('tables with their header; nested ones as lines of a cell; layout tables as paragraphs', async () => {
    const body =
      `<w:tbl>${grid}${row('Name', 'City')}${row('Ann', 'Rome')}</w:tbl>` +
      `<w:tbl>${grid}<w:tr><w:trPr><w:tblHeader/></w:trPr><w:tc>${docxParagraph('2023')}</w:tc><w:tc>${docxParagraph('2024')}</w:tc></w:tr>` +
      `<w:tr><w:tc>${docxParagraph('outer')}<w:tbl>${grid}${row('in', 'side')}</w:tbl></w:tc><w:tc>${docxParagraph('next')}</w:tc></w:tr></w:tbl>` +
      `<w:tbl><w:tblGrid><w:gridCol/></w:tblGrid>${row('Just layout')}</w:tbl>`
    const { blocks } = await read('docx', buildDocx(body))
    expect(blocks).toEqual([
      { kind: 'table_row', text: 'Name | City', header: ['Name', 'City'] },
      { kind: 'table_row', text: 'Ann | Rome', header: ['Name', 'City'], row: 1 },
      { kind: 'table_row', text: '2023 | 2024', header: ['2023', '2024'] },
      {
        kind: 'table_row',
        text: 'outer in | side | next',
        cells: ['outer in | side', 'next'],
        header: ['2023', '2024'],
        row: 1,
      },
      { kind: 'paragraph', text: 'Just layout' },
    ])
  })

  test('deleted and moved-away text is left out, inserted text and fields’ results are kept, drawings are read once', async () => {
    const body =
      '<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>' +
      '<w:ins><w:r><w:t>new </w:t></w:r></w:ins><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>text</w:t><w:tab/><w:t>tabbed</w:t><w:br/><w:t>below</w:t></w:r></w:p>' +
      '<w:p><w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:r></w:p>'
    expect((await read('docx', buildDocx(body))).texts).toEqual(['new text\ttabbed\nbelow', 'box'])
  })

  test('footnotes follow the text and are named where they belong', async () => {
    const body = '<w:p><w:r><w:t>Claim</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
    const footnotes = wordPart('footnotes', `<w:footnote w:id="2">${docxParagraph('Proof.')}</w:footnote>`)
    const { blocks } = await read('docx', buildDocx(body, { 'word/footnotes.xml': footnotes }))
    expect(blocks).toEqual([
      { kind: 'paragraph', text: 'Claim[^2]' },
      { kind: 'footnote', text: '[^2] Proof.' },
    ])
  })

  test('UTF-16 parts and another prefix for the namespace are read', async () => {
    const xml =
      '<?xml version="1.0" encoding="UTF-16"?><x:document xmlns:x="http://purl.oclc.org/ooxml/wordprocessingml/main"><x:body><x:p><x:r><x:t>Wörter</x:t></x:r></x:p></x:body></x:document>'
    const { buildZip } = await import('../testing/build-documents.ts')
    const content = iconv.encode(xml, 'utf-16le', { addBOM: true })
    expect((await read('docx', buildZip([{ name: 'word/document.xml', content }]))).texts).toEqual(['Wörter'])
  })
})

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
      const text = (await read('pdf', page(texts))).texts.join(' ')
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
    expect((await read('pdf', page(texts))).texts.join('\n').split('\n')).toEqual([
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
    expect((await read('pdf', page(stretched))).texts).toEqual(['a ten of one is in a lot of and it may be'])
  })

  test('text drawn from the bottom up is read from the top down', async () => {
    const texts = lines(50, 8, 'One').toReversed()
    const numbers = [...(await read('pdf', page(texts))).texts.join(' ').matchAll(/number (\d)/g)].map(
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
    const text = (await read('pdf', page(texts))).texts.join(' ')
    expect(text).toContain('in a document says')
    expect(text).toContain('the well-known exceptions')
  })

  test('paragraphs are joined across lines, headings recognised by size and weight', async () => {
    const { blocks } = await read(
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
    const text = (await read('pdf', page(lines(50, 3, 'Any'), rotate))).texts.join(' ')
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
        const text = (await read('pdf', page(texts, rotate))).texts.join(' ')
        expect(text).toMatch(/line number 0 ends here.*line number 1 ends here.*line number 2 ends here/s)
      }
    },
  )

  test('an aside that is turned against the page comes after its text', async () => {
    const texts = [...lines(50, 5, 'Main'), { text: 'Confidential draft', x: 30, y: 300, turns: 1 }]
    const { texts: read1 } = await read('pdf', page(texts))
    expect(read1.at(-1)).toBe('Confidential draft')
  })

  test('a broken page becomes a warning, and the other pages are read', async () => {
    const whole = buildTextPdf([{ texts: lines(50, 2, 'First') }, { texts: lines(50, 2, 'Second') }]).toString('latin1')
    const broken = Buffer.from(whole.replace('/Kids [5 0 R 7 0 R] /Count 2', '/Kids [99 0 R 7 0 R] /Count 2'), 'latin1')
    const { texts, blocks, warnings } = await read('pdf', broken)
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
    expect((await read('pdf', linked)).texts).toEqual([
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
    expect((await read('pdf', form)).texts.join(' ')).toMatch(/Name:\s+Ann Miller/)
  })

  test('a pdf without text fails with advice', async () => {
    const empty = buildPdf([
      { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
      { dictionary: '<< /Type /Pages /Count 1 /Kids [3 0 R] >>' },
      { dictionary: '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>' },
    ])
    await expect(read('pdf', empty)).rejects.toMatchObject({ code: 'no_text', message: expect.stringContaining('OCR') })
  })
})
