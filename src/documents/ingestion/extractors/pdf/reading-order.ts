import { isSideBySide, median, type Segment } from './segment.ts'

/** A line of text: the segments side by side, in reading order. */
export interface Line {
  segments: Segment[]
  left: number
  right: number
  bottom: number
  top: number
  size: number
}

/** Fewest lines on each side for a gutter to count as one between columns. */
const minimumColumnLines = 3
/** Most of a page's segments that may cross a gutter (titles, figures over both columns). */
const maximumCrossing = 0.25
/** Lines of running text fill their column at least this much, and hold at least this many characters; table cells do not. */
const minimumFill = 0.5
const minimumLineCharacters = 14
/** Pages with more pieces than this (drawings, maps) keep the order of their content stream: geometry would take too long. */
const maximumGeometrySegments = 5_000
/** Beyond this share of jumps upwards the content stream is not in reading order. */
const maximumJumps = 0.3

/**
 * Puts a page's segments in reading order. Producers mostly write the content stream in reading order, and then it is better
 * than any geometry (tables, sidebars, captions); geometry replaces it only where the page shows that it is wrong.
 */
export function readingOrder(segments: Segment[], gutter = findGutter(segments)): Line[] {
  if (segments.length > maximumGeometrySegments) return toLines(segments)
  if (gutter !== null) return followsColumns(segments, gutter) ? toLines(segments) : columnOrder(segments, gutter)
  return toLines(jumpsUpwards(segments) ? rowOrder(segments) : segments)
}

/** The x of a gutter between two columns of running text, or null. */
export function findGutter(segments: Segment[]): number | null {
  if (segments.length < minimumColumnLines * 2 || segments.length > maximumGeometrySegments) return null
  const left = Math.min(...segments.map((segment) => segment.left))
  const right = Math.max(...segments.map((segment) => segment.right))
  const width = right - left
  let best: { x: number; crossing: number; gap: number } | null = null
  for (const x of gutterCandidates(segments, left + width * 0.15, right - width * 0.15)) {
    let crossing = 0
    for (const segment of segments) if (segment.left < x && segment.right > x) crossing += 1
    if (crossing > segments.length * maximumCrossing) continue
    const before = segments.filter((segment) => segment.right <= x)
    const after = segments.filter((segment) => segment.left >= x)
    if (!isRunningText(before) || !isRunningText(after) || !standSideBySide(before, after)) continue
    const gap = Math.min(...after.map((segment) => segment.left)) - Math.max(...before.map((segment) => segment.right))
    if (!best || crossing < best.crossing || (crossing === best.crossing && gap > best.gap)) best = { x, crossing, gap }
  }
  return best?.x ?? null
}

/** Just left of where several segments begin. */
function gutterCandidates(segments: Segment[], from: number, to: number): number[] {
  const starts = new Map<number, number>()
  for (const segment of segments) {
    const x = Math.floor(segment.left - 1)
    if (x > from && x < to) starts.set(x, (starts.get(x) ?? 0) + 1)
  }
  return [...starts]
    .filter(([, count]) => count >= minimumColumnLines)
    .sort((one, other) => other[1] - one[1])
    .slice(0, 12)
    .map(([x]) => x)
}

function isRunningText(column: Segment[]): boolean {
  if (column.length < minimumColumnLines) return false
  const width = Math.max(...column.map((segment) => segment.right)) - Math.min(...column.map((segment) => segment.left))
  const fill = median(column.map((segment) => segment.right - segment.left)) / width
  return fill >= minimumFill && median(column.map((segment) => segment.text.length)) >= minimumLineCharacters
}

function standSideBySide(before: Segment[], after: Segment[]): boolean {
  const overlap = Math.min(highest(before), highest(after)) - Math.max(lowest(before), lowest(after))
  const lower = Math.min(highest(before) - lowest(before), highest(after) - lowest(after))
  return overlap > lower * 0.5
}

/**
 * True when the content stream reads one column before the other. False where it goes back and forth over the gutter, as
 * writers do that go line by line over both columns, where it goes up inside a column, or takes the second column first.
 */
