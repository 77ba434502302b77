import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chunkBlocks } from '../../../chunking/chunk-blocks.ts'
import type { Chunk, ExtractedBlock } from '../../../extraction.ts'
import { defaultLimits } from '../../../isolation/limits.ts'
import { buildPdf, type PdfText } from '../../../testing/build-documents.ts'
import { createFileExtractor } from '../../extract-file.ts'

const extractor = createFileExtractor()
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-pdf-tables-'))
  await extractor.warmUp()
})
afterAll(() => rm(folder, { recursive: true }))

interface DrawnPage {
  texts: PdfText[]
  /** From point to point: x, y, x, y. */
  lines?: [number, number, number, number][]
  rotate?: number
}

/** The letters a to z in the font F3 stand for the Hebrew letters from alef on. */
const hebrewMap =
  '/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange ' +
  '1 beginbfrange <61> <7a> <05d0> endbfrange 1 beginbfrange <20> <3a> <0020> endbfrange endcmap end end'

function drawnPdf(pages: DrawnPage[]): Buffer {
  const kids = pages.map((_, index) => `${7 + index * 2} 0 R`).join(' ')
  const font = (name: string, more = '') => ({
    dictionary: `<< /Type /Font /Subtype /Type1 /BaseFont /${name} ${more || '/Encoding /WinAnsiEncoding'} >>`,
  })
  const draw = ({ text, x, y, size = 10, bold = false, turns = 0, hebrew = false }: PdfText & { hebrew?: boolean }) => {
    const matrix = ['1 0 0 1', '0 1 -1 0', '-1 0 0 -1', '0 -1 1 0'][turns]
    return `BT /${hebrew ? 'F3' : bold ? 'F2' : 'F1'} ${size} Tf ${matrix} ${x} ${y} Tm (${text.replace(/[\\()]/g, '\\$&')}) Tj ET`
  }
  return buildPdf([
    { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
    { dictionary: `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>` },
    font('Helvetica'),
    font('Helvetica-Bold'),
    font('Helvetica', '/Encoding /WinAnsiEncoding /ToUnicode 6 0 R'),
    { dictionary: '<< >>', stream: hebrewMap },
    ...pages.flatMap(({ texts, lines = [], rotate = 0 }, index) => [
      {
        dictionary: `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate ${rotate} /Contents ${8 + index * 2} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >> >>`,
      },
      {
        dictionary: '<< >>',
        stream: Buffer.from(
          [...lines.map(([a, b, c, d]) => `${a} ${b} m ${c} ${d} l S`), ...texts.map(draw)].join('\n'),
          'latin1',
        ),
      },
    ]),
  ])
}

async function read(pages: DrawnPage[]): Promise<ExtractedBlock[]> {
  const filePath = path.join(folder, 'file.pdf')
  const content = drawnPdf(pages)
  await writeFile(filePath, content)
  const limits = defaultLimits('pdf', content.length)
  const report = { progress() {}, warn() {} }
  const blocks: ExtractedBlock[] = []
  for await (const batch of extractor.extract('pdf', { filePath, sizeBytes: content.length, limits, report }))
    blocks.push(...batch)
  return blocks
}

interface Layout {
  /** Where the columns begin. */
  xs: number[]
  /** Baseline of the first row. */
  y?: number
  step?: number
  boldHeader?: boolean
}

/** Rows of cells as texts; line feeds separate the lines of a cell, 11 units apart. */
function tableTexts(rows: string[][], { xs, y = 700, step = 16, boldHeader = false }: Layout): PdfText[] {
  return rows.flatMap((row, index) =>
    row.flatMap((cell, column) =>
      cell
        .split('\n')
        .filter((line) => line !== '')
        .map((line, at) => ({
          text: line,
          x: xs[column]!,
          y: y - index * step - at * 11,
          bold: boldHeader && index === 0,
        })),
    ),
  )
}

/** The lines of a grid with the given places. */
function gridLines(xs: number[], ys: number[]): DrawnPage['lines'] {
  return [
    ...ys.map((y): [number, number, number, number] => [xs[0]!, y, xs.at(-1)!, y]),
    ...xs.map((x): [number, number, number, number] => [x, ys[0]!, x, ys.at(-1)!]),
  ]
}

const people = [
  ['Name', 'City', 'Amount', 'Since'],
  ['Ann Miller', 'Rome', '12.50', '2019-04-01'],
  ['Bob', 'Oslo', '7.00', '2020-11-30'],
  ['Carla Stone', 'Lisbon', '120.99', '2021-02-03'],
  ['Dan', 'Bern', '3.10', '2022-07-19'],
]
const xs = [50, 150, 250, 350]
const sentence =
  'This is a line of running text that goes over the whole width of the page and says nothing much at all,'
const prose = (y: number, count = 3): PdfText[] =>
  Array.from({ length: count }, (_, index) => ({ text: sentence, x: 50, y: y - index * 12 }))

const rowsOf = (blocks: ExtractedBlock[]) => blocks.filter(({ kind }) => kind === 'table_row')
const words = (blocks: ExtractedBlock[]) =>
  blocks.flatMap(({ text }) => text.split(/[\s|]+/).filter((word) => word !== '')).sort()
const wordsDrawn = (pages: DrawnPage[]) =>
  pages.flatMap(({ texts }) => texts.flatMap(({ text }) => text.split(/\s+/))).sort()

const expectedPeople = [
  { kind: 'table_row', text: people[0]!.join(' | '), header: people[0], page: 1 },
  ...people.slice(1).map((row, index) => ({
    kind: 'table_row',
    text: row.join(' | '),
    header: people[0],
    row: index + 1,
    page: 1,
  })),
]

describe('a table becomes rows under its header', () => {
  test('where texts are aligned below one another, between paragraphs', async () => {
    const texts = [...prose(740), ...tableTexts(people, { xs }), ...prose(600)]
    const blocks = await read([{ texts }])
    expect(blocks.map(({ kind }) => kind)).toEqual([
      'paragraph',
      ...expectedPeople.map(({ kind }) => kind),
      'paragraph',
    ])
    expect(rowsOf(blocks)).toEqual(expectedPeople)
  })

  test('in any order of drawing its cells', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(tableTexts(people, { xs }), { minLength: people.length * xs.length }),
        async (texts) => void expect(await read([{ texts }])).toEqual(expectedPeople),
      ),
      { seed: 11, numRuns: 15 },
    )
  })

  test('where gaps between columns are hardly wider than blanks', async () => {
    const rows = [
      ['Item', 'Count', 'Price'],
      ['Red pen', '12', '1.50'],
      ['Ink blue', '7', '2.25'],
      ['Paper A4', '500', '4.80'],
    ]
    expect((await read([{ texts: tableTexts(rows, { xs: [50, 100, 136] }) }])).map(({ text }) => text)).toEqual(
      rows.map((row) => row.join(' | ')),
    )
  })

  test('with empty cells in their columns', async () => {
    const rows = people.map((row, index) =>
      row.map((cell, column) => ((index * 3 + column) % 4 === 1 && index > 0 ? '' : cell)),
    )
    const blocks = await read([{ texts: tableTexts(rows, { xs, boldHeader: true }) }])
    expect(blocks.map(({ text, header }) => [text, header])).toEqual(rows.map((row) => [row.join(' | '), people[0]]))
  })

  test('with cells of several lines, by drawn lines or by the distance of rows', async () => {
    const rows = [
      ['Name', 'Remark', 'Amount'],
      ['Ann', 'paid late and was\nreminded in March', '12.50'],
      ['Bob', 'paid', '7.00'],
      ['Carla Stone\nof Lisbon', 'asked for an invoice\nand for a longer\nterm of payment', '120.99'],
      ['Dan', 'paid', '3.10'],
    ]
    const layout = { xs: [50, 150, 300], step: 44 }
    const texts = tableTexts(rows, layout)
    const expected = rows.map((row) => row.map((cell) => cell.replaceAll('\n', ' ')).join(' | '))
    expect((await read([{ texts }])).map(({ text }) => text)).toEqual(expected)
    const ys = [714, 670, 626, 582, 538, 494]
    const drawn = { texts, lines: gridLines([45, 145, 295, 380], ys) }
    expect((await read([drawn])).map(({ text }) => text)).toEqual(expected)
    const ruled = { texts, lines: gridLines([45, 380], ys)!.slice(0, ys.length) }
    expect((await read([ruled])).map(({ text }) => text)).toEqual(expected)
  })

  test('with drawn lines where the texts alone show no columns', async () => {
    const rows = [
      ['Term', 'Meaning'],
      ['hold', 'money that is set aside for a call'],
      ['lease', 'the slice of a budget that one may hold from'],
    ]
    const texts = tableTexts(rows, { xs: [50, 84] })
    const blocks = await read([{ texts, lines: gridLines([46, 81, 300], [712, 696, 680, 664]) }])
    expect(blocks.map(({ text, header }) => [text, header])).toEqual(rows.map((row) => [row.join(' | '), rows[0]]))
  })

  test('with names over several columns', async () => {
    const texts = [
      ...tableTexts([['Region', '2023', '', '2024', '']], { xs: [50, 120, 170, 220, 270], boldHeader: true }),
      ...tableTexts([['', 'Q1', 'Q2', 'Q1', 'Q2']], { xs: [50, 120, 170, 220, 270], y: 684, boldHeader: true }),
      ...tableTexts(
        [
          ['North', '1', '2', '3', '4'],
          ['South', '5', '6', '7', '8'],
        ],
        { xs: [50, 120, 170, 220, 270], y: 668 },
      ),
    ]
    const lines = gridLines([45, 115, 165, 215, 265, 315], [712, 696, 680, 664, 648])!.filter(
      // No line below "Region" in the first row, none between the columns of a year in it.
      ([x, y, toX, toY]) => !(x !== toX && y === 696 && toY === 696) && !(x === toX && (x === 165 || x === 265)),
    )
    lines.push([115, 696, 315, 696], [165, 696, 165, 648], [265, 696, 265, 648])
    const blocks = await read([{ texts, lines }])
    expect(blocks.map(({ text }) => text)).toEqual([
      'Region | 2023 Q1 | Q2 | 2024 Q1 | Q2',
      'North | 1 | 2 | 3 | 4',
      'South | 5 | 6 | 7 | 8',
    ])
  })

  test.each([0, 90, 180, 270])('on a page that is turned by %d degrees', async (rotate) => {
    const lines = gridLines([45, 145, 245, 345, 420], [712, 696, 680, 664, 648, 632])
    for (const page of [{ texts: tableTexts(people, { xs }) }, { texts: tableTexts(people, { xs }), lines }])
      expect(await read([{ ...page, rotate }])).toEqual(expectedPeople)
  })

  test('written upwards on the page', async () => {
    const turn = (texts: PdfText[]) => texts.map(({ x, y, ...text }) => ({ ...text, x: 800 - y, y: x, turns: 1 }))
    expect(await read([{ texts: turn(tableTexts(people, { xs })) }])).toEqual(expectedPeople)
    // Gaps as narrow as blanks: only the lines show the columns.
    const rows = [
      ['Term', 'Meaning of it'],
      ['hold', 'money set aside'],
      ['lease', 'a slice of a budget'],
    ]
    const lines = gridLines([46, 81, 300], [712, 696, 680, 664])!.map(
      ([x, y, toX, toY]): [number, number, number, number] => [800 - y, x, 800 - toY, toX],
    )
    const blocks = await read([{ texts: turn(tableTexts(rows, { xs: [50, 84] })), lines }])
    expect(blocks.map(({ text }) => text)).toEqual(rows.map((row) => row.join(' | ')))
  })

  test('from right to left where its text is right-to-left', async () => {
    // Drawn as such text is: the letters of a cell from right to left, so that they come out in the other order.
    const rows = [
      ['abcd', 'efgh', 'ijkl'],
      ['100', 'mnop', 'qrst'],
      ['250', 'uvwx', 'yzab'],
      ['375', 'cdef', 'ghij'],
    ]
    const texts = tableTexts(rows, { xs: [50, 150, 250] }).map((text) => ({ ...text, hebrew: true }))
    const hebrew = (cell: string) =>
      Array.from(cell, (letter) =>
        /[a-z]/.test(letter) ? String.fromCodePoint(letter.codePointAt(0)! + 0x05d0 - 0x61) : letter,
      )
    const reversed = (cell: string) => (/[a-z]/.test(cell) ? hebrew(cell).toReversed() : hebrew(cell)).join('')
    for (const lines of [[], gridLines([45, 145, 245, 330], [712, 696, 680, 664, 648])])
      expect((await read([{ texts, lines }])).map(({ text }) => text)).toEqual(
        rows.map((row) => row.toReversed().map(reversed).join(' | ')),
      )
  })

  test('next to running text, and inside one column of a page with two', async () => {
    const narrow = 'words of a column that go on and on from line to'
    const aside = (x: number, y: number, count: number): PdfText[] =>
      Array.from({ length: count }, (_, index) => ({ text: narrow, x, y: y - index * 12 }))
    const table = tableTexts(people, { xs: [330, 400, 450, 500], y: 700 })
    const below = [...aside(330, 760, 4), ...aside(330, 600, 20)]
    for (const page of [
      { texts: [...aside(50, 700, 30), ...table] },
      { texts: [...aside(50, 700, 30), ...below, ...table] },
    ]) {
      const blocks = await read([page])
      expect(rowsOf(blocks)).toEqual(expectedPeople)
      expect(words(blocks)).toEqual(wordsDrawn([page]))
      expect(blocks[0]!.kind).toBe('paragraph')
    }
  })
})

