import { ExtractionError, type ExtractedBlock } from '../../extraction.ts'
import { readCsvHead } from '../csv-head.ts'
import { tableRow, tableRowText } from '../table-row.ts'
import type { SheetRow } from './sheet.ts'

/** A header is judged against this many rows that follow it. */
const judgedRows = 20
/** Longest text of one row. */
const maximumRowCharacters = 2 * 1024 * 1024

/**
 * Turns the rows of a sheet into tables. A table ends at an empty row, if what follows has a header; otherwise it continues, as before a
 * row of totals. Rows of one column are text.
 */
export function createSheetTables() {
  let waiting: SheetRow[] = []
  let isJudged = false
  let lastNumber = 0
  /** The columns of the table: those that its first rows fill. */
  let columns: number[] = []
  let known = new Set<number>()
  let header: string[] | undefined
  let count = 0

  const rowBlock = (cells: string[]): ExtractedBlock => {
    count += 1
    return { kind: 'table_row', ...tableRow(cells), row: count, ...(header ? { header } : {}) }
  }

  /** The cells of a row in the columns of the table, which gets the columns that it lacks. */
  const cellsOf = ({ cells }: SheetRow): string[] => {
    if ([...cells.keys()].some((column) => !known.has(column))) {
      const former = new Map(columns.map((column, index) => [column, header?.[index] ?? '']))
      known = new Set([...known, ...cells.keys()])
      columns = [...known].toSorted((left, right) => left - right)
      if (header) header = columns.map((column) => former.get(column) ?? '')
    }
    return columns.map((column) => cells.get(column) ?? '')
  }

  const judge = (): ExtractedBlock[] => {
    const rows = waiting
    waiting = []
    isJudged = true
    if (rows.length === 0) return []
    const own = [...new Set(rows.flatMap(({ cells }) => [...cells.keys()]))].toSorted((left, right) => left - right)
    const records = rows.map(({ cells }) => own.map((column) => cells.get(column) ?? ''))
    const head = readCsvHead(records)
    if (own.length === 1 && rows.length <= judgedRows && !(head.header && count > 0))
      return records.flat().map((text) => ({ kind: 'paragraph', text }))
    const continues = !head.header && count > 0 && own.every((column) => known.has(column))
    if (continues) return rows.map((row) => rowBlock(cellsOf(row)))
    columns = own
    known = new Set(own)
    header = head.header
    count = 0
    const titles = head.titles.map((text): ExtractedBlock => ({ kind: 'paragraph', text }))
    const names: ExtractedBlock[] = header ? [{ kind: 'table_row', text: tableRowText(header), header }] : []
    return [...titles, ...names, ...head.rows.map((record) => rowBlock(record))]
  }

  return {
    addRow(row: SheetRow): ExtractedBlock[] {
      assertLength(row)
      const isGap = row.number > lastNumber + 1
      lastNumber = row.number
      const ended = isGap ? judge() : []
      if (isGap) isJudged = false
      if (isJudged) return [...ended, rowBlock(cellsOf(row))]
      waiting.push(row)
      return waiting.length > judgedRows ? [...ended, ...judge()] : ended
    },
    end: judge,
  }
}

function assertLength({ cells }: SheetRow) {
  let characters = 0
  for (const text of cells.values()) characters += text.length
  if (characters > maximumRowCharacters)
    throw new ExtractionError(
      'too_large_when_unpacked',
      `One row of the workbook holds more than ${maximumRowCharacters} characters. Split it into several rows.`,
    )
}
