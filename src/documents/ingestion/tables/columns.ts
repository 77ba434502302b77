import { chooseDayOrder, parseDate, parseTime } from './dates.ts'
import { findNumberFormat, isMissing, type NumberFormat, readNumber, type WrittenNumber } from './numbers.ts'

/** What the values of a column are. `mixed`: the text of the file, of which a part is numbers, dates or times; another column has those. */
export type ColumnKind = 'number' | 'date' | 'time' | 'boolean' | 'mixed' | 'text'

/** Columns of a table in SQL. Pure. */

export type SqlValue = string | number | null

export interface SqlColumn {
  name: string
  type: 'INTEGER' | 'REAL' | 'TEXT'
  kind: ColumnKind
  /** What the type does not show, for the model: units, and cells that are not of this kind. Empty for most. */
  note: string
  /** The header as the file has it; null for a column without a header, and for one that was added. */
  header: string | null
  /** The column of the file that it shows, from 0; null for one that was added. */
  source: number | null
  /** The value for one row of the file; `row` counts from 1. */
  value: (cells: readonly string[], row: number) => SqlValue
}

/** Share of the filled cells that must be of a kind for the plain name to have it; from `mixedShare` on the column is mixed. */
const typedShare = 0.8
const mixedShare = 0.5
const maximumNameLength = 60
/** Different units that a note lists. */
const maximumUnits = 4

type NewColumn = Omit<SqlColumn, 'header' | 'source'>
/** A column of the file as values of one kind, and how many of its cells are none. */
interface Reading {
  type: SqlColumn['type']
  kind: ColumnKind
  suffix: string
  /** null: the cell has no value of the kind. */
  read: (cell: string) => SqlValue
  units?: readonly string[]
}

/**
 * The columns of a table: `row_number`, then each column of the file. The plain name has numbers, dates, times or booleans where nearly all
 * cells are, and `NAME_text` the text of the file. A mixed column keeps its text, and `NAME_number` (or `_date`, `_time`) has what can be
 * read. An empty cell is NULL, and in typed columns a cell that stands for a missing value as well.
 */
export function planColumns(header: readonly string[] | undefined, rows: readonly (readonly string[])[]): SqlColumn[] {
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), header?.length ?? 0)
  const columns = Array.from({ length: width }, (_, index) => rows.map((row) => row[index] ?? ''))
  const tableFormat = chooseTableFormat(columns)
  const taken = new Set<string>()
  const planned: SqlColumn[] = [{ ...rowNumber, name: uniqueName('row_number', taken), header: null, source: null }]
  for (const [index, cells] of columns.entries()) {
    const title = header?.[index] ?? ''
    const name = uniqueName(toIdentifier(title, index), taken)
    const [first, ...added] = planColumn(name, cells, index, tableFormat)
    planned.push({ ...first!, header: title === '' ? null : title, source: index })
    for (const column of added) {
      planned.push({ ...column, name: uniqueName(column.name, taken), header: null, source: null })
    }
  }
  return planned
}

const rowNumber: NewColumn = { name: 'row_number', type: 'INTEGER', kind: 'number', note: '', value: (_, row) => row }

/** The separator of decimals that most columns prove: a column that proves none has the same. */
function chooseTableFormat(columns: readonly string[][]): NumberFormat {
  const proved = columns.flatMap((cells) => findNumberFormat(cells) ?? [])
  const commas = proved.filter(({ decimal }) => decimal === ',').length
  return { decimal: commas * 2 > proved.length ? ',' : '.' }
}

function planColumn(name: string, cells: readonly string[], index: number, tableFormat: NumberFormat): NewColumn[] {
  const filled = cells.filter((cell) => !isMissing(cell))
  const text: NewColumn = { name, type: 'TEXT', kind: 'text', note: '', value: (row) => row[index] || null }
  const readings = filled.length === 0 ? [] : [asNumbers, asBooleans, asDates, asTimes]
  for (const toReading of readings) {
    const reading = toReading(filled, tableFormat)
    const found = reading ? filled.filter((cell) => reading.read(cell) !== null).length : 0
    if (!reading || found < filled.length * mixedShare) continue
    const note = describeReading(reading, found, filled.length, name)
    const value: NewColumn['value'] = (row) => (isMissing(row[index] ?? '') ? null : reading.read(row[index]!))
    const typed: NewColumn = { name, type: reading.type, kind: reading.kind, note, value }
    if (found < filled.length * typedShare) {
      const mixed = `mixed: ${found} of ${filled.length} cells are ${kindWords[reading.kind]}, in ${name}_${reading.suffix}`
      return [
        { ...text, kind: 'mixed', note: mixed },
        { ...typed, name: `${name}_${reading.suffix}` },
      ]
    }
    return cells.every((cell) => cell === '' || String(reading.read(cell)) === cell)
      ? [typed]
      : [typed, { ...text, name: `${name}_text` }]
  }
  return [text]
}

