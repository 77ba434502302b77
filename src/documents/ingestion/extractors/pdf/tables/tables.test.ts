import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chunkBlocks } from '../../../chunking/chunk-blocks.ts'
import type { Chunk } from '../../../extraction.ts'
import type { PdfText } from '../../../testing/build-documents.ts'
import {
  expectedPeople,
  gridLines,
  openDrawnTables,
  people,
  prose,
  read,
  rowsOf,
  tableTexts,
  words,
  wordsDrawn,
  xs,
} from '../../../testing/drawn-tables.ts'

openDrawnTables()

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
