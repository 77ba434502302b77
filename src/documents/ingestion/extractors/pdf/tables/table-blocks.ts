import type { ExtractedBlock } from '../../../extraction.ts'
import { cleanLine } from '../../clean-text.ts'
import { looksLikeHeader } from '../../csv-dialect.ts'
import { createJoinedText, joinsWithoutBlank, type KeepsHyphen } from '../joins.ts'
import { isSideBySide, type Segment } from '../segment.ts'

import { isRightToLeft, visualRows } from '../reading-order.ts'
import type { PdfTable } from '../segment.ts'
import { documentLimits } from './thresholds.ts'
import { tableRow } from '../../table-row.ts'

/** Turns the tables of a document into blocks, page by page. */
export type PdfTableReader = ReturnType<typeof createPdfTableReader>

interface TableRow {
  cells: string[]
  bold: boolean
}

interface OpenTable {
  table: PdfTable
  page: number
  header: string[] | undefined
  boldHeader: boolean
  row: number
  between: number
}

export function createPdfTableReader(keepsHyphen: KeepsHyphen) {
  const headings = new Set<string>()
  let open: OpenTable | null = null

  function readRows(table: PdfTable): TableRow[] {
    const rightToLeft = isRightToLeft(table.segments)
    return table.rows.flatMap((row) => {
      const cells = row.map((cell) => cellText(cell, rightToLeft, keepsHyphen))
      if (cells.every((cell) => cell === '')) return []
      const isBold = (segments: Segment[]) => segments.every(({ bold }) => bold)
      return [{ cells: rightToLeft ? cells.toReversed() : cells, bold: isBold(row.flat()) }]
    })
  }

  return {
    read(table: PdfTable, page: number): ExtractedBlock[] {
      const rows = readRows(table)
      if (rows.length === 0) return []
      const blocks: ExtractedBlock[] = []
      const add = (cells: string[], row?: number) =>
        blocks.push({
          kind: 'table_row',
          ...tableRow(cells),
          ...(open!.header ? { header: open!.header } : {}),
          ...(row === undefined ? {} : { row }),
          page,
        })
      const isContinued = open !== null && continues(open, table, page, rows[0]!)
      if (isContinued) {
        open = { ...open!, table, page, between: 0 }
        if (isSame(rows[0]!.cells, open.header)) add(rows.shift()!.cells)
      } else {
        const title = titleOf(rows)
        if (title !== null) {
          blocks.push({ kind: 'paragraph', text: title, page })
          rows.shift()
        }
        const count = countHeaderRows(rows)
        const head = rows.splice(0, count)
        const header = count === 0 ? undefined : joinHeader(head.map(({ cells }) => cells))
        open = { table, page, header, boldHeader: head.some(({ bold }) => bold), row: 0, between: 0 }
        if (header) add(header)
      }
      for (const { cells } of rows) add(cells, (open.row += 1))
      return blocks
    },
    /** Reports a block that is no table: text between two tables separates them, except page headers and footers. */
    pass(block: ExtractedBlock): void {
      const text = block.text.replace(/\d+/g, '')
      const isRunningHead = headings.has(text)
      if (block.kind === 'heading' && headings.size < documentLimits.headings) headings.add(text)
      if (!open) return
      open.between += 1
      if (
        block.text.length > documentLimits.charactersBetween ||
        (block.kind === 'heading' && (!isRunningHead || block.page === open.page))
      )
        open = null
    },
  }
}

/** True when `table` continues the open one: the same columns, little between them, and no other header. */
function continues(open: OpenTable, table: PdfTable, page: number, first: TableRow): boolean {
  const limit =
    page === open.page
      ? documentLimits.blocksBetween.samePage
      : page === open.page + 1
        ? documentLimits.blocksBetween.nextPage
        : -1
  if (open.between > limit || !haveSameColumns(open.table, table)) return false
  if (isSame(first.cells, open.header)) return true
  return !(first.bold && open.boldHeader)
}

function haveSameColumns(one: PdfTable, other: PdfTable): boolean {
  if (one.columns.length !== other.columns.length) return false
  return one.columns.every((column, index) => {
    const match = other.columns[index]!
    const shared = Math.min(column.right, match.right) - Math.max(column.left, match.left)
    return shared > Math.min(column.right - column.left, match.right - match.left) * 0.5
  })
}

function isSame(cells: string[], header: string[] | undefined): boolean {
  return header !== undefined && cells.length === header.length && cells.every((cell, index) => cell === header[index])
}

/** The text of a first row that is one cell over all columns. */
function titleOf(rows: { cells: string[] }[]): string | null {
  const [first, second] = rows
  if (!first || !second || first.cells.length < 3) return null
  const filled = first.cells.filter((cell) => cell !== '')
  return filled.length === 1 && second.cells.filter((cell) => cell !== '').length > 1 ? filled[0]! : null
}

/** Bold rows at the top where the others are not bold; or a first row that looks like names of columns. */
function countHeaderRows(rows: TableRow[]): number {
  const bold = rows.findIndex((row) => !row.bold)
  if (bold > 0) return Math.min(bold, documentLimits.headerRows)
  const [first, ...following] = rows.map(({ cells }) => cells)
  return first && namesColumns(first, following.slice(0, documentLimits.comparedRows)) ? 1 : 0
}

/** As for other formats, but a first row with digits where the rows below have them too is one of them. */
function namesColumns(first: string[], following: string[][]): boolean {
  if (!looksLikeHeader(first, following)) return false
  return first.every((cell, column) => {
    if (!/\d/.test(cell) || /^(1[89]|20)\d\d$/.test(cell)) return true
    const below = following.map((row) => row[column]!).filter((text) => text !== '')
    return below.filter((text) => /\d/.test(text)).length < below.length * 0.6
  })
}

function joinHeader(rows: string[][]): string[] {
  return rows[0]!.map((_, column) => rows.flatMap((row) => row[column] || []).join(' '))
}

/** The text of a cell on one line. */
function cellText(cell: Segment[], rightToLeft: boolean, keepsHyphen: KeepsHyphen): string {
  if (cell.length === 0) return ''
  const pieces = visualRows(cell).flatMap((row) => (rightToLeft ? row.toReversed() : row))
  const text = createJoinedText()
  text.add(pieces[0]!.text)
  for (const [index, piece] of pieces.slice(1).entries()) {
    const previous = pieces[index]!
    const isParted = previous.hyphenated && !isSideBySide(previous, piece)
    const before = text.end()
    if (previous.hyphenated && (!isParted || keepsHyphen(before, piece.text))) text.add('-')
    if (!isParted && !joinsWithoutBlank(before, piece.text)) text.add(' ')
    text.add(piece.text)
  }
  if (pieces.at(-1)!.hyphenated) text.add('-')
  return cleanLine(text.toString())
}
