import { cellSeparator, isHeader, isTableRow } from './split-segments.ts'

export interface TableRow {
  text: string
  cells: readonly string[]
  /** The cells of the header above; empty where the table has none. */
  names: readonly string[]
}

/** A text without tables, or the rows of a table below its header. */
interface TextPart {
  text: string
  header: readonly string[]
  rows: readonly TableRow[]
}

/** The tables of a text, and the text between them, in order. Rows have a separator between their cells. Linear. */
export function splitTables(text: string): TextPart[] {
  const parts: TextPart[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length;) {
    const isTable = isTableRow(lines[at]!)
    let end = at + 1
    while (end < lines.length && isTableRow(lines[end]!) === isTable) end++
    const run = lines.slice(at, end)
    parts.push(isTable ? readTable(run) : { text: run.join('\n'), header: [], rows: [] })
    at = end
  }
  return parts
}

function readTable(lines: readonly string[]): TextPart {
  const hasHeader = lines.length > 1 && isHeader(lines[0]!)
  const names = hasHeader ? cellsOf(lines[0]!) : []
  const rows = lines.slice(hasHeader ? 1 : 0).map((line) => ({ text: line.trim(), cells: cellsOf(line), names }))
  return { text: '', header: names, rows }
}

const cellsOf = (line: string) => line.split(cellSeparator).map((cell) => cell.trim())
