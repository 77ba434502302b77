import { chooseDayOrder, parseDate } from './dates.ts'
import { chooseNumberFormat, isMissing, parseNumber } from './numbers.ts'

/** Columns of a table in SQL. Pure. */

export type SqlValue = string | number | null

export interface SqlColumn {
  name: string
  type: 'INTEGER' | 'REAL' | 'TEXT'
  /** The header as the file has it; null for a column without a header, and for one that was added. */
  header: string | null
  /** The column of the file that it shows, from 0; null for one that was added. */
  source: number | null
  /** The value for one row of the file; `row` counts from 1. */
  value: (cells: readonly string[], row: number) => SqlValue
}

/** Share of the filled cells that must be numbers (or dates) for a column of numbers (or dates). */
const typedShare = 0.5
const maximumNameLength = 60

/**
 * The columns of a table: `row_number`; each column of the file, as a number where all its cells are plain numbers and otherwise as
 * the text of the file; after a text column of numbers `NAME_number`, after one of dates `NAME_date`. An empty cell is NULL.
 */
export function planColumns(header: readonly string[] | undefined, rows: readonly (readonly string[])[]): SqlColumn[] {
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), header?.length ?? 0)
  const taken = new Set<string>()
  const columns: SqlColumn[] = [
    { name: uniqueName('row_number', taken), type: 'INTEGER', header: null, source: null, value: (_, row) => row },
  ]
  for (let index = 0; index < width; index++) {
    const title = header?.[index] ?? ''
    const name = uniqueName(toIdentifier(title, index), taken)
    const [first, ...added] = planColumn(
      name,
      rows.map((row) => row[index] ?? ''),
      index,
    )
    columns.push({ ...first!, header: title === '' ? null : title, source: index })
    for (const column of added) columns.push({ ...column, name: uniqueName(column.name, taken) })
  }
  return columns
}

function planColumn(name: string, cells: readonly string[], index: number): SqlColumn[] {
  const filled = cells.filter((cell) => !isMissing(cell))
  const text: SqlColumn = { name, type: 'TEXT', header: null, source: null, value: (row) => row[index] || null }
  if (filled.length === 0) return [text]
  const format = chooseNumberFormat(filled)
  const numbers = filled.map((cell) => parseNumber(cell, format)).filter((number) => number !== null)
  if (numbers.length >= filled.length * typedShare) {
    const type = numbers.every(Number.isSafeInteger) ? 'INTEGER' : 'REAL'
    const number: SqlColumn = {
      name,
      type,
      header: null,
      source: null,
      value: (row) => (isMissing(row[index] ?? '') ? null : parseNumber(row[index]!, format)),
    }
    const isPlain = cells.every((cell) => cell === '' || String(Number(cell)) === cell)
    return isPlain ? [number] : [text, { ...number, name: `${name}_number` }]
  }
  const order = chooseDayOrder(filled)
  const dates = filled.filter((cell) => parseDate(cell, order) !== null)
  if (dates.length < filled.length * typedShare) return [text]
  return [text, { ...text, name: `${name}_date`, value: (row) => parseDate(row[index] ?? '', order) }]
}

/** Letters and digits of any script, joined with `_`; never a word of SQL. */
function toIdentifier(title: string, index: number): string {
  const words = title
    .normalize('NFKC')
    .slice(0, 4 * maximumNameLength)
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '_')
  const name = words.replaceAll(/^_+|_+$/g, '').slice(0, maximumNameLength)
  if (name === '') return `column_${index + 1}`
  if (/^\p{N}/u.test(name)) return `c_${name}`
  return keywords.has(name.toLowerCase()) ? `${name}_` : name
}

/** SQLite compares names without regard to the case of ASCII letters. */
function uniqueName(wanted: string, taken: Set<string>): string {
  let name = wanted
  for (let count = 2; taken.has(name.toLowerCase()); count++) name = `${wanted}_${count}`
  taken.add(name.toLowerCase())
  return name
}

/** https://sqlite.org/lang_keywords.html, those that models use as names of columns and that SQLite does not accept as such, and more. */
const keywords = new Set(
  'add all alter and as asc between by case check collate column commit constraint create cross current_date current_time default delete desc distinct do drop each else end escape except exists filter first for foreign from full group groups having if in index indexed inner insert intersect into is isnull join key last left like limit match natural no not notnull null nulls of offset on or order outer over partition plan primary query range references release replace right row rows select set table temp then to transaction union unique update using values view when where window with without'.split(
    ' ',
  ),
)
