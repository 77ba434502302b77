import { findAlignedTables, type AlignedOptions } from './aligned-tables.ts'
import { PdfCharacters } from '../character.ts'
import type { Segment } from '../segment.ts'
import { splitAtNarrowGaps } from '../split-segments.ts'
import { findRuledTables } from './ruled-tables.ts'
import type { Rule } from './drawn-rules.ts'
import type { PdfTable } from '../segment.ts'
import { alignedLimits } from './thresholds.ts'

/**
 * Finds the tables of a page and replaces the segments of each by one segment that holds the table, at the place of its first segment.
 * `gutter` is the x between two columns of running text, or null. Returns the same array where there is no table.
 */
export function withTables(segments: Segment[], rules: Rule[], gutter: number | null): Segment[] {
  const owners = new Map<Segment, PdfTable>()
  const own = (tables: PdfTable[]) => {
    for (const table of tables) for (const segment of table.segments) owners.set(segment, table)
  }
  const free = (from = -Infinity, to = Infinity) =>
    segments.filter((segment) => segment.left >= from && segment.right <= to && !owners.has(segment))
  own(findRuledTables(segments, rules))
  if (segments.length > alignedLimits.segments) return substitute(segments, owners)
  // First tables over both columns of a page, then tables inside one of them.
  for (const find of [findCloseTables, findAlignedTables]) {
    own(find(free(), rules, { dropsProse: gutter === null }))
    if (gutter === null) continue
    own(find(free(-Infinity, gutter), rules, { dropsProse: true }))
    own(find(free(gutter), rules, { dropsProse: true }))
  }
  return substitute(segments, owners)
}

/** Tables with gaps between their columns that are hardly wider than blanks. */
function findCloseTables(segments: Segment[], rules: Rule[], options: AlignedOptions): PdfTable[] {
  const origins = new Map<Segment, Segment>()
  const parts = new Map<Segment, number>()
  for (const segment of segments) {
    const pieces = splitAtNarrowGaps(segment)
    if (!pieces) continue
    parts.set(segment, pieces.length)
    for (const piece of pieces) origins.set(piece, segment)
  }
  if (origins.size === 0 || origins.size > alignedLimits.segments) return []
  const pieces = [...segments.filter((segment) => !parts.has(segment)), ...origins.keys()]
  return findAlignedTables(pieces, rules, options).flatMap((table) => {
    const counts = new Map<Segment, number>()
    for (const piece of table.segments) {
      const origin = origins.get(piece)
      if (origin) counts.set(origin, (counts.get(origin) ?? 0) + 1)
    }
    // A segment that is only partly in the grid shows that the grid is no table.
    if ([...counts].some(([origin, count]) => count < parts.get(origin)!)) return []
    return [{ ...table, segments: [...new Set(table.segments.map((piece) => origins.get(piece) ?? piece))] }]
  })
}

function substitute(segments: Segment[], owners: Map<Segment, PdfTable>): Segment[] {
  if (owners.size === 0) return segments
  const placed = new Set<PdfTable>()
  return segments.flatMap((segment) => {
    const table = owners.get(segment)
    if (!table) return [segment]
    if (placed.has(table)) return []
    placed.add(table)
    return [tableSegment(table)]
  })
}

function tableSegment(table: PdfTable): Segment {
  const { left, right, bottom, top, segments } = table
  const sizes = segments.map(({ size }) => size).sort((one, other) => one - other)
  return {
    text: segments.map(({ text }) => text).join(' '),
    left,
    right,
    bottom,
    top,
    size: sizes[Math.floor(sizes.length / 2)]!,
    bold: false,
    hyphenated: false,
    characters: PdfCharacters.none,
    hasNarrowGaps: false,
    table,
  }
}
