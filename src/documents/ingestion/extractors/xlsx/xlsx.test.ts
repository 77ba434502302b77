import { describe, expect, test } from 'vitest'
import { buildXlsx, sheetRows } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

const texts = async (content: Buffer) => (await readBlocks('xlsx', content)).texts

describe('a workbook', () => {
  test('has each sheet under its name, hidden ones named as such, and empty ones left out', async () => {
    const { blocks } = await readBlocks(
      'xlsx',
      buildXlsx([
        {
          name: 'Prices',
          rows: sheetRows([
            ['Plant', 'Euro'],
            ['Rose', 3],
            ['Lily', 4.5],
          ]),
        },
        { name: 'Empty', rows: '' },
        { name: 'Notes &amp; more', rows: sheetRows([['Only text.']]), state: 'veryHidden' },
      ]),
    )
    const header = ['Plant', 'Euro']
    expect(blocks).toEqual([
      { kind: 'heading', level: 1, text: 'Prices' },
      { kind: 'table_row', text: 'Plant | Euro', header },
      { kind: 'table_row', text: 'Rose | 3', row: 1, header },
      { kind: 'table_row', text: 'Lily | 4.5', row: 2, header },
      { kind: 'heading', level: 1, text: 'Notes & more (hidden)' },
      { kind: 'paragraph', text: 'Only text.' },
    ])
  })

  test('shows numbers in their formats, dates in both calendars, and the values of formulas', async () => {
    const styles =
      '<numFmts><numFmt numFmtId="164" formatCode="#,##0.00 &quot;€&quot;"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf/><xf numFmtId="164"/><xf numFmtId="14"/><xf numFmtId="10"/></cellXfs>'
    const row = `<row><c s="1"><v>1234.5</v></c><c s="2"><v>45292</v></c><c s="3"><f>A1*2</f><v>0.256</v></c><c t="str"><f>B1&amp;""</f><v>text</v></c><c t="b"><v>1</v></c><c t="e"><f>1/0</f><v>#DIV/0!</v></c></row>`
    expect(await texts(buildXlsx([{ name: 'S', rows: row }], { styles }))).toEqual([
      'S',
      '1,234.50 € | 2024-01-01 | 25.60% | text | TRUE | #DIV/0!',
    ])
    const mac = buildXlsx([{ name: 'S', rows: row }], { styles, properties: 'date1904="1"' })
    expect((await texts(mac))[1]).toContain('2028-01-02')
  })

  test('reads shared texts without the pronunciation, and the notes of cells', async () => {
    const workbook = buildXlsx([{ name: 'S', rows: '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>' }], {
      shared: ['one</t></si><si><r><t>東</t></r><r><t>京</t></r><rPh><t>トウキョウ</t></rPh><t>'],
      parts: {
        'xl/worksheets/_rels/0.xml.rels':
          '<Relationships><Relationship Id="c" Type="x/comments" Target="../notes.xml"/></Relationships>',
        'xl/notes.xml':
          '<comments><commentList><comment ref="B1"><text><r><t>A city.</t></r></text></comment></commentList></comments>',
      },
    })
    expect(await texts(workbook)).toEqual(['S', 'one | 東京', 'B1: A city.'])
  })

  test('names hidden rows and columns', async () => {
    const row = (number: number, text: string, attributes = '') =>
      `<row r="${number}" ${attributes}><c t="inlineStr"><is><t>${text}</t></is></c></row>`
    const rows = [1, 2, 3, 4, 5, 6].map((number) =>
      row(number, `Text ${number}.`, [2, 3, 5].includes(number) ? 'hidden="1"' : ''),
    )
    const { blocks } = await readBlocks('xlsx', buildXlsx([{ name: 'S', rows: rows.join('') }]))
    expect(blocks.at(-1)).toEqual({ kind: 'footnote', text: 'Hidden rows: 2–3, 5.' })
  })

  test('reports formulas without a value, and reads the formula', async () => {
    const { texts: found, warnings } = await readBlocks(
      'xlsx',
      buildXlsx([{ name: 'S', rows: '<row><c><v>1</v></c><c><f>A1+1</f></c></row>' }]),
    )
    expect(found[1]).toBe('1 | =A1+1')
    expect(warnings).toMatchObject([
      { code: 'embedded_content_skipped', message: expect.stringMatching(/^1 formula has/) },
    ])
  })
})

