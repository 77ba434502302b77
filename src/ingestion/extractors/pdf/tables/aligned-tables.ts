import type { Segment } from '../segment.ts'
import { splitSegment } from '../split-segments.ts'
import { visualRows } from '../reading-order.ts'
import type { Rule } from './drawn-rules.ts'
import { judgeGrid, type Grid, type GridRow } from './evidence.ts'
import { logicalRows } from './logical-rows.ts'
import type { PdfTable } from './table.ts'

/** Rows of a table are not further apart than this many heights of their text. */
const maximumRowGap = 3
/** A row of a table does not differ more than this in the size of its text from the row beside it. */
const maximumSizeRatio = 1.3
/** Rows in which only one cell is filled may follow one another this often. */
const maximumLoneRows = 4

/** A column while a table grows: how far its cells reach. */
interface Column {
  left: number
  right: number
}

export interface AlignedOptions {
  /** Takes away columns of running text and looks again at what stands beside them. */
  dropsProse: boolean
  /** Fewest pieces in the fullest row. */
  minimumPieces: number
}

/** Tables without lines between their columns, recognised by texts that stand below one another with gaps between them. */
export function findAlignedTables(segments: Segment[], rules: Rule[], options: AlignedOptions): PdfTable[] {
  const rows = visualRows(segments)
  const tables: PdfTable[] = []
  // Rows that are done with; each is part of one grid of more than two rows at most, so that time grows with the page only.
  const done = new Set<number>()
  const ranges = [{ from: 0, to: rows.length }]
  for (let range = ranges.pop(); range; range = ranges.pop()) {
    const seed = fullestRow(rows, range.from, range.to, options.minimumPieces)
    if (seed === null) continue
    const grid = growGrid(rows, seed, done)
    const end = grid.from + grid.rows.length
    ranges.push(
      { from: range.from, to: Math.min(seed, Math.max(range.from, grid.from)) },
      { from: Math.max(seed + 1, Math.min(range.to, end)), to: range.to },
    )
    const found = acceptGrid(grid, rules, options)
    tables.push(...found)
    // A row that went with no other may still be the header of a grid that begins beside it.
    if (found.length > 0 || grid.rows.length > 2) for (let row = grid.from; row < end; row += 1) done.add(row)
  }
  return tables
}

function acceptGrid(grid: Grid, rules: Rule[], options: AlignedOptions): PdfTable[] {
  const judgement = judgeGrid(grid, rules)
  if (judgement.kind === 'table') {
    const { rows, headerRows } = logicalRows(grid, judgement.rules)
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
        headerRows,
        segments,
      },
    ]
  }
  if (judgement.kind === 'nothing' || !options.dropsProse) return []
  const { prose } = judgement
  const kept = grid.columns.flatMap((_, column) => (prose.has(column) ? [] : [column]))
  // Between the columns of a table stands no prose: what is on both sides of it does not belong together.
  if (kept.length < 2 || kept.at(-1)! - kept[0]! >= kept.length) return []
  // Running text beside a table: what stands in its columns is taken away, and the rest looked at again.
  const rest = grid.rows.flatMap(({ cells, segments }) => {
    const pieces = new Set(kept.flatMap((column) => cells[column]!))
    // What was parted over columns is none of the page's own pieces, and stays out.
    return segments.filter((segment) => pieces.has(segment))
  })
  return findAlignedTables(rest, rules, options)
}

/** True for rows enough, most of whose columns are filled more than once; the lines of a form seldom are. */
function recurs(rows: Segment[][][]): boolean {
  const columns = rows[0]!.map((_, column) => rows.filter((row) => row[column]!.length > 0).length)
  return rows.length + columns.length >= 5 && columns.filter((count) => count >= 2).length >= columns.length * 0.7
}

/** The first of the rows with the most pieces, when there are enough of them. */
function fullestRow(rows: Segment[][], from: number, to: number, minimumPieces: number): number | null {
  let best: number | null = null
  for (let index = from; index < to; index += 1)
    if (rows[index]!.length > (best === null ? minimumPieces - 1 : rows[best]!.length)) best = index
  return best
}

/** Takes the rows around `seed` as long as their pieces fit into its columns. */
function growGrid(rows: Segment[][], seed: number, done: ReadonlySet<number>): Grid {
  const columns: Column[] = rows[seed]!.map(({ left, right }) => ({ left, right }))
  const placed = new Map<number, Map<Column, Segment[]>>()
  placed.set(seed, new Map(rows[seed]!.map((segment, index) => [columns[index]!, [segment]])))
  const grow = (step: 1 | -1): number => {
    let last = seed
    let lone = 0
    for (let index = seed + step; index >= 0 && index < rows.length && !done.has(index); index += step) {
      if (!areNear(rows[index - step]!, rows[index]!)) break
      const cells = fitRow(rows[index]!, columns, rows[index - step]!)
      if (!cells) break
      placed.set(index, cells)
      lone = cells.size > 1 ? 0 : lone + 1
      if (lone > maximumLoneRows) break
      // Lone pieces at the ends belong to something else: titles, notes, the next paragraph.
      if (
        cells.size > 1 ||
        (step === 1 && lone === index - last && isLastLine(rows[index - 1]!, rows[index]!, columns))
      )
        last = index
    }
    return last
  }
  const end = grow(1)
  const start = grow(-1)
  const order = columns
    .filter((column) => range(start, end).some((index) => placed.get(index)!.has(column)))
    .sort((one, other) => one.left - other.left)
  const gridRows = range(start, end).map((index): GridRow => {
    const segments = rows[index]!
    return {
      cells: order.map((column) => placed.get(index)!.get(column) ?? []),
      segments,
      top: Math.max(...segments.map(({ top }) => top)),
      bottom: Math.min(...segments.map(({ bottom }) => bottom)),
      size: segments[0]!.size,
    }
  })
  return { from: start, columns: order, rows: gridRows }
}

