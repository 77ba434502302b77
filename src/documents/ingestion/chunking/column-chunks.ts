import type { Chunk } from '../extraction.ts'
import { tableRowText } from '../extractors/table-row.ts'
import type { ChunkingOptions } from './chunk-sizes.ts'
import { shortened, splitText } from './pieces.ts'
import { columnsHeader } from './table-head.ts'

/** A row of a table with its place in the extracted text. */
export interface PlacedRow {
  cells: readonly string[]
  /** Code point range in the extracted text. */
  from: number
  to: number
  row: number
  page: number | null
}

export interface TableBand {
  header: readonly string[]
  /** Columns that identify a row. */
  key: readonly number[]
  rows: readonly PlacedRow[]
  headingPath: string[]
}

/** Rows that the columns of one chunk are chosen for: decided by measurement in docs/decisions/0033-chunk-size.md. */
const wantedRows = 24
/** Code points of a key's cell where it is repeated; the first group of columns has it whole. */
const maximumKeyCharacters = 40
/** The margin covers counts that grow when texts are joined. */
const fillShare = 0.95
const separatorCharacters = 3

/**
 * Chunks of some columns for many rows: the key and a group of neighbouring columns, with the header of just these. Every cell is in
 * one of them. Together their texts have at most twice the characters of the rows, since no group is smaller than the key that it
 * repeats. A chunk's place is the range of the rows that it covers. Takes time and memory linear in the rows.
 */
export function* columnChunks(band: TableBand, options: ChunkingOptions): Generator<Omit<Chunk, 'index'>> {
  const { header, key, rows } = band
  for (const [number, columns] of groupColumns(band, options).entries()) {
    const tableHeader = columnsHeader(
      [...key, ...columns].map((column) => header[column] ?? ''),
      options,
    )
    const lines: Line[] = []
    for (const row of rows) {
      const cells = columns.map((column) => row.cells[column] ?? '')
      // A row without values in these columns is left out; the first group names every row.
      if (number > 0 && cells.every((cell) => cell === '')) continue
      const keyCells = key.map((column) => keyCell(row, column, number > 0))
      lines.push({ row, text: tableRowText([...keyCells, ...cells]) })
    }
    for (const part of packLines(lines, tableHeader, options)) {
      const pages = part.lines.flatMap(({ row: { page } }) => (page === null ? [] : [page]))
      yield {
        text: part.text,
        headingPath: band.headingPath,
        tableHeader,
        tokens: part.tokens,
        pageFrom: pages.length > 0 ? Math.min(...pages) : null,
        pageTo: pages.length > 0 ? Math.max(...pages) : null,
        characterFrom: part.lines[0]!.row.from,
        characterTo: part.lines.at(-1)!.row.to,
        rowFrom: part.lines[0]!.row.row,
        rowTo: part.lines.at(-1)!.row.row,
      }
    }
  }
}

function keyCell({ cells }: PlacedRow, column: number, isRepeated: boolean): string {
  const cell = cells[column] ?? ''
  return isRepeated ? shortened(cell, maximumKeyCharacters) : cell
}

/** Neighbouring columns, so many that `wantedRows` rows of them fill a chunk, and at least as many characters as the key has. */
function groupColumns({ header, key, rows }: TableBand, { countTokens, targetTokens }: ChunkingOptions): number[][] {
  const widths = widthsOf(rows)
  const isKey = new Set(key)
  const keyWidth = rows.reduce(
    (sum, row) =>
      sum + key.reduce((width, column) => width + keyCell(row, column, true).length + separatorCharacters, 0),
    0,
  )
  const room = targetTokens * fillShare * charactersPerToken(rows, countTokens)
  const share = Math.min(wantedRows, rows.length) / rows.length
  const headerWidth = (column: number) => (header[column]?.length ?? 0) + separatorCharacters
  const fixed = keyWidth * share + key.reduce((sum, column) => sum + headerWidth(column), 0)
  const groups: { columns: number[]; width: number; size: number }[] = []
  for (const [column, width] of widths.entries()) {
    // Without a value it is in the chunk of the header only.
    if (width === 0 || isKey.has(column)) continue
    const size = width * share + headerWidth(column)
    const last = groups.at(-1)
    if (last && (last.width < keyWidth || last.size + size <= room)) {
      last.columns.push(column)
      last.width += width
      last.size += size
    } else groups.push({ columns: [column], width, size: fixed + size })
  }
  const last = groups.at(-1)
  if (groups.length > 1 && last!.width < keyWidth) groups.at(-2)!.columns.push(...groups.pop()!.columns)
  return groups.length > 0 ? groups.map(({ columns }) => columns) : [[]]
}