describe('the tables of a sheet', () => {
  const table = [
    ['Plant', 'Euro'],
    ['Rose', 3],
    ['Lily', 4],
  ]
  const read = async (rows: string, after = '') =>
    (await readBlocks('xlsx', buildXlsx([{ name: 'S', rows, after }]))).blocks.slice(1)

  test('end at an empty row before another header, and continue before a row of totals', async () => {
    const second = [
      ['City', 'People'],
      ['Rome', 9],
    ]
    const blocks = await read(sheetRows(table) + sheetRows([['Total', 7]], 6) + sheetRows(second, 9))
    expect(blocks.map(({ text, row }) => [text, row])).toEqual([
      ['Plant | Euro', undefined],
      ['Rose | 3', 1],
      ['Lily | 4', 2],
      ['Total | 7', 3],
      ['City | People', undefined],
      ['Rome | 9', 1],
    ])
  })

  test('begin where their cells do, and get columns that only later rows fill', async () => {
    const cell = (place: string, value: string) => `<c r="${place}" t="str"><v>${value}</v></c>`
    const rows = Array.from(
      { length: 25 },
      (_, index) => `<row r="${index + 2}">${cell('C1', 'a')}${cell('F1', 'b')}</row>`,
    )
    const blocks = await read(
      `${rows.join('')}<row r="27">${cell('C1', 'x')}${cell('D1', 'new')}${cell('F1', 'z')}</row>`,
    )
    expect(blocks[0]!.text).toBe('a | b')
    expect(blocks.at(-1)!.text).toBe('x | new | z')
  })

  test('have the text of a merged cell in each of its rows, and a number once', async () => {
    const rows = sheetRows([
      ['Group', 'Day', 'Euro'],
      ['Adults', 'Monday', 12],
      ['', 'Sunday'],
      ['Children', 'Monday', 5],
    ])
    const blocks = await read(
      rows,
      '<mergeCells count="2"><mergeCell ref="A2:A3"/><mergeCell ref="C2:C3"/></mergeCells>',
    )
    expect(blocks.map(({ text }) => text)).toEqual([
      'Group | Day | Euro',
      'Adults | Monday | 12',
      'Adults | Sunday | ',
      'Children | Monday | 5',
    ])
  })
})

test('diagrams of a sheet are read, and a sheet that the file does not have is named', async () => {
  const relationship = (type: string, target: string, id = 'a') =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`
  const parts = {
    'xl/_rels/workbook.xml.rels': relationship('worksheet', 'worksheets/0.xml', 's0'),
    'xl/worksheets/_rels/0.xml.rels': relationship('drawing', '../drawings/1.xml'),
    'xl/drawings/1.xml': '<wsDr/>',
    'xl/drawings/_rels/1.xml.rels': relationship('diagramData', '../diagrams/1.xml'),
    'xl/diagrams/1.xml':
      '<dataModel xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><pt><t><a:p><a:r><a:t>First step</a:t></a:r></a:p></t></pt></dataModel>',
  }
  const sheets = [
    { name: 'Plan', rows: sheetRows([['a', 'b']]) },
    { name: 'Costs', rows: '' },
  ]
  const { texts, warnings } = await readBlocks('xlsx', buildXlsx(sheets, { parts }))
  expect(texts).toEqual(['Plan', 'a | b', 'First step'])
  expect(warnings).toEqual([{ code: 'damaged_parts', message: expect.stringContaining('Costs') }])
})

test('headers and footers of pages follow the sheet, each text once and without codes and page numbers', async () => {
  const pages = (header: string, footer: string) =>
    `<headerFooter><oddHeader>${header}</oddHeader><oddFooter>${footer}</oddFooter></headerFooter>`
  const header = '&amp;L&amp;"Arial,Bold"&amp;14Acme &amp;&amp; Sons&amp;CPrices 2026&amp;R&amp;D'
  const { blocks } = await readBlocks(
    'xlsx',
    buildXlsx([
      {
        name: 'A',
        rows: sheetRows([['a', 'b']]),
        after: pages(header, '&amp;Kff0000Confidential&amp;CPage &amp;P of &amp;N'),
      },
      { name: 'B', rows: sheetRows([['c', 'd']]), after: pages('Prices 2026', '&amp;A&amp;RDraft') },
    ]),
  )
  expect(blocks.map(({ kind, text }) => [kind, text])).toEqual([
    ['heading', 'A'],
    ['table_row', 'a | b'],
    ['footnote', 'Acme & Sons'],
    ['footnote', 'Prices 2026'],
    ['footnote', 'Confidential'],
    ['heading', 'B'],
    ['table_row', 'c | d'],
    ['footnote', 'Draft'],
  ])
})

test('embedded files of a sheet are named, and descriptions of its pictures are read', async () => {
  const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const parts = {
    'xl/worksheets/_rels/0.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${types}/package" Target="../embeddings/1.docx"/><Relationship Id="b" Type="${types}/drawing" Target="../drawings/1.xml"/></Relationships>`,
    'xl/drawings/1.xml': '<wsDr><pic><nvPicPr><cNvPr id="2" descr="A map of the port"/></nvPicPr></pic></wsDr>',
  }
  const { texts, warnings } = await readBlocks(
    'xlsx',
    buildXlsx([{ name: 'S', rows: sheetRows([['a', 'b']]) }], { parts }),
  )
  expect(texts).toEqual(['S', 'a | b', 'A map of the port'])
  expect(warnings).toMatchObject([{ code: 'embedded_content_skipped' }])
})

