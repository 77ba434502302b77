import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../../test/harness/timing.ts'
import { createHashingEmbedder } from '../../retrieval/index.ts'
import type { Chunk, ExtractedBlock } from '../extraction.ts'
import { cellsOf, tableRow, tableRowText } from '../extractors/table-row.ts'
import { chunkBlocks } from './chunk-blocks.ts'
import type { ChunkingOptions } from './chunk-sizes.ts'

const { countTokens } = createHashingEmbedder()
const options: ChunkingOptions = { countTokens, targetTokens: 350, maximumTokens: 500, overlapTokens: 30 }

interface Table {
  header: string[]
  rows: string[][]
}

function blocksOf({ header, rows }: Table): ExtractedBlock[] {
  return [
    { kind: 'table_row', text: tableRowText(header), header },
    ...rows.map((cells, index) => ({ kind: 'table_row' as const, ...tableRow(cells), header, row: index + 1 })),
  ]
}

async function chunksOf(table: Table, changed: Partial<ChunkingOptions> = {}): Promise<Chunk[]> {
  async function* batches() {
    yield blocksOf(table)
  }
  return Array.fromAsync(chunkBlocks(batches(), { ...options, ...changed }))
}

const isWhole = (chunk: Chunk) => Array.from(chunk.text).length === chunk.characterTo - chunk.characterFrom
const columnChunksOf = (chunks: readonly Chunk[]) => chunks.filter((chunk) => !isWhole(chunk))

/** Columns of words and numbers under a first column of names. */
function countries(columns: number, rows: number): Table {
  const header = ['Country', ...Array.from({ length: columns - 1 }, (_, index) => `Column ${index + 1}`)]
  header[Math.floor(columns / 2)] = 'Currency'
  const rowOf = (row: number) =>
    header.map((name, column) =>
      column === 0
        ? `Land of ${row}`
        : name === 'Currency'
          ? row % 3
            ? 'Crown'
            : 'Euro'
          : `${1000 + ((row * column * 7) % 1000)}`,
    )
  return { header, rows: Array.from({ length: rows }, (_, row) => rowOf(row + 1)) }
}

const cellArbitrary = fc.oneof(
  { weight: 6, arbitrary: fc.lorem({ maxCount: 2 }) },
  { weight: 2, arbitrary: fc.constant('') },
  { weight: 2, arbitrary: fc.nat().map(String) },
  { weight: 1, arbitrary: fc.lorem({ maxCount: 60 }) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replace(/\s+/g, ' ').trim()),
  },
  { weight: 1, arbitrary: fc.constantFrom('a | b', '|', 'x |') },
)
const tableArbitrary: fc.Arbitrary<Table> = fc
  .record({ columns: fc.integer({ min: 8, max: 60 }), rows: fc.integer({ min: 8, max: 40 }) })
  .chain(({ columns, rows }) =>
    fc.record({
      header: fc.array(fc.lorem({ maxCount: 3 }), { minLength: columns, maxLength: columns }),
      rows: fc.array(fc.array(cellArbitrary, { minLength: columns, maxLength: columns + 1 }), {
        minLength: rows,
        maxLength: rows,
      }),
    }),
  )
  .map(({ header, rows }) => ({
    header,
    // As extractors do: rows without any value are left out.
    rows: rows.filter((cells) => cells.some((cell) => cell !== '')),
  }))

const property = async (check: (table: Table, chunks: Chunk[]) => void) => {
  let wide = 0
  await fc.assert(
    fc.asyncProperty(tableArbitrary, async (table) => {
      const chunks = await chunksOf(table)
      if (columnChunksOf(chunks).length > 0) wide += 1
      check(table, chunks)
    }),
    { seed: 20261121, numRuns: 60 },
  )
  expect(wide).toBeGreaterThan(30)
}

describe('any wide table', () => {
  test('has each cell in a chunk of columns that names the rows it covers', () =>
    property(({ rows }, chunks) => {
      const columns = columnChunksOf(chunks)
      // A few of the tables are not wide.
      if (columns.length === 0) return
      for (const [index, cells] of rows.entries()) {
        const covering = columns.filter(({ rowFrom, rowTo }) => rowFrom! <= index + 1 && rowTo! >= index + 1)
        const text = covering.map((chunk) => chunk.text.replace(/\s+/g, '')).join('')
        for (const cell of cells) expect(text).toContain(cell.replace(/\s+/g, ''))
      }
    }))

  test('has at most twice its characters in chunks of columns, and its whole rows as well', () =>
    property(({ rows }, chunks) => {
      const length = (texts: readonly { text: string }[]) => texts.reduce((sum, { text }) => sum + text.length + 1, 0)
      const characters = rows.reduce((sum, cells) => sum + tableRowText(cells).length + 3, 0)
      expect(length(columnChunksOf(chunks))).toBeLessThanOrEqual(2 * characters)
      const covered = new Set(
        chunks.filter(isWhole).flatMap(({ rowFrom, rowTo }) => {
          return rowFrom === null ? [] : Array.from({ length: rowTo! - rowFrom + 1 }, (_, index) => rowFrom + index)
        }),
      )
      expect(covered.size).toBe(rows.length)
    }))

  test('has no chunk above the maximum, its header included', () =>
    property((_, chunks) => {
      for (const { text, tableHeader, tokens } of chunks) {
        expect(tokens).toBeGreaterThanOrEqual(countTokens(tableHeader === null ? text : `${tableHeader}\n${text}`))
        expect(tokens).toBeLessThanOrEqual(options.maximumTokens)
        expect(text).not.toBe('')
      }
    }))
})

