import type { Segment } from '../segment.ts'
import { splitSegment } from '../split-segments.ts'
import type { Rule } from './drawn-rules.ts'
import { partRow } from './logical-rows.ts'
import { hasWideRows, type PdfTable } from './table.ts'

/** Lines that are drawn to meet may miss one another by this much (1/72 inch); doubled borders count as one. */
const tolerance = 3
/** A border is there when lines cover this share of a cell's side. */
const borderShare = 0.6
/** Beyond this many places a lattice is squared paper. */
const maximumPlaces = 20_000
/** Cells with more characters than this hold a layout's text, not a table's. */
const maximumUsualCell = 400
/** Shares that part tables from forms and drawings: cells that fill one place of the lattice, and cells with text. */
const minimumRegularity = 0.5
const minimumFilled = 0.5

interface Lattice {
  /** Lines of the grid from left to right, and from the top down. */
  xs: number[]
  ys: number[]
  /** For each place, row by row, the first place of the cell that it belongs to. */
  cellOf: Int32Array
}

/** Tables whose cells are parted by drawn lines. */
export function findRuledTables(segments: Segment[], rules: Rule[]): PdfTable[] {
  const tables: PdfTable[] = []
  const taken = new Set<Segment>()
  for (const group of crossingRules(rules)) {
    const lattice = readLattice(group)
    if (!lattice) continue
    const inside = segments.filter((segment) => !taken.has(segment) && isInside(segment, lattice))
    const table = inside.length < 3 ? null : fillLattice(inside, lattice)
    if (!table) continue
    for (const segment of inside) taken.add(segment)
    tables.push(table)
  }
  return tables
}

/** Groups of rules that meet, each with lines of both directions. */
function crossingRules(rules: Rule[]): Rule[][] {
  const horizontal = rules.filter((rule) => rule.horizontal)
  const vertical = rules.filter((rule) => !rule.horizontal)
  const parents = new Map<Rule, Rule>(rules.map((rule) => [rule, rule]))
  for (const one of horizontal)
    for (const other of vertical) if (meet(one, other)) parents.set(root(parents, one), root(parents, other))
  const groups = Map.groupBy(rules, (rule) => root(parents, rule))
  return [...groups.values()].filter((group) => group.length >= 5)
}

function meet(horizontal: Rule, vertical: Rule): boolean {
  return (
    vertical.at >= horizontal.from - tolerance &&
    vertical.at <= horizontal.to + tolerance &&
    horizontal.at >= vertical.from - tolerance &&
    horizontal.at <= vertical.to + tolerance
  )
}

function root<T>(parents: Map<T, T>, item: T): T {
  let at = item
  for (let parent = parents.get(at)!; parent !== at; parent = parents.get(at)!) {
    parents.set(at, parents.get(parent)!)
    at = parent
  }
  return at
}

function readLattice(group: Rule[]): Lattice | null {
  const horizontal = group.filter((rule) => rule.horizontal)
  const vertical = group.filter((rule) => !rule.horizontal)
  // Tables without lines at their sides: where the lines of the other direction end, cells end too.
  const xs = clustered([...vertical.map(({ at }) => at), ...commonEnds(horizontal)])
  const ys = clustered([...horizontal.map(({ at }) => at), ...commonEnds(vertical)]).toReversed()
  const columns = xs.length - 1
  const rows = ys.length - 1
  if (columns < 2 || rows < 2 || columns * rows > maximumPlaces) return null

  const right = borders(vertical, xs, ys.toReversed())
  const below = borders(horizontal, ys, xs)
  const parents = new Map<number, number>()
  for (let place = 0; place < rows * columns; place += 1) parents.set(place, place)
  const join = (one: number, other: number) => {
    const [first, second] = [root(parents, one), root(parents, other)].sort((a, b) => a - b) as [number, number]
    parents.set(second, first)
  }
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < columns; column += 1) {
      const place = row * columns + column
      if (column + 1 < columns && !right.has((column + 1) * rows + (rows - 1 - row))) join(place, place + 1)
      if (row + 1 < rows && !below.has((row + 1) * columns + column)) join(place, place + columns)
    }
  return { xs, ys, cellOf: Int32Array.from({ length: rows * columns }, (_, place) => root(parents, place)) }
}

/** The outermost ends, where at least three rules share them. */
function commonEnds(rules: Rule[]): number[] {
  const first = Math.min(...rules.map(({ from }) => from))
  const last = Math.max(...rules.map(({ to }) => to))
  return [
    ...(rules.filter(({ from }) => from - first <= tolerance).length >= 3 ? [first] : []),
    ...(rules.filter(({ to }) => last - to <= tolerance).length >= 3 ? [last] : []),
  ]
}

/** Places from small to large; those close together become one. */
function clustered(values: number[]): number[] {
  const clusters: number[] = []
  for (const value of values.sort((one, other) => one - other))
    if (clusters.length === 0 || value - clusters.at(-1)! > tolerance) clusters.push(value)
  return clusters
}

/** Which stretches between two neighbours of `across` (from small to large) are drawn at which of `lines`: line * stretches + stretch. */
function borders(rules: Rule[], lines: number[], across: number[]): Set<number> {
  const covered = new Map<number, number>()
  const stretches = across.length - 1
  for (const { at, from, to } of rules) {
    // Each line is the lowest of those that were taken together.
    const line = lines.findIndex((value) => at >= value && at - value <= tolerance)
    for (let stretch = 0; stretch < stretches; stretch += 1) {
      const shared = Math.min(to, across[stretch + 1]!) - Math.max(from, across[stretch]!)
      const key = line * stretches + stretch
      if (shared > 0) covered.set(key, (covered.get(key) ?? 0) + shared)
    }
  }
  const drawn = new Set<number>()
  for (const [key, length] of covered) {
    const stretch = key % stretches
    if (length >= (across[stretch + 1]! - across[stretch]!) * borderShare) drawn.add(key)
  }
  return drawn
}