/** True for a lone piece close below a row and not in its first column: the end of a cell. */
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
  const [small, large] = upper.size < lower.size ? [upper.size, lower.size] : [lower.size, upper.size]
  // A lone piece in bold or larger letters is a heading.
  const isHeading = [one, other].some((row) => row.length === 1 && row[0]!.bold && row[0]!.size > small * 1.05)
  return !isHeading && upper.bottom - lower.top <= small * maximumRowGap && large <= small * maximumSizeRatio
}

/** The cells of a row next to row `beside`, and the columns widened to hold them; null, and nothing changed, where it does not fit. */
function fitRow(row: Segment[], columns: Column[], beside: Segment[]): Map<Column, Segment[]> | null {
  const cells = new Map<Column, Segment[]>()
  const added: Column[] = []
  const place = (column: Column, segment: Segment): boolean => {
    const cell = cells.get(column)
    if (!cell) cells.set(column, [segment])
    // Lines of a cell that stand half a line above and below the middle of its row count as one height with it.
    else if (cell.every((piece) => areStacked(piece, segment))) cell.push(segment)
    else return false
    return true
  }
  const isLone = row.length === 1
  for (const segment of row) {
    const overlapped = columns.filter((column) => overlaps(segment, column))
    if (overlapped.length > 1) {
      const first = isLone ? continued(segment, columns, beside) : null
      if (first) return new Map([[first, [segment]]])
      const parts = isLone ? null : partAtColumns(segment, overlapped)
      if (!parts || parts.some((part, index) => !place(overlapped[index]!, part))) return null
      continue
    }
    const column = overlapped[0] ?? { left: segment.left, right: segment.right }
    if (overlapped.length === 0) added.push(column)
    if (!place(column, segment)) return null
  }
  // A lone piece beside all columns is no cell of theirs.
  if (isLone && added.length > 0) return null
  // A row that brings columns of its own has to keep to the others: another table may stand above or below.
  const isStray = ([column, [piece]]: [Column, Segment[]]) => !added.includes(column) && !isAligned(piece!, column)
  if (added.length > 0 && [...cells].some(isStray)) return null
  columns.push(...added)
  for (const [column, cell] of cells) for (const segment of cell) widen(column, segment, columns)
  return cells
}

function areStacked(one: Segment, other: Segment): boolean {
  const shared = Math.min(one.right, other.right) - Math.max(one.left, other.left)
  return shared > Math.min(one.right - one.left, other.right - other.left) * 0.5
}

/** The column after the first in which a lone piece begins that goes on with the row close above it, over empty cells beside it. */
function continued(piece: Segment, columns: Column[], above: Segment[]): Column | null {
  if (above[0]!.bottom < piece.bottom || above[0]!.bottom - piece.bottom > piece.size * 1.5) return null
  const first = Math.min(...columns.map(({ left }) => left))
  return columns.find(({ left }) => left > first && Math.abs(left - piece.left) <= piece.size * 0.3) ?? null
}

/** More than the usual blank, which is about a quarter of the size, stands between two cells. */
function isApart(before: Segment | undefined, part: Segment): boolean {
  return !before || part.left - before.right > part.size * 0.3
}

function isAligned({ left, right, size }: Segment, column: Column): boolean {
  const slack = size * 0.4
  const middles = Math.abs((left + right) / 2 - (column.left + column.right) / 2)
  return Math.abs(left - column.left) <= slack || Math.abs(right - column.right) <= slack || middles <= slack
}

/** Pieces may reach a little into the next column: a long word in a cell, a wide accent. */
function overlaps(segment: Segment, column: Column): boolean {
  const shared = Math.min(segment.right, column.right) - Math.max(segment.left, column.left)
  return shared > Math.min(segment.right - segment.left, column.right - column.left) * 0.2
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

/**
 * Parts a piece over several columns, as headers with narrow gaps are: only where each part stands at its column's left, right
 * or middle. Null where it does not.
 */
function partAtColumns(segment: Segment, columns: Column[]): Segment[] | null {
  const ordered = columns.toSorted((one, other) => one.left - other.left)
  const byLeft = ({ left }: Column) =>
    Math.max(
      0,
      ordered.findLastIndex((column) => column.left - segment.size * 0.4 <= left),
    )
  const byDistance = (word: Column) => {
    const distances = ordered.map((column) => Math.abs(column.left + column.right - word.left - word.right))
    return distances.indexOf(Math.min(...distances))
  }
  for (const place of [byLeft, byDistance]) {
    const parts = splitSegment(segment, place)?.sort((one, other) => one.left - other.left)
    if (
      parts?.length === columns.length &&
      parts.every((part, index) => isAligned(part, ordered[index]!) && isApart(parts[index - 1], part))
    )
      return columns.map((column) => parts[ordered.indexOf(column)]!)
  }
  return null
}