describe('a wide table', () => {
  test('has each column in chunks of many rows, with the names of the rows and the header of just these columns', async () => {
    const table = countries(57, 250)
    const chunks = columnChunksOf(await chunksOf(table)).filter(({ tableHeader }) => tableHeader!.includes('Currency'))
    const rows = new Set<number>()
    for (const { text, tableHeader, rowFrom, rowTo } of chunks) {
      const columns = tableHeader!.split(' | ')
      expect(columns[0]).toBe('Country')
      expect(columns.length).toBeLessThan(12)
      const lines = text.split('\n')
      expect(lines).toHaveLength(rowTo! - rowFrom! + 1)
      for (const [index, line] of lines.entries()) {
        const row = table.rows[rowFrom! + index - 1]!
        expect(line.split(' | ')).toEqual(columns.map((column) => row[table.header.indexOf(column)]))
        rows.add(rowFrom! + index)
      }
    }
    expect(rows.size).toBe(250)
    expect(chunks.length).toBeLessThanOrEqual(250 / 12)
  })

  test('keeps its whole rows in order, in chunks that are exactly their text', async () => {
    const table = countries(57, 250)
    const characters = Array.from(
      blocksOf(table)
        .map(({ text }) => text)
        .join('\n'),
    )
    let next = 0
    for (const { text, characterFrom, characterTo } of (await chunksOf(table)).filter(isWhole)) {
      expect(text).toBe(characters.slice(characterFrom, characterTo).join(''))
      expect(characters.slice(next, characterFrom).join('').trim()).toBe('')
      next = characterTo
    }
    expect(next).toBe(characters.length)
  })

  test('is identified by codes and names where the first column holds codes', async () => {
    const table = countries(40, 60)
    table.header.unshift('ISO')
    for (const [index, cells] of table.rows.entries())
      cells.unshift(`A${String.fromCharCode(65 + (index % 26))}${index}`)
    const chunks = columnChunksOf(await chunksOf(table))
    expect(chunks).not.toEqual([])
    for (const { tableHeader } of chunks) expect(tableHeader).toMatch(/^ISO \| Country( \| |$)/)
  })

  test('is identified by several columns where no single one differs', async () => {
    const table = countries(40, 60)
    table.header.splice(1, 0, 'Year')
    for (const [index, cells] of table.rows.entries())
      cells.splice(0, 1, `Land of ${Math.floor(index / 6)}`, String(2000 + (index % 6)))
    const chunks = columnChunksOf(await chunksOf(table))
    expect(chunks).not.toEqual([])
    for (const { tableHeader } of chunks) expect(tableHeader).toMatch(/^Country \| Year( \| |$)/)
  })
})

describe('a table that is not wide', () => {
  test.each([
    ['few columns', countries(6, 300)],
    ['many short columns', countries(12, 300)],
    ['few rows', countries(57, 7)],
  ])('has whole rows only: %s', async (_, table) => {
    expect(columnChunksOf(await chunksOf(table))).toEqual([])
  })
})

test('cells of a row are known although one contains the separator', () => {
  expect(cellsOf(tableRow(['a | b', 'c']))).toEqual(['a | b', 'c'])
  expect(cellsOf(tableRow(['a |', '| c']))).toEqual(['a |', '| c'])
  expect(cellsOf(tableRow(['a', '', 'c']))).toEqual(['a', '', 'c'])
})

test.each([
  ['columns', (size: number) => countries(size, 20), 3_000],
  ['rows', (size: number) => countries(40, size), 1_500],
])('takes time linear in %s', { timeout: 120_000 }, async (_, tableOf, size) => {
  const chunk = async (count: number) => {
    const blocks = blocksOf(tableOf(count))
    async function* batches() {
      for (let from = 0; from < blocks.length; from += 10) yield blocks.slice(from, from + 10)
    }
    for await (const _chunk of chunkBlocks(batches(), options));
  }
  await expectLinear(chunk, size)
})
