import fc from 'fast-check'
import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { buildDocx, docxParagraph, wordPart } from '../testing/build-documents.ts'
import { readBlocks } from '../testing/read-blocks.ts'
import { cleanText } from './clean-text.ts'

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
    expect((await readBlocks('txt', iconv.encode(text, encoding))).texts).toEqual([text])
  })

  test.each(['utf-8', 'utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'])(
    '%s is read by its byte order mark',
    async (encoding) => {
      expect((await readBlocks('txt', iconv.encode(japanese, encoding, { addBOM: true }))).texts).toEqual([japanese])
    },
  )

  test('a single broken byte does not turn a UTF-8 file into another encoding', async () => {
    const bytes = Buffer.concat([Buffer.from(`${japanese} `), Buffer.from([0xff]), Buffer.from(` ${japanese}`)])
    const { texts, warnings } = await readBlocks('txt', bytes)
    expect(texts).toEqual([`${japanese} \ufffd ${japanese}`])
    expect(warnings).toEqual([{ code: 'damaged_characters', message: expect.stringContaining('1 damaged character') }])
  })

  test('empty lines separate paragraphs, which keep their lines', async () => {
    expect((await readBlocks('txt', 'One\r\ntwo  \r\n \r\n\r\nThree\rfour\n')).texts).toEqual([
      'One\ntwo',
      'Three\nfour',
    ])
  })

  test('text of any length and line end survives whole, in bounded blocks', async () => {
    const words = Array.from({ length: 40_000 }, (_, index) => `word${index}`)
    const { texts } = await readBlocks('txt', words.join(' '))
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
    const { blocks } = await readBlocks('csv', file)
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
    const { blocks } = await readBlocks('csv', '1,2.5,2024-01-01\n2,3.5,2024-01-02\n')
    expect(blocks.map(({ row, header }) => [row, header])).toEqual([
      [1, undefined],
      [2, undefined],
    ])
  })

  test('decimal commas do not pass for delimiters', async () => {
    const { texts } = await readBlocks('csv', 'Artikel;Preis\nSchraube;1,25\nMutter;0,80\n')
    expect(texts).toEqual(['Artikel | Preis', 'Schraube | 1,25', 'Mutter | 0,80'])
  })

  test('an old encoding is read too', async () => {
    const { texts } = await readBlocks(
      'csv',
      iconv.encode('Straße;Größe\nMüllerstraße;höher als üblich\nÄußere Straße;größer\n', 'windows-1252'),
    )
    expect(texts[1]).toBe('Müllerstraße | höher als üblich')
  })

  test('a stray quotation mark does not swallow the file', async () => {
    const { texts } = await readBlocks('csv', 'a,b\n"inch 5,1\nx,2\n')
    expect(texts).toEqual(['a | b', '"inch 5 | 1', 'x | 2'])
    // As many of them as if they were pairs.
    const tabs = await readBlocks('tsv', 'name\tsize\n"Disk" of\t5"\n"open\tz\n')
    expect(tabs.texts).toEqual(['name | size', '"Disk" of | 5"', '"open | z'])
  })

  test('keeps names of groups behind the last column that is named', async () => {
    const { texts } = await readBlocks('csv', 'North,,South,,Total\nMay,June,May,June\n1,2,3,4,10\n2,3,4,5,14\n')
    expect(texts[0]).toBe('North May | North June | South May | South June | Total')
  })

  test('reads a record of several MiB without quotation marks', async () => {
    const cells = Array.from({ length: 400_000 }, (_, index) => `cell ${index}`)
    const { blocks } = await readBlocks('csv', `${cells.join(',')}\n${cells.join(',')}`)
    expect(blocks).toHaveLength(2)
    expect(blocks[1]!.text).toBe(cells.join(' | '))
  })

  test.each([
    ['unquoted', 'too_complex', 'longer than 16 MiB', (cell: string) => cell],
    ['quoted', 'corrupt_file', 'never ends', (cell: string) => `"${cell}`],
  ])('names the fault of a record without end: %s', async (_, code, message, write) => {
    const file = `a,b\n1,${write('word '.repeat(3.5 * 1024 * 1024))}`
    await expect(readBlocks('csv', file)).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
  })

  test('separates title lines from the header below them', async () => {
    const { blocks } = await readBlocks(
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
    expect((await readBlocks('csv', file)).blocks.at(-1)!.header).toEqual(names.split(','))
  })

  test('keeps a first row of text above rows of text as data where it names nothing', async () => {
    const { blocks } = await readBlocks('csv', 'one\ntwo,three\nfour,five\n')
    expect(blocks.map(({ text }) => text)).toEqual(['one', 'two | three', 'four | five'])
  })

  test('Excel’s first line that names the delimiter is no data', async () => {
    expect((await readBlocks('csv', 'sep=;\na;b\nc;d\n')).texts).toEqual(['a | b', 'c | d'])
  })
})

describe('md', () => {
  test('every construct becomes its block', async () => {
    const { blocks } = await readBlocks(
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

  test('code of lists keeps its indentation and the blanks at the ends of lines', async () => {
    const { blocks } = await readBlocks('md', '1. Run:\n\n   ```sh\n   cd a  \n\n     ls\n   ```\n')
    expect(blocks).toContainEqual({ kind: 'code', text: '   ```sh\n   cd a  \n\n     ls\n   ```' })
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
    const { texts } = await readBlocks('md', `# Before\n\n${text}\n\n# After\n`)
    const words = (source: string) => source.match(/[\p{L}\p{N}]+/gu) ?? []
    expect(words(texts.join('\n'))).toEqual(words(`Before ${text} After`))
    expect([texts[0], texts.at(-1)]).toEqual(['Before', 'After'])
  })

  test('a large file is read in pieces without losing a heading or splitting a code block', async () => {
    const section = (index: number) =>
      `## Section ${index}\n\n${'Some words here. '.repeat(60)}\n\n\`\`\`\n${'line\n\n# no heading\n'.repeat(40)}\`\`\`\n\n`
    const { blocks } = await readBlocks('md', Array.from({ length: 500 }, (_, index) => section(index)).join(''))
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
    const { blocks } = await readBlocks('docx', buildDocx(body, { 'word/styles.xml': styles }))
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
    const { blocks } = await readBlocks('docx', buildDocx(body))
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
    expect((await readBlocks('docx', buildDocx(body))).texts).toEqual(['new text\ttabbed\nbelow', 'box'])
  })

  test('footnotes follow the text and are named where they belong', async () => {
    const body = '<w:p><w:r><w:t>Claim</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
    const footnotes = wordPart('footnotes', `<w:footnote w:id="2">${docxParagraph('Proof.')}</w:footnote>`)
    const { blocks } = await readBlocks('docx', buildDocx(body, { 'word/footnotes.xml': footnotes }))
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
    expect((await readBlocks('docx', buildZip([{ name: 'word/document.xml', content }]))).texts).toEqual(['Wörter'])
  })
})
