import type { Segment } from '../segment.ts'
import { visualRows } from '../reading-order.ts'
import type { Rule } from './drawn-rules.ts'
import type { Grid, GridRow } from './evidence.ts'
import { isNumber } from './table.ts'
import { rowLimits } from './thresholds.ts'

/** Joins the lines of text of each row: by drawn lines where there are enough, else by distance. */
export function logicalRows(grid: Grid, rules: Rule[]): Segment[][][] {
  const bands = bandsOf(grid.rows, rules)
  if (bands.length >= 3 && grid.rows.length <= bands.length * rowLimits.linesPerBand)
    return bands.flatMap((band) => splitRow(joinCells(band)))
  return byDistance(grid.rows)
}

/** The lines of text between drawn lines. */
function bandsOf(rows: GridRow[], rules: Rule[]): GridRow[][] {
  const bands: GridRow[][] = []
  let rule = 0
  for (const row of rows) {
    const middle = (row.top + row.bottom) / 2
    let isNew = bands.length === 0
    for (; rule < rules.length && rules[rule]!.at > middle; rule += 1) isNew = true
    if (isNew) bands.push([row])
    else bands.at(-1)!.push(row)
  }
  return bands
}

function stepOf(upper: GridRow, lower: GridRow): number {
  return upper.bottom - lower.bottom
}

/** A line continues the row above where it is closer to it than rows are, and its columns are filled there too. */
function byDistance(rows: GridRow[]): Segment[][][] {
  const steps = rows.slice(1).map((row, index) => stepOf(rows[index]!, row))
  const limit = Math.min(...steps) * rowLimits.stepRatio
  const larger = steps.filter((step) => step >= limit).length
  const groups: GridRow[][] = []
  for (const [index, row] of rows.entries()) {
    const group = groups.at(-1)
    // Where few steps are larger, they separate groups of rows, and full lines are rows.
    const mayBeFull = larger >= steps.length * 0.4
    if (group && larger > 0 && steps[index - 1]! < limit && isPartOf(row, group, mayBeFull)) group.push(row)
    else groups.push([row])
  }
  return groups.map(joinCells)
}

function isPartOf(row: GridRow, group: GridRow[], mayBeFull: boolean): boolean {
  const own = filledOf(row.cells)
  const above = new Set(group.flatMap(({ cells }) => filledOf(cells)))
  if (!own.every((column) => above.has(column)) || (!mayBeFull && own.length === above.size)) return false
  const isNumeric = ({ cells }: GridRow, column: number) => cells[column]!.some(({ text }) => isNumber(text))
  return !own.some((column) => isNumeric(row, column) && group.some((line) => isNumeric(line, column)))
}

/** Splits a row between drawn lines: lines of text that fill most cells, with numbers in them, are separate rows. */
export function splitRow(row: Segment[][]): Segment[][][] {
  const filled = row.filter((cell) => cell.length > 0)
  if (filled.filter((cell) => cell.length > 1).length < 2) return [row]
  const columnOf = new Map(row.flatMap((cell, column) => cell.map((segment) => [segment, column] as const)))
  const lines = visualRows(row.flat())
  const full = lines.filter(
    (line) => new Set(line.map((segment) => columnOf.get(segment)!)).size >= filled.length * rowLimits.fullLines,
  )
  if (lines.length < 2 || full.length < lines.length * rowLimits.fullLines) return [row]
  const isNumbers = (cell: Segment[]) => cell.length >= full.length && cell.every(({ text }) => isNumber(text))
  if (full.length < 6 && !filled.some(isNumbers)) return [row]
  const parts: Segment[][][] = full.map(() => row.map(() => []))
  let current = 0
  for (const line of lines) {
    if (line === full[current + 1]) current += 1
    for (const segment of line) {
      const column = columnOf.get(segment)!
      // A cell of one line next to several rows belongs to the first of them.
      parts[row[column]!.length === 1 ? 0 : current]![column]!.push(segment)
    }
  }
  return parts
}

function filledOf(cells: Segment[][]): number[] {
  return cells.flatMap((cell, column) => (cell.length > 0 ? [column] : []))
}

function joinCells(rows: GridRow[]): Segment[][] {
  return rows[0]!.cells.map((_, column) => rows.flatMap(({ cells }) => cells[column]!))
}
