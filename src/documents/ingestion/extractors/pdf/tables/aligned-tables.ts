import type { Segment } from '../segment.ts'
import { visualRows } from '../reading-order.ts'
import type { Rule } from './drawn-rules.ts'
import { classifyGrid, type Grid, type GridRow } from './evidence.ts'
import { logicalRows } from './logical-rows.ts'
import type { PdfTable } from '../segment.ts'
import { alignedLimits } from './thresholds.ts'

/** A column while a table grows: how far its cells reach. */
interface Column {
  left: number
  right: number
}

export interface AlignedOptions {
  /** Removes columns of running text and searches the remaining columns again. */
  dropsProse: boolean
}

/** Tables without lines between their columns: texts that are aligned below one another, with gaps between them. */
export function findAlignedTables(segments: Segment[], rules: Rule[], options: AlignedOptions): PdfTable[] {
  const rows = visualRows(segments)
  const tables: PdfTable[] = []
  // Rows that need no second search. Each is in at most one grid of more than two rows, so time is linear in the page.
  const done = new Set<number>()
  const ranges = [{ from: 0, to: rows.length }]
  for (let range = ranges.pop(); range; range = ranges.pop()) {
    const seed = fullestRow(rows, range.from, range.to)
    if (seed === null) continue
    const grid = growGrid(rows, seed, done)
    const end = grid.from + grid.rows.length
    ranges.push(
      { from: range.from, to: Math.min(seed, Math.max(range.from, grid.from)) },
      { from: Math.max(seed + 1, Math.min(range.to, end)), to: range.to },
    )
    const found = acceptGrid(grid, rules, options)
    tables.push(...found)
    // A row that fits no neighbour can still be the header of the next grid.
    if (found.length > 0 || grid.rows.length > 2) for (let row = grid.from; row < end; row += 1) done.add(row)
  }
  return tables
}

function acceptGrid(grid: Grid, rules: Rule[], options: AlignedOptions): PdfTable[] {
  const verdict = classifyGrid(grid, rules)
  if (verdict.kind === 'table') {
    const rows = logicalRows(grid, verdict.rules)
    if (!recurs(rows)) return []
    const segments = grid.rows.flatMap(({ segments: ofRow }) => ofRow)
    return [
      {
        left: grid.columns[0]!.left,
        right: grid.columns.at(-1)!.right,
        top: Math.max(...grid.rows.map(({ top }) => top)),
        bottom: Math.min(...grid.rows.map(({ bottom }) => bottom)),
        columns: grid.columns,
        rows,
        segments,
      },
    ]
  }
  if (verdict.kind === 'nothing' || !options.dropsProse) return []
  const { prose } = verdict
  const kept = grid.columns.flatMap((_, column) => (prose.has(column) ? [] : [column]))
  // Prose never separates the columns of one table, so columns on both sides of it are no table.
  if (kept.length < 2 || kept.at(-1)! - kept[0]! >= kept.length) return []
  const rest = grid.rows.flatMap(({ cells }) => kept.flatMap((column) => cells[column]!))
  return findAlignedTables(rest, rules, options)
}

/** True for enough rows, and most columns filled more than once; in forms they are not. */
function recurs(rows: Segment[][][]): boolean {
  const columns = rows[0]!.map((_, column) => rows.filter((row) => row[column]!.length > 0).length)
  return (
    rows.length + columns.length >= 5 &&
    columns.filter((count) => count >= 2).length >= columns.length * alignedLimits.recurring
  )
}

/** The first of the rows with the most pieces; null where no row has two. */
function fullestRow(rows: Segment[][], from: number, to: number): number | null {
  let best: number | null = null
  for (let index = from; index < to; index += 1)
    if (rows[index]!.length > (best === null ? 1 : rows[best]!.length)) best = index
  return best
}