describe('a table over several pages', () => {
  const row = (index: number) => [`Person ${index}`, `Town ${index}`, `${index}.50`, '2020-01-01']
  const body = (from: number, count: number) => Array.from({ length: count }, (_, index) => row(from + index))
  const footer = (page: number) => ({ text: `Page ${page}`, x: 290, y: 40 })
  const first = tableTexts([people[0]!, ...body(1, 20)], { xs, boldHeader: true })

  test('keeps its header where the next page continues its columns', async () => {
    const blocks = await read([
      { texts: [...first, footer(1)] },
      { texts: [...tableTexts(body(21, 10), { xs }), footer(2)] },
    ])
    const rows = rowsOf(blocks)
    expect(rows.map(({ row: number }) => number)).toEqual([undefined, ...Array.from({ length: 30 }, (_, at) => at + 1)])
    for (const { header } of rows) expect(header).toEqual(people[0])
    expect(rows.filter(({ page }) => page === 2).map(({ text }) => text)).toEqual(
      body(21, 10).map((cells) => cells.join(' | ')),
    )
  })

  test('continues its rows below a repeated header', async () => {
    const again = tableTexts([people[0]!, ...body(21, 5)], { xs, boldHeader: true })
    const rows = rowsOf(await read([{ texts: [...first, footer(1)] }, { texts: [...again, footer(2)] }]))
    expect(rows.slice(21).map(({ row: number, text }) => [number, text])).toEqual([
      [undefined, people[0]!.join(' | ')],
      ...body(21, 5).map((cells, index) => [21 + index, cells.join(' | ')]),
    ])
  })

  test('is another table below a heading, or under another header', async () => {
    const other = [['Place', 'Country', 'Area', 'Founded'], ...body(1, 4)]
    for (const texts of [
      [{ text: 'Second part', x: 50, y: 730, size: 18 }, ...tableTexts(body(1, 4), { xs })],
      tableTexts(other, { xs, boldHeader: true }),
    ]) {
      const rows = rowsOf(await read([{ texts: [...prose(760), ...first] }, { texts }])).filter(
        ({ page }) => page === 2,
      )
      expect(rows.at(-1)!.row).toBe(4)
      for (const { header } of rows) expect(header).not.toEqual(people[0])
    }
  })

  test('gives its header to every chunk', async () => {
    const blocks = await read([{ texts: first }, { texts: tableTexts(body(21, 20), { xs }) }])
    const chunks: Chunk[] = []
    const options = {
      countTokens: (text: string) => text.split(/\s+/).length,
      targetTokens: 60,
      maximumTokens: 90,
      overlapTokens: 0,
    }
    async function* batches() {
      yield blocks
    }
    for await (const chunk of chunkBlocks(batches(), options)) chunks.push(chunk)
    expect(chunks.length).toBeGreaterThan(3)
    expect(chunks[0]!.text.startsWith(people[0]!.join(' | '))).toBe(true)
    for (const { tableHeader } of chunks.slice(1)) expect(tableHeader).toBe(people[0]!.join(' | '))
  })
})