const kindWords: Readonly<Record<ColumnKind, string>> = {
  number: 'numbers',
  date: 'dates',
  time: 'times',
  boolean: 'yes or no',
  mixed: 'mixed',
  text: 'text',
}

function describeReading({ units = [], kind }: Reading, found: number, filled: number, name: string): string {
  const parts = units.length === 0 ? [] : [`${units.length > 1 ? 'several units: ' : 'in '}${units.join(', ')}`]
  if (kind === 'boolean') parts.push('1 is yes, 0 is no')
  if (found < filled) parts.push(`${filled - found} of ${filled} cells are no ${kindWords[kind]}: see ${name}_text`)
  return parts.join('; ')
}

/** Null for columns of identifiers, whose leading zeros are a part of them. Days and tracks are written with one zero: `07`. */
function asNumbers(filled: readonly string[], tableFormat: NumberFormat): Reading | null {
  if (filled.some((cell) => /^0\d{2,}$/.test(cell.trim()))) return null
  const format = findNumberFormat(filled) ?? tableFormat
  const written = filled.map((cell) => readNumber(cell, format)).filter((number) => number !== null)
  const unit = chooseUnitOfMeasure(written, filled.length)
  const isValue = (number: WrittenNumber) => !isMeasure(number.unit) || number.unit === unit
  const values = written.filter(isValue)
  return {
    type: values.every(({ value }) => Number.isSafeInteger(value)) ? 'INTEGER' : 'REAL',
    kind: 'number',
    suffix: 'number',
    read(cell) {
      const number = readNumber(cell, format)
      return number && isValue(number) ? number.value : null
    },
    units: [...new Set(values.map((number) => number.unit))].filter((one) => one !== '').slice(0, maximumUnits),
  }
}

/** A word after the number; not a percent sign or a currency. */
const isMeasure = (unit: string) => unit !== '' && !/^[%‰]$|\p{Sc}|^[A-Z]{3}$/u.test(unit) && /\p{L}{1,}|°/u.test(unit)

/** The unit of measure of at least half of the cells. Other units are no numbers of this column: 900 g are less than 2 kg. */
function chooseUnitOfMeasure(written: readonly WrittenNumber[], filled: number): string | undefined {
  const counts = new Map<string, number>()
  for (const { unit } of written) if (isMeasure(unit)) counts.set(unit, (counts.get(unit) ?? 0) + 1)
  const [best] = [...counts].toSorted((left, right) => right[1] - left[1])
  return best && best[1] * 2 >= filled ? best[0] : undefined
}

/** Pairs of words in the languages that files of offices are mostly in; both words of a pair or only one may occur. */
const pairs =
  'true false|yes no|y n|ja nein|oui non|sí no|si no|sì no|sim não|ja nej|ja nee|tak nie|да нет|是 否|✓ ✗|✔ ✘'
    .split('|')
    .map((pair) => pair.split(' ') as [string, string])

function asBooleans(filled: readonly string[]): Reading | null {
  const words = new Set(filled.slice(0, 1_000).map((cell) => cell.trim().toLowerCase()))
  const pair = pairs.find((one) => words.has(one[0]) && words.has(one[1]))
  if (!pair) return null
  const read = (cell: string) => {
    const at = pair.indexOf(cell.trim().toLowerCase())
    return at === -1 ? null : 1 - at
  }
  return { type: 'INTEGER', kind: 'boolean', suffix: 'flag', read }
}

function asDates(filled: readonly string[]): Reading {
  const order = chooseDayOrder(filled)
  return { type: 'TEXT', kind: 'date', suffix: 'date', read: (cell) => parseDate(cell, order) }
}

function asTimes(filled: readonly string[]): Reading {
  const width = filled.some((cell) => /^\d{3,}:/.test(cell)) ? 4 : 2
  return { type: 'TEXT', kind: 'time', suffix: 'time', read: (cell) => parseTime(cell, width) }
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