test('formulas without a result are a warning, also where they share their text; an empty text is a result', async () => {
  const cell = (place: string, content: string, type = '') => `<c r="${place}" ${type}>${content}</c>`
  const rows =
    `<row r="1">${cell('A1', '<v>1</v>')}${cell('B1', '<f t="shared" ref="B1:B2" si="0">A1*2</f><v/>')}</row>` +
    `<row r="2">${cell('A2', '<v>2</v>')}${cell('B2', '<f t="shared" si="0"/><v/>')}${cell('C2', '<f>IF(A1,"","x")</f><v></v>', 't="str"')}</row>`
  const { texts, warnings } = await readBlocks('xlsx', buildXlsx([{ name: 'S', rows }]))
  expect(texts).toEqual(['S', '1 | =A1*2', '2 | '])
  expect(warnings).toMatchObject([
    { code: 'embedded_content_skipped', message: expect.stringContaining('2 formulas have') },
  ])
})

test('notes and conversations have their authors, and sheets of other kinds and controls are named', async () => {
  const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const present = 'http://schemas.microsoft.com/office/2017/10/relationships'
  const relationships = (...list: [type: string, target: string][]) =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list.map(([type, target], id) => `<Relationship Id="s${id}" Type="${type}" Target="${target}"/>`).join('')}</Relationships>`
  const note = (place: string, author: number, text: string) =>
    `<comment ref="${place}" authorId="${author}"><text><r><t>${text}</t></r></text></comment>`
  const parts = {
    'xl/_rels/workbook.xml.rels': relationships(
      [`${types}/worksheet`, 'worksheets/0.xml'],
      [`${types}/dialogsheet`, 'dialogsheets/1.xml'],
      [`${present}/person`, 'persons/person.xml'],
    ),
    'xl/persons/person.xml': '<personList><person displayName="Cy" id="{1}"/></personList>',
    'xl/worksheets/_rels/0.xml.rels': relationships(
      [`${types}/comments`, '../comments1.xml'],
      [`${present}/threadedComment`, '../threadedComments/1.xml'],
      [`${types}/control`, '../activeX/1.xml'],
    ),
    'xl/comments1.xml': `<comments><authors><author>Ann</author><author>tc={2}</author></authors><commentList>${note('A1', 0, 'Check this')}${note('B1', 0, 'Ann: and this')}${note('C1', 1, '[Threaded comment] Look')}</commentList></comments>`,
    'xl/threadedComments/1.xml':
      '<ThreadedComments><threadedComment ref="C1" personId="{1}"><text>Look here</text></threadedComment></ThreadedComments>',
  }
  const sheets = [
    { name: 'Data', rows: sheetRows([['a', 'b']]) },
    { name: 'Ask', rows: '' },
  ]
  const { texts, warnings } = await readBlocks('xlsx', buildXlsx(sheets, { parts }))
  expect(texts).toEqual(['Data', 'a | b', 'A1 (Ann): Check this', 'B1: Ann: and this', 'C1 (Cy): Look here'])
  expect(warnings.map(({ message }) => /sheet Ask|controls/.exec(message)?.[0])).toEqual(['sheet Ask', 'controls'])
})
