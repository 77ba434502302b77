import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../../../../test/harness/timing.ts'
import type { PdfText } from '../../../testing/build-documents.ts'
import {
  gridLines,
  openDrawnTables,
  people,
  prose,
  read,
  rowsOf,
  tableTexts,
  words,
  wordsDrawn,
} from '../../../testing/drawn-tables.ts'

openDrawnTables()

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

  test('boxes of a slide, in which nothing is next to anything', async () => {
    const texts = [
      { text: 'The title of the slide', x: 60, y: 680 },
      { text: 'What the slide says to its readers', x: 60, y: 600 },
      { text: 'The name of the talk', x: 350, y: 520 },
    ]
    const blocks = await read([{ texts, lines: gridLines([50, 300, 560], [700, 650, 550, 500]) }])
    expect(rowsOf(blocks)).toEqual([])
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
  const linesOf = (rows: number) =>
    gridLines(
      Array.from({ length: 51 }, (_, index) => 19 + index * 11.4),
      Array.from({ length: rows + 1 }, (_, index) => 774 - index * (750 / rows)),
    )

  test.each([
    ['without lines', (rows: number) => ({ texts: cells(50, rows) }), true],
    ['with lines', (rows: number) => ({ texts: cells(50, rows), lines: linesOf(rows) }), true],
    // Drawn over one another, so that they become one word here and there.
    ['in two columns', (rows: number) => ({ texts: cells(2, 25 * rows) }), false],
    [
      'at random places',
      (rows: number) => ({
        texts: cells(50, rows).map((text, index) => ({
          ...text,
          x: (index * 7_919) % 590,
          y: (index * 104_729) % 770,
        })),
      }),
      false,
    ],
  ])('tiny cells %s are read in linear time', { timeout: 120_000 }, async (_, pageOf, areApart) => {
    const readRows = async (rows: number) => {
      const blocks = await read([pageOf(rows)])
      if (areApart) expect(words(blocks)).toEqual(wordsDrawn([pageOf(rows)]))
    }
    // Up to 5,000 cells.
    await expectLinear(readRows, 12)
  })
})