/** Characters of each column with its separators; 0 where all cells are empty. */
function widthsOf(rows: readonly PlacedRow[]): number[] {
  const widths: number[] = []
  for (const { cells } of rows) {
    for (const [column, cell] of cells.entries()) {
      while (widths.length <= column) widths.push(0)
      widths[column]! += cell.length
    }
  }
  return widths.map((width) => (width === 0 ? 0 : width + separatorCharacters * rows.length))
}

const sampleCharacters = 4_096

function charactersPerToken(rows: readonly PlacedRow[], countTokens: ChunkingOptions['countTokens']): number {
  let sample = ''
  for (const { cells } of rows) {
    for (const cell of cells) {
      if (cell !== '') sample += `${cell.slice(0, sampleCharacters)} | `
      if (sample.length >= sampleCharacters) break
    }
    if (sample.length >= sampleCharacters) break
  }
  return Math.max(1, sample.length / Math.max(1, countTokens(sample)))
}

interface Line {
  row: PlacedRow
  text: string
}

interface PackedLines {
  lines: Line[]
  text: string
  tokens: number
}

/** Fills chunks with lines; a line that is larger than a chunk is split. */
function* packLines(lines: readonly Line[], header: string | null, options: ChunkingOptions): Generator<PackedLines> {
  const { countTokens, targetTokens, maximumTokens } = options
  const bodyTokens = (text: string) => countTokens(header === null ? text : `${header}\n${text}`)
  const markers = countTokens('')
  const headerTokens = header === null ? markers : countTokens(`${header}\n`)
  const target = Math.max(headerTokens + 4, targetTokens * fillShare)
  const room = Math.max(4, Math.floor((maximumTokens - headerTokens) * fillShare) - 2)
  let open: Line[] = []
  let openTokens = headerTokens
  function* flush(): Generator<PackedLines> {
    for (let rest = open; rest.length > 0;) {
      let taken = rest
      let packed = pack(taken)
      while (packed.tokens > maximumTokens && taken.length > 1) {
        taken = taken.slice(0, Math.ceil(taken.length / 2))
        packed = pack(taken)
      }
      if (packed.tokens > maximumTokens) {
        // The single counts are estimates; this one is the promise.
        const parts = splitText(packed.text, 'table_row', { countTokens, maximumTokens: Math.ceil(room / 2) })
        if (parts.length > 1) {
          rest = [...parts.map(({ text }) => ({ row: taken[0]!.row, text })), ...rest.slice(1)]
          continue
        }
      }
      if (packed.text !== '') yield packed
      rest = rest.slice(taken.length)
    }
    open = []
    openTokens = headerTokens
  }
  function pack(taken: Line[]): PackedLines {
    const text = taken
      .map((line) => line.text)
      .join('\n')
      .trim()
    return { lines: taken, text, tokens: bodyTokens(text) }
  }
  for (const line of lines) {
    const parts = splitText(line.text, 'table_row', { countTokens, maximumTokens: room })
    for (const { text, tokens } of parts) {
      const added = tokens - markers + 1
      if (openTokens + added > target) yield* flush()
      open.push({ row: line.row, text })
      openTokens += added
      // Parts of a line do not share a chunk: nothing separates them.
      if (parts.length > 1) yield* flush()
    }
  }
  yield* flush()
}
