import type { Segment } from '../segment.ts'
import { visualRows } from '../reading-order.ts'
import type { Rule } from './drawn-rules.ts'
import type { Grid, GridRow } from './evidence.ts'
import { isNumber } from './table.ts'

interface LogicalRows {
  rows: Segment[][][]
  headerRows: number
}

/** Most lines of text above the line below a header. */
const maximumHeaderLines = 3
/** The step to a new row is at least this much larger than between the lines of one row. */
const minimumStepRatio = 1.15

/** Most lines of text between two drawn lines, on average, for each of them to part rows and not groups of rows. */
const maximumBandLines = 3.5

/** Joins the lines of text that make up one row: by drawn lines, or else by distances. */
export function logicalRows(grid: Grid, rules: Rule[]): LogicalRows {
  const bands = bandsOf(grid.rows, rules)
  if (bands.length >= 3 && grid.rows.length <= bands.length * maximumBandLines)
    return { rows: splitWideBands(bands).flatMap((band) => partRow(joinCells(band))), headerRows: 0 }
  const [head, ...body] = bands
  const hasHead = body.length > 0 && head!.length <= maximumHeaderLines && head!.length < body.flat().length
  if (!hasHead) return { rows: byDistance(grid.rows), headerRows: 0 }
  const header = byDistance(head!)
  return { rows: [...header, ...body.flatMap(byDistance)], headerRows: header.length }
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

/** Where only every other row has a background, a band can hold two rows, as far apart as rows in neighbouring bands. */
function splitWideBands(bands: GridRow[][]): GridRow[][] {
  const between = bands.slice(1).map((band, index) => stepOf(bands[index]!.at(-1)!, band[0]!))
  const usual = Math.min(...between) * 0.9
  return bands.flatMap((band) => {
    const parts: GridRow[][] = []
    for (const [index, row] of band.entries()) {
      if (index > 0 && stepOf(band[index - 1]!, row) < usual) parts.at(-1)!.push(row)
      else parts.push([row])
    }
    return parts
  })
}

function stepOf(upper: GridRow, lower: GridRow): number {
  return upper.bottom - lower.bottom
}

/** A line closer to the one above than rows are, in columns that are filled there too, goes on with its row. */
function byDistance(rows: GridRow[]): Segment[][][] {
  const steps = rows.slice(1).map((row, index) => stepOf(rows[index]!, row))
  const limit = Math.min(...steps) * minimumStepRatio
  const larger = steps.filter((step) => step >= limit).length
  const groups: GridRow[][] = []
  for (const [index, row] of rows.entries()) {
    const group = groups.at(-1)
    // Where few steps are larger, they part groups of rows, and full lines are rows.
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

/**
 * Rows of a table are not always parted by lines: lines of text that fill most of the cells side by side, with numbers in them, are
 * rows of their own.
 */
export function partRow(row: Segment[][]): Segment[][][] {
  const filled = row.filter((cell) => cell.length > 0)
  if (filled.filter((cell) => cell.length > 1).length < 2) return [row]
  const columnOf = new Map(row.flatMap((cell, column) => cell.map((segment) => [segment, column] as const)))
  const lines = visualRows(row.flat())
  const full = lines.filter(
    (line) => new Set(line.map((segment) => columnOf.get(segment)!)).size >= filled.length * 0.6,
  )
  if (lines.length < 2 || full.length < lines.length * 0.6) return [row]
  const isNumbers = (cell: Segment[]) => cell.length >= full.length && cell.every(({ text }) => isNumber(text))
  if (full.length < 6 && !filled.some(isNumbers)) return [row]
  const parts: Segment[][][] = full.map(() => row.map(() => []))
  let current = 0
  for (const line of lines) {
    if (line === full[current + 1]) current += 1
    for (const segment of line) {
      const column = columnOf.get(segment)!
      // What stands once beside several rows belongs to the first of them.
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