describe('text that is no table stays lines', () => {
  const column = (x: number, lines: string[], step = 12): PdfText[] =>
    lines.map((text, index) => ({ text, x, y: 700 - index * step }))
  const bodyText =
    'the extracted text of a document is parted into chunks along its structure so that each of them can be found again ' +
    'by what it says and cited with the page on which it stands because nobody reads a whole file for one answer'
  const wrapped = (length: number, count: number, shift: number) => {
    const all = bodyText.split(' ')
    return Array.from({ length: count }, (_, index) => {
      let line = ''
      for (let at = (index * 7 + shift) % all.length; `${line} ${all[at]}`.length <= length; at = (at + 1) % all.length)
        line += `${line === '' ? '' : ' '}${all[at]}`
      return line
    })
  }

  test.each([
    ['two columns of text', [...column(50, wrapped(48, 30, 0)), ...column(320, wrapped(48, 30, 3))]],
    ['three columns of text', [0, 1, 2].flatMap((at) => column(50 + at * 180, wrapped(32, 30, at * 5)))],
    [
      'contents with dots',
      Array.from({ length: 12 }, (_, index) => [
        { text: `${index + 1}`, x: 50, y: 700 - index * 14 },
        { text: `Chapter number ${index} ${'. '.repeat(40).trim()}`, x: 80, y: 700 - index * 14 },
        { text: `${index * 3 + 1}`, x: 500, y: 700 - index * 14 },
      ]).flat(),
    ],
    [
      'contents without dots',
      Array.from({ length: 12 }, (_, index) => [
        { text: `${index + 1}`, x: 50, y: 700 - index * 14 },
        { text: `Chapter about ${people[index % 5]![1]}`, x: 80, y: 700 - index * 14 },
        { text: `${index * 3 + 1}`, x: 500, y: 700 - index * 14 },
      ]).flat(),
    ],
    [
      'a program with comments',
      Array.from({ length: 12 }, (_, index) => [
        { text: `let value${index} = call(${index});`, x: 50, y: 700 - index * 12 },
        { text: `// sets value ${index}`, x: 250, y: 700 - index * 12 },
      ]).flat(),
    ],
    [
      'a numbered list',
      Array.from({ length: 10 }, (_, index) => [
        { text: `${index + 1}.`, x: 50, y: 700 - index * 12 },
        { text: `Point number ${index} of the list`, x: 90, y: 700 - index * 12 },
      ]).flat(),
    ],
    [
      'labels and what is filled in',
      people.flatMap(([name, city], index) => [
        { text: `${name}:`, x: 50, y: 700 - index * 14 },
        { text: city!, x: 250, y: 700 - index * 14 },
      ]),
    ],
    [
      'lines with wide blanks here and there',
      Array.from({ length: 8 }, (_, index) => [
        { text: 'a line that is set to full width', x: 50, y: 700 - index * 12 },
        { text: 'although it holds few words', x: 200 + ((index * 37) % 50), y: 700 - index * 12 },
      ]).flat(),
    ],
  ])('%s', async (_, texts) => {
    const blocks = await read([{ texts }])
    expect(rowsOf(blocks)).toEqual([])
    expect(words(blocks)).toEqual(wordsDrawn([{ texts }]))
  })

  test('frames around text, and lines of a drawing', async () => {
    const texts = [...prose(700, 8), ...prose(500, 8)]
    const frames = [...gridLines([40, 580], [715, 600])!, ...gridLines([40, 580], [515, 400])!]
    expect(rowsOf(await read([{ texts, lines: frames }]))).toEqual([])
    const squares = gridLines(
      Array.from({ length: 40 }, (_, index) => 40 + index * 13),
      Array.from({ length: 40 }, (_, index) => 720 - index * 13),
    )
    expect(rowsOf(await read([{ texts, lines: squares }]))).toEqual([])
  })
})