function followsColumns(segments: Segment[], gutter: number): boolean {
  let switches = 0
  let upwards = 0
  let side: 'left' | 'right' | null = null
  let previous: Segment | null = null
  const places = { left: [] as number[], right: [] as number[] }
  for (const [place, segment] of segments.entries()) {
    const now = segment.right <= gutter ? 'left' : segment.left >= gutter ? 'right' : null
    if (now === null) continue
    if (side !== null && now !== side) switches += 1
    if (now === side && previous && segment.bottom > previous.top) upwards += 1
    places[now].push(place)
    side = now
    previous = segment
  }
  const [first, second] = isRightToLeft(segments) ? [places.right, places.left] : [places.left, places.right]
  return (
    switches <= 4 + segments.length * 0.1 && upwards <= segments.length * maximumJumps && median(first) < median(second)
  )
}

/** Bands between the lines that cross the gutter, and in each band the left column, then the right one. */
function columnOrder(segments: Segment[], gutter: number): Line[] {
  const crossing = rowOrder(segments.filter((segment) => segment.left < gutter && segment.right > gutter))
  const crossingSet = new Set(crossing)
  let rest = segments.filter((segment) => !crossingSet.has(segment))
  const lines: Line[] = []
  const rightToLeft = isRightToLeft(segments)
  const takeBand = (above: number) => {
    const band = rest.filter((segment) => middle(segment) > above)
    rest = rest.filter((segment) => middle(segment) <= above)
    const left = band.filter((segment) => segment.right <= gutter)
    const right = band.filter((segment) => segment.right > gutter)
    for (const column of rightToLeft ? [right, left] : [left, right]) lines.push(...wholeColumn(column))
  }
  for (const segment of crossing) {
    takeBand(middle(segment))
    lines.push(...toLines([segment]))
  }
  takeBand(-Infinity)
  return lines
}

/** A side of a gutter may have another gutter: pages of three columns. */
function wholeColumn(segments: Segment[]): Line[] {
  const gutter = findGutter(segments)
  return gutter === null ? toLines(rowOrder(segments)) : columnOrder(segments, gutter)
}

const rightToLeftLetter = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

export function isRightToLeft(segments: Segment[]): boolean {
  if (!segments.some(({ text }) => rightToLeftLetter.test(text))) return false
  const text = segments.map((segment) => segment.text).join('')
  const rightToLeft = text.match(new RegExp(rightToLeftLetter, 'g'))?.length ?? 0
  return rightToLeft > text.length * 0.3
}

function jumpsUpwards(segments: Segment[]): boolean {
  let jumps = 0
  for (let index = 1; index < segments.length; index += 1)
    if (segments[index]!.bottom > segments[index - 1]!.top) jumps += 1
  return segments.length >= 4 && jumps > segments.length * maximumJumps
}

/** From the top down; segments at one height from left to right (or right to left). */
function rowOrder(segments: Segment[]): Segment[] {
  const rows = visualRows(segments)
  if (!isRightToLeft(segments)) return rows.flat()
  // Latin text keeps its own direction; rows of numbers follow the page.
  return rows.flatMap((row) =>
    row.some(({ text }) => rightToLeftLetter.test(text) || !/\p{L}/u.test(text)) ? row.toReversed() : row,
  )
}

/** Segments at one height, from left to right; rows from the top down. */
export function visualRows(segments: Segment[]): Segment[][] {
  const rows: Segment[][] = []
  for (const segment of segments.toSorted((one, other) => middle(other) - middle(one))) {
    const row = rows.at(-1)
    if (row && isSideBySide(row[0]!, segment)) row.push(segment)
    else rows.push([segment])
  }
  return rows.map((row) => row.sort((one, other) => one.left - other.left))
}

/** Joins neighbours at one height into lines, in the given order. */
function toLines(segments: Segment[]): Line[] {
  const lines: Line[] = []
  for (const segment of segments) {
    const line = lines.at(-1)
    const last = line?.segments.at(-1)
    if (line && last && !last.hyphenated && !last.table && !segment.table && isSideBySide(last, segment)) {
      line.segments.push(segment)
      line.left = Math.min(line.left, segment.left)
      line.right = Math.max(line.right, segment.right)
      line.bottom = Math.min(line.bottom, segment.bottom)
      line.top = Math.max(line.top, segment.top)
    } else {
      const { left, right, bottom, top, size } = segment
      lines.push({ segments: [segment], left, right, bottom, top, size })
    }
  }
  return lines
}

function middle(segment: Segment): number {
  return (segment.top + segment.bottom) / 2
}

function highest(segments: Segment[]): number {
  return Math.max(...segments.map((segment) => segment.top))
}

function lowest(segments: Segment[]): number {
  return Math.min(...segments.map((segment) => segment.bottom))
}
