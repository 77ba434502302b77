import type { ExtractedBlock } from '../extraction.ts'
import { cellsOf, tableRowText } from '../extractors/table-row.ts'
import type { ChunkingOptions } from './chunk-sizes.ts'
import type { PlacedRow, TableBand } from './column-chunks.ts'
import { charactersPerTokenBound } from './pieces.ts'
import { maximumHeaderShare } from './table-head.ts'
import { findKeyColumns } from './table-key.ts'

export type RowBlock = ExtractedBlock & { header: string[]; row: number }
type Band = Omit<TableBand, 'headingPath'>

/** A table is wide where a chunk has room for fewer whole rows. */
const fewRows = 4
/** Tables of fewer columns are not split by columns: their cells are texts that belong together. */
const minimumColumns = 8
/** One search returns all of a shorter table. */
const minimumRows = 8
/** Rows by which a table is judged. */
const judgedRows = 20
/** Rows whose columns are grouped together, and their characters, which bound the memory. */
const bandRows = 240
const bandCharacters = 1024 * 1024

export function isRowBlock(block: ExtractedBlock): block is RowBlock {
  return block.kind === 'table_row' && block.header !== undefined && block.row !== undefined
}

/** Collects the rows of a table in bands, which become chunks by columns, as long as the table is or may be wide. */
export function createWideTables(options: ChunkingOptions) {
  let rows: PlacedRow[] = []
  let characters = 0
  let header: readonly string[] = []
  let key: number[] | null = null
  let isWide: boolean | null = null

  /** The first `count` rows; null where the table is not wide. */
  function take(count: number): Band | null {
    if (isWide !== true) return null
    key ??= findKeyColumns(
      header,
      rows.map(({ cells }) => cells),
    )
    const band = { header, key, rows: rows.splice(0, count) }
    characters = rows.reduce((sum, row) => sum + row.to - row.from, 0)
    return band.rows.length > 0 ? band : null
  }

  function judge() {
    isWide = rows.length >= minimumRows && areWide(header, rows, options)
    if (!isWide) rows = []
  }

  return {
    add(block: RowBlock, from: number, to: number): Band | null {
      if (isWide === false) return null
      header = block.header
      rows.push({ cells: cellsOf(block), from, to, row: block.row, page: block.page ?? null })
      characters += block.text.length
      const isFull = characters >= bandCharacters
      if (isWide === null && (isFull || rows.length >= judgedRows)) judge()
      if (isFull) return take(rows.length)
      // The last band is never a few rows only.
      return rows.length >= bandRows + judgedRows ? take(bandRows) : null
    },
    /** The table ends; returns its last band. */
    end(): Band | null {
      if (rows.length > 0 && isWide === null) judge()
      const band = take(rows.length)
      rows = []
      characters = 0
      key = null
      isWide = null
      return band
    },
  }
}

/** True where the header and a few rows are more than a chunk. Counts no more text than a chunk could hold of each row. */
function areWide(header: readonly string[], rows: readonly PlacedRow[], options: ChunkingOptions): boolean {
  const { countTokens, targetTokens, maximumTokens } = options
  if (header.length < minimumColumns) return false
  const longest = maximumTokens * charactersPerTokenBound
  const tokensOf = (cells: readonly string[]) => {
    const text = tableRowText(cells.slice(0, maximumTokens).map((cell) => cell.slice(0, longest)))
    return text.length > longest ? maximumTokens : Math.min(maximumTokens, countTokens(text))
  }
  const judged = rows.slice(0, judgedRows)
  const rowTokens = judged.reduce((sum, { cells }) => sum + tokensOf(cells), 0) / judged.length
  return Math.min(maximumTokens * maximumHeaderShare, tokensOf(header)) + fewRows * rowTokens > targetTokens
}