/** Adds the rows above and below `seed` as long as their pieces fit into its columns. */
function growGrid(rows: Segment[][], seed: number, done: ReadonlySet<number>): Grid {
  const columns: Column[] = rows[seed]!.map(({ left, right }) => ({ left, right }))
  const placed = new Map<number, Cells>([[seed, { columns: [...columns], segments: rows[seed]! }]])
  const grow = (step: 1 | -1): number => {
    let last = seed
    let single = 0
    for (let index = seed + step; index >= 0 && index < rows.length && !done.has(index); index += step) {
      if (!areNear(rows[index - step]!, rows[index]!)) break
      const cells = fitRow(rows[index]!, columns, rows[index - step]!)
      if (!cells) break
      placed.set(index, cells)
      const isSingle = cells.columns.length === 1
      single = isSingle ? single + 1 : 0
      if (single > alignedLimits.singleRows) break
      // Single pieces at the ends belong to something else: titles, notes, the next paragraph.
      if (!isSingle || (step === 1 && single === index - last && isLastLine(rows[index - 1]!, rows[index]!, columns)))
        last = index
    }
    return last
  }
  const end = grow(1)
  const start = grow(-1)
  const indexes = range(start, end)
  const used = new Set(indexes.flatMap((index) => placed.get(index)!.columns))
  const order = columns.filter((column) => used.has(column)).sort((one, other) => one.left - other.left)
  const places = new Map(order.map((column, place) => [column, place]))
  const gridRows = indexes.map((index): GridRow => {
    const segments = rows[index]!
    const cells: Segment[][] = order.map(() => [])
    const row = placed.get(index)!
    for (const [at, column] of row.columns.entries()) cells[places.get(column)!]!.push(row.segments[at]!)
    return {
      cells,
      segments,
      top: Math.max(...segments.map(({ top }) => top)),
      bottom: Math.min(...segments.map(({ bottom }) => bottom)),
      size: segments[0]!.size,
    }
  })
  return { from: start, columns: order, rows: gridRows }
}

/** True for a single piece close below a row and not in its first column: the end of a cell. */
function isLastLine(above: Segment[], row: Segment[], columns: Column[]): boolean {
  const [piece] = row
  const left = Math.min(...columns.map((column) => column.left))
  return piece!.left > left + piece!.size * 2 && above[0]!.bottom - piece!.bottom < piece!.size * 1.4
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

function areNear(one: Segment[], other: Segment[]): boolean {
  const [upper, lower] = one[0]!.top > other[0]!.top ? [one[0]!, other[0]!] : [other[0]!, one[0]!]
  const small = Math.min(upper.size, lower.size)
  return upper.bottom - lower.top <= small * alignedLimits.rowGap
}

/** The pieces of a row, each with its column. */
interface Cells {
  columns: Column[]
  segments: Segment[]
}

/** The cells of a row, with the columns widened to hold them; null, and nothing changed, where the row does not fit. */
function fitRow(row: Segment[], columns: Column[], neighbour: Segment[]): Cells | null {
  const own: Column[] = []
  const added: Column[] = []
  const isSingle = row.length === 1
  for (const segment of row) {
    let column: Column | null = null
    for (const candidate of columns) {
      if (!overlaps(segment, candidate)) continue
      if (column !== null) {
        const first = isSingle ? continuedColumn(segment, columns, neighbour) : null
        return first && { columns: [first], segments: row }
      }
      column = candidate
    }
    if (column === null) added.push((column = { left: segment.left, right: segment.right }))
    else if (own.includes(column)) return null
    own.push(column)
  }
  // A single piece outside all columns is no cell.
  if (isSingle && added.length > 0) return null
  columns.push(...added)
  for (const [at, column] of own.entries()) widen(column, row[at]!, columns)
  return { columns: own, segments: row }
}

/** The column after the first where a single piece begins that continues the row close above it, over the empty cells to its right. */
function continuedColumn(piece: Segment, columns: Column[], above: Segment[]): Column | null {
  if (above[0]!.bottom < piece.bottom || above[0]!.bottom - piece.bottom > piece.size * 1.5) return null
  const first = Math.min(...columns.map(({ left }) => left))
  return columns.find(({ left }) => left > first && Math.abs(left - piece.left) <= piece.size * 0.3) ?? null
}

function overlaps(segment: Segment, column: Column): boolean {
  const shared = Math.min(segment.right, column.right) - Math.max(segment.left, column.left)
  return shared > Math.min(segment.right - segment.left, column.right - column.left) * alignedLimits.overlap
}

function widen(column: Column, segment: Segment, columns: Column[]) {
  let { left, right } = segment
  for (const other of columns) {
    if (other === column) continue
    if (other.right <= column.left) left = Math.max(left, other.right)
    else if (other.left >= column.right) right = Math.min(right, other.left)
  }
  column.left = Math.min(column.left, left)
  column.right = Math.max(column.right, right)
}