function isInside(segment: Segment, { xs, ys }: Lattice): boolean {
  const middle = (segment.top + segment.bottom) / 2
  const shared = Math.min(segment.right, xs.at(-1)!) - Math.max(segment.left, xs[0]!)
  return middle < ys[0]! && middle > ys.at(-1)! && shared > (segment.right - segment.left) * 0.5
}

/** Puts segments into the cells of a lattice; null where the result is no table. */
function fillLattice(segments: Segment[], lattice: Lattice): PdfTable | null {
  const { xs, ys, cellOf } = lattice
  const columns = xs.length - 1
  const cells = new Map<number, Segment[]>()
  const rising = ys.map((y) => -y)
  for (const segment of segments) {
    const row = bandOf(-(segment.top + segment.bottom) / 2, rising)
    const placeOf = ({ left, right }: { left: number; right: number }) =>
      cellOf[row * columns + bandOf((left + right) / 2, xs)]!
    for (const part of splitSegment(segment, placeOf) ?? [segment]) {
      const place = placeOf(part)
      const cell = cells.get(place)
      if (cell) cell.push(part)
      else cells.set(place, [part])
    }
  }
  const spans = spansOf(cellOf, columns)
  // A column of its own is one in which a cell that spans no other holds text; others come from doubled lines and wide headers.
  const alone = new Set(
    [...cells.keys()].filter((place) => spans.get(place)!.columns === 1).map((place) => place % columns),
  )
  const columnOf = (place: number) => {
    const first = place % columns
    for (let column = first; column < first + spans.get(place)!.columns; column += 1)
      if (alone.has(column)) return column
    return first
  }
  const byPlace = new Map([...cells].map(([place, cell]) => [place - (place % columns) + columnOf(place), cell]))
  const usedColumns = inOrder([...byPlace.keys()].map((place) => place % columns))
  const usedRows = inOrder([...byPlace.keys()].map((place) => Math.floor(place / columns)))
  const rows = usedRows.map((row) => usedColumns.map((column) => byPlace.get(row * columns + column) ?? []))
  const headerRows = spannedHeader([...cells.keys()], spans, usedRows, columns)
  const table: PdfTable = {
    left: xs[0]!,
    right: xs.at(-1)!,
    top: ys[0]!,
    bottom: ys.at(-1)!,
    columns: usedColumns.map((column) => ({ left: xs[column]!, right: xs[column + 1]! })),
    rows: rows.flatMap((row, index) => (index < headerRows ? [row] : partRow(row))),
    headerRows,
    segments,
  }
  return isTable(table, lattice, cells) ? table : null
}

/** How many columns and rows of the lattice the cell of each first place goes over. */
function spansOf(cellOf: Int32Array, columns: number): Map<number, { columns: number; rows: number }> {
  const spans = new Map<number, { columns: number; rows: number }>()
  for (const [place, cell] of cellOf.entries()) {
    const span = spans.get(cell) ?? { columns: 1, rows: 1 }
    span.columns = Math.max(span.columns, (place % columns) - (cell % columns) + 1)
    span.rows = Math.max(span.rows, Math.floor(place / columns) - Math.floor(cell / columns) + 1)
    spans.set(cell, span)
  }
  return spans
}

/** Rows of a header in which one name stands over several columns, and others beside it go down to the end of the header. */
function spannedHeader(
  places: number[],
  spans: Map<number, { columns: number; rows: number }>,
  usedRows: number[],
  columns: number,
): number {
  const first = places.filter((place) => Math.floor(place / columns) === usedRows[0]).map((place) => spans.get(place)!)
  if (first.length < 2 || !first.some((span) => span.columns > 1)) return 0
  const end = usedRows[0]! + Math.max(...first.map((span) => span.rows))
  const rows = usedRows.filter((row) => row < end).length
  return rows > 1 && rows <= 3 && rows < usedRows.length ? rows : 0
}

function inOrder(numbers: number[]): number[] {
  return [...new Set(numbers)].sort((one, other) => one - other)
}

/** Index of the band between two neighbours of rising `borders` in which `at` lies; the nearest one for what lies outside. */
function bandOf(at: number, borders: number[]): number {
  let low = 0
  let high = borders.length - 2
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (borders[middle]! <= at) low = middle
    else high = middle - 1
  }
  return low
}

function isTable({ rows, columns }: PdfTable, { cellOf }: Lattice, cells: Map<number, Segment[]>): boolean {
  if (columns.length < 2 || rows.length < 2) return false
  const drawn = new Set(cellOf).size
  if (drawn < cellOf.length * minimumRegularity || cells.size < drawn * minimumFilled) return false
  if (rows.filter((row) => row.filter((cell) => cell.length > 0).length >= 2).length < 2) return false
  const lengths = [...cells.values()].map((cell) => cell.reduce((sum, { text }) => sum + text.length, 0))
  const characters = lengths.reduce((sum, length) => sum + length, 0)
  const longest = Math.max(...lengths)
  if (characters / lengths.length > maximumUsualCell || (longest > 1_500 && longest > characters / 2)) return false
  // Columns that no line parts: the gaps between the texts say more than these lines.
  return [...cells.values()].filter(hasWideRows).length < cells.size * 0.3
}
