import type { ExtractedBlock } from '../../../extraction.ts'
import { cleanLine } from '../../clean-text.ts'
import { looksLikeHeader } from '../../csv-dialect.ts'
import { joinsWithoutBlank } from '../joins.ts'
import { isBeside, type Segment } from '../segment.ts'

import { isRightToLeft, visualRows } from '../reading-order.ts'
import type { PdfTable } from './table.ts'
import { tableRow } from '../../table-row.ts'

/** Turns the tables of a document into blocks, page by page. */
export interface PdfTableReader {
  read(table: PdfTable, page: number): ExtractedBlock[]
  /** Tells of a block that is no table: what stands between two tables parts them, but for page headers and footers. */
  pass(block: ExtractedBlock): void
}

/** What may stand between the parts of one table: a line between its rows, or the foot of a page and the head of the next. */
const maximumBetween = { samePage: 1, nextPage: 4 }
const maximumBetweenCharacters = 200
const maximumHeaderRows = 3
/** Rows that are looked at to tell a header. */
const judgedRows = 20
/** Headings that are remembered to tell running heads from new sections. */
const maximumHeadings = 2_000

interface TableRow {
  cells: string[]
  bold: boolean
  /** True where its first cell is bold. */
  firstBold: boolean
}

interface OpenTable {
  table: PdfTable
  page: number
  header: string[] | undefined
  boldHeader: boolean
  row: number
  between: number
}

export function createPdfTableReader(joinParted: (before: string, after: string) => string): PdfTableReader {
  const headings = new Set<string>()
  let open: OpenTable | null = null

  function readRows(table: PdfTable): TableRow[] {
    const rightToLeft = isRightToLeft(table.segments)
    return table.rows.flatMap((row) => {
      const cells = row.map((cell) => cellText(cell, rightToLeft, joinParted))
      if (cells.every((cell) => cell === '')) return []
      const isBold = (segments: Segment[]) => segments.every(({ bold }) => bold)
      const firstBold = isBold(rightToLeft ? row.at(-1)! : row[0]!)
      return [{ cells: rightToLeft ? cells.toReversed() : cells, bold: isBold(row.flat()), firstBold }]
    })
  }

  return {
    read(table, page) {
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
        const count = Math.max(title === null ? table.headerRows : 0, countHeaderRows(rows))
        const head = rows.splice(0, count)
        const header = count === 0 ? undefined : joinHeader(head.map(({ cells }) => cells))
        open = { table, page, header, boldHeader: head.some(({ bold }) => bold), row: 0, between: 0 }
        if (header) add(header)
      }
      for (const { cells } of rows) add(cells, (open.row += 1))
      return blocks
    },
    pass(block) {
      const text = block.text.replace(/\d+/g, '')
      const isRunningHead = headings.has(text)
      if (block.kind === 'heading' && headings.size < maximumHeadings) headings.add(text)
      if (!open) return
      open.between += 1
      if (
        block.text.length > maximumBetweenCharacters ||
        (block.kind === 'heading' && (!isRunningHead || block.page === open.page))
      )
        open = null
    },
  }
}

/** True when `table` goes on with the open one: the same columns, hardly anything between, and no header of its own. */
function continues(open: OpenTable, table: PdfTable, page: number, first: TableRow): boolean {
  const limit = page === open.page ? maximumBetween.samePage : page === open.page + 1 ? maximumBetween.nextPage : -1
  if (open.between > limit || !haveSameColumns(open.table, table)) return false
  if (isSame(first.cells, open.header)) return true
  return table.headerRows === 0 && !(first.bold && open.boldHeader)
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

/** Rows in bold at the begin, when the others are not; or a first row that looks like names of columns. */
function countHeaderRows(rows: TableRow[]): number {
  const bold = rows.findIndex((row) => !row.bold)
  if (bold > 0) return Math.min(bold, maximumHeaderRows)
  // Names of rows, each with what belongs to it beside it.
  if (bold === 0 && rows.length > 1 && rows.every(({ firstBold }) => firstBold)) return 0
  const [first, ...following] = rows.map(({ cells }) => cells)
  return first && namesColumns(first, following.slice(0, judgedRows)) ? 1 : 0
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
function cellText(
  cell: Segment[],
  rightToLeft: boolean,
  joinParted: (before: string, after: string) => string,
): string {
  if (cell.length === 0) return ''
  const pieces = visualRows(cell).flatMap((row) => (rightToLeft ? row.toReversed() : row))
  let text = pieces[0]!.text
  for (const [index, piece] of pieces.slice(1).entries()) {
    const previous = pieces[index]!
    if (previous.hyphenated && !isBeside(previous, piece)) text = joinParted(text, piece.text)
    else text += `${previous.hyphenated ? '-' : ''}${joinsWithoutBlank(text, piece.text) ? '' : ' '}${piece.text}`
  }
  return cleanLine(pieces.at(-1)!.hyphenated ? `${text}-` : text)
}
