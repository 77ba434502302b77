import type { Segment } from '../segment.ts'
import { splitSegment } from '../split-segments.ts'
import type { Rule } from './drawn-rules.ts'
import { splitRow } from './logical-rows.ts'
import type { PdfTable } from '../segment.ts'
import { ruledLimits } from './thresholds.ts'

interface Lattice {
  /** Lines of the grid from left to right, and from the top down. */
  xs: number[]
  ys: number[]
  /** For each place, row by row, the first place of the cell that it belongs to. */
  cellOf: Int32Array
}

/** Tables whose cells are separated by drawn lines. */
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
    vertical.at >= horizontal.from - ruledLimits.tolerance &&
    vertical.at <= horizontal.to + ruledLimits.tolerance &&
    horizontal.at >= vertical.from - ruledLimits.tolerance &&
    horizontal.at <= vertical.to + ruledLimits.tolerance
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
  if (columns < 2 || rows < 2 || columns * rows > ruledLimits.cells) return null

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
    ...(rules.filter(({ from }) => from - first <= ruledLimits.tolerance).length >= 3 ? [first] : []),
    ...(rules.filter(({ to }) => last - to <= ruledLimits.tolerance).length >= 3 ? [last] : []),
  ]
}

/** Places from small to large; those close together become one. */
function clustered(values: number[]): number[] {
  const clusters: number[] = []
  for (const value of values.sort((one, other) => one - other))
    if (clusters.length === 0 || value - clusters.at(-1)! > ruledLimits.tolerance) clusters.push(value)
  return clusters
}

/** Which stretches between two neighbours of `across` (from small to large) are drawn at which of `lines`: line * stretches + stretch. */
function borders(rules: Rule[], lines: number[], across: number[]): Set<number> {
  const covered = new Map<number, number>()
  const stretches = across.length - 1
  for (const { at, from, to } of rules) {
    // Each line is the lowest of those that were taken together.
    const line = lines.findIndex((value) => at >= value && at - value <= ruledLimits.tolerance)
    for (let stretch = 0; stretch < stretches; stretch += 1) {
      const shared = Math.min(to, across[stretch + 1]!) - Math.max(from, across[stretch]!)
      const key = line * stretches + stretch
      if (shared > 0) covered.set(key, (covered.get(key) ?? 0) + shared)
    }
  }
  const drawn = new Set<number>()
  for (const [key, length] of covered) {
    const stretch = key % stretches
    if (length >= (across[stretch + 1]! - across[stretch]!) * ruledLimits.border) drawn.add(key)
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
  const usedColumns = inOrder([...cells.keys()].map((place) => place % columns))
  const usedRows = inOrder([...cells.keys()].map((place) => Math.floor(place / columns)))
  const rows = usedRows.map((row) => usedColumns.map((column) => cells.get(row * columns + column) ?? []))
  const table: PdfTable = {
    left: xs[0]!,
    right: xs.at(-1)!,
    top: ys[0]!,
    bottom: ys.at(-1)!,
    columns: usedColumns.map((column) => ({ left: xs[column]!, right: xs[column + 1]! })),
    rows: rows.flatMap(splitRow),
    segments,
  }
  return isTable(table, lattice, cells) ? table : null
}

function inOrder(numbers: number[]): number[] {
  return [...new Set(numbers)].sort((one, other) => one - other)
}

/** Index of the band between two neighbours of rising `borders` that contains `at`; the nearest one for a value outside. */
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
  // The boxes of a slide's theme: nothing is next to anything.
  if (!rows.some((row) => row.filter((cell) => cell.length > 0).length > 1)) return false
  const drawn = new Set(cellOf).size
  if (drawn < cellOf.length * ruledLimits.regular || cells.size < drawn * ruledLimits.filled) return false
  const lengths = [...cells.values()].map((cell) => cell.reduce((sum, { text }) => sum + text.length, 0))
  const characters = lengths.reduce((sum, length) => sum + length, 0)
  const longest = Math.max(...lengths)
  return (
    characters / lengths.length <= ruledLimits.characters &&
    (longest <= ruledLimits.longestCell || longest <= characters / 2)
  )
}
