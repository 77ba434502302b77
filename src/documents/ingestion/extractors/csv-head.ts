import { isValue, looksLikeHeader } from './csv-dialect.ts'

/** Lines of title above a table; more are data. */
const maximumTitles = 6
/** Share of a column's cells that hold values below a name. */
const valueShare = 0.7

interface CsvHead {
  /** Lines above the table that are not part of it. */
  titles: string[]
  header: string[] | undefined
  rows: string[][]
}

/** Separates the first records of a csv file into titles, the names of the columns (in one row or two) and data. */
export function readCsvHead(records: string[][]): CsvHead {
  const from = countTitles(records)
  const titles = records.slice(0, from).map((record) => record.filter((cell) => cell !== '').join(' '))
  const [first, second, ...rest] = records.slice(from)
  if (!first) return { titles: [], header: undefined, rows: records }
  const following = second ? [second, ...rest] : rest
  if (second && isGroupRow(first, second) && namesValues(second, rest))
    return { titles, header: joinGroups(first, second), rows: rest }
  if (looksLikeHeader(first, following) || (isPartlyNamed(first) && namesValues(first, following)))
    return { titles, header: first, rows: following }
  return { titles: [], header: undefined, rows: records }
}

/** Leading records with one filled cell each, above a wider record. */
function countTitles(records: string[][]): number {
  const filled = (record: string[]) => record.filter((cell) => cell !== '').length
  let titles = 0
  while (titles < maximumTitles && records[titles] && filled(records[titles]!) === 1) titles += 1
  const table = records[titles]
  const isTable = table !== undefined && filled(table) >= 2 && records.length > titles + 1
  return isTable ? titles : 0
}

/** Names of groups of columns: gaps after some of them, which the row below fills. */
function isGroupRow(groups: string[], names: string[]): boolean {
  const named = groups.filter((cell) => cell !== '')
  if (named.length < 2 || named.length === groups.length || named.some(isValue)) return false
  return groups.every((cell, index) => cell !== '' || (names[index] ?? '') !== '' || index === 0)
}

function joinGroups(groups: string[], names: string[]): string[] {
  let group = ''
  // Either row can be the longer one.
  return Array.from({ length: Math.max(groups.length, names.length) }, (_, index) => {
    const name = names[index] ?? ''
    if (groups[index]) group = groups[index]!
    return name === '' ? group : group === '' || group === name ? name : `${group} ${name}`
  })
}

function isPartlyNamed(record: string[]): boolean {
  const named = record.filter((cell) => cell !== '')
  return named.length > 0 && named.length * 3 >= record.length && !named.some(isValue)
}

/** True where a column holds values below a cell that is a name. */
function namesValues(names: string[], rows: string[][]): boolean {
  if (rows.length === 0 || names.some((name) => name !== '' && isValue(name))) return false
  return names.some((name, index) => {
    const cells = rows.map((row) => row[index] ?? '').filter((cell) => cell !== '')
    return name !== '' && cells.length > 0 && cells.filter(isValue).length >= cells.length * valueShare
  })
}