describe('difficult pages', () => {
  test('no word is lost or written twice in tables with missing, wide and broken cells', async () => {
    const page = fc.record({
      columns: fc.integer({ min: 2, max: 7 }),
      rows: fc.integer({ min: 2, max: 20 }),
      // Of a cell: 0 is empty, 1 a word, 2 several words that reach over the next, empty cell, 3 two lines.
      cells: fc.array(fc.constantFrom(0, 1, 1, 1, 1, 1, 1, 2, 3), { minLength: 140, maxLength: 140 }),
      step: fc.constantFrom(14, 26),
      strays: fc.array(fc.record({ x: fc.integer({ min: 20, max: 500 }), y: fc.integer({ min: 20, max: 780 }) }), {
        maxLength: 4,
      }),
      lines: fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }),
    })
    let tables = 0
    await fc.assert(
      fc.asyncProperty(page, async ({ columns, rows, cells, step, strays, lines }) => {
        let words = 0
        // Marked on both sides, because neighbours can be read as one word.
        const word = () => ((words += 1) % 3 === 0 ? `w${words}q` : `(${words})`)
        const grid = Array.from({ length: rows }, (_, row) =>
          Array.from({ length: columns }, (_, column) => {
            const at = row * 7 + column
            // Of letters that are drawn over one another PDFium drops some: texts go only where there is room.
            const size = step === 14 ? cells[at]! % 3 : cells[at]!
            const isWide = size === 2 && (cells[at + 1] ?? 1) === 0 && column + 1 < columns
            const lines = size === 2 ? [isWide ? 4 : 2] : Array.from({ length: size === 3 ? 2 : size }, () => 1)
            return lines.map((length) => Array.from({ length }, word).join(' ')).join('\n')
          }),
        )
        const places = Array.from({ length: columns }, (_, column) => 40 + column * 70)
        const texts = [
          ...tableTexts(grid, { xs: places, step }),
          ...strays.map((place) => ({ text: word(), ...place })),
        ]
        const ys = Array.from({ length: rows + 1 }, (_, row) => 712 - row * step)
        const drawn = gridLines(
          [...places, 40 + columns * 70].map((x) => x - 5),
          ys,
        )!
        const blocks = await read([{ texts, lines: drawn.filter((_, index) => lines[index % lines.length]) }])
        tables += rowsOf(blocks).length > 0 ? 1 : 0
        const found = blocks.flatMap(({ text }) => text.match(/w\d+q|\(\d+\)/g) ?? [])
        expect(found.sort()).toEqual(texts.flatMap(({ text }) => text.split(' ')).sort())
      }),
      { seed: 5, numRuns: 300 },
    )
    // Else nothing of this was put to the test.
    expect(tables).toBeGreaterThan(60)
  })

  const cells = (columns: number, rows: number): PdfText[] =>
    Array.from({ length: columns * rows }, (_, index) => ({
      text: `${index}`,
      x: 20 + (index % columns) * (570 / columns),
      y: 770 - Math.floor(index / columns) * (750 / rows),
      size: 3,
    }))
  const manyLines = gridLines(
    Array.from({ length: 51 }, (_, index) => 19 + index * 11.4),
    Array.from({ length: 101 }, (_, index) => 774 - index * 7.5),
  )

  test.each([
    ['without lines', { texts: cells(50, 100) }, true],
    ['with lines', { texts: cells(50, 100), lines: manyLines }, true],
    // Drawn over one another, so that they become one word here and there.
    ['in two columns', { texts: cells(2, 2_500) }, false],
    [
      'at random places',
      {
        texts: cells(50, 100).map((text, index) => ({
          ...text,
          x: (index * 7_919) % 590,
          y: (index * 104_729) % 770,
        })),
      },
      false,
    ],
  ])('5,000 tiny cells %s are read in bounded time', async (_, page, areApart) => {
    const startedAt = performance.now()
    const blocks = await read([page])
    // About 0.1 to 0.5 s; what grows with the square of the cells takes minutes.
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    if (areApart) expect(words(blocks)).toEqual(wordsDrawn([page]))
  })
})
