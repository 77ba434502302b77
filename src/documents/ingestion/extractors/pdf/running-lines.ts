import type { Segment } from './segment.ts'
import { sentenceEnd } from './paragraphs.ts'
import type { Line } from './reading-order.ts'

/** The lines of a page in reading order, and those that are turned against it. */
export interface PageLines {
  page: number
  lines: Line[]
  asides: Line[]
}

/** A page without its running heads and feet. */
export interface BodyLines extends PageLines {
  /** Running lines that were not seen before: text, but no heading. */
  firstSeen: Line[]
}

/** Pages before and after a page that its lines are compared with. */
const windowPages = 6
/** Other pages of the window on which a line must recur, so that a title on two pages stays. */
const minimumRecurrences = 2
/** Page numbers prove a line with changing words from this many pages on. */
const minimumNumberedPages = 5
/** Rows at each end of a page that may be running. */
const edgeRows = 3
const maximumCharacters = 300
/** Units (1/72 inch) by which a running line may move between pages. */
const tolerance = 3
/** A gap wider than the line distance of the text by this factor separates running lines from the text. */
const widerGap = 1.25
/** A page keeps lines that would take more than this share of its text. */
const maximumShare = 0.5
/** Running lines that are remembered, so that each is text once. */
const maximumRemembered = 5_000

interface Entry {
  page: number
  line: Line
  zone: 'top' | 'bottom' | 'aside'
  /** Rows counted from the page's edge. */
  row: number
  middle: number
  /** The text with its numbers replaced. */
  key: string
  /** The numbers that the key replaces. */
  numbers: number[]
  /** Differences between the numbers at the line's ends and the page. */
  offsets: number[]
}

interface Row {
  middle: number
  size: number
  bold: boolean
  text: string
  isNumber: boolean
}

interface KnownPage extends PageLines {
  entries: Entry[]
  /** The first rows from each edge. */
  rows: { top: Row[]; bottom: Row[] }
}

/**
 * Separates running heads, feet and print slugs from the text: lines at the edge of a page that recur at the same place of the
 * pages around it, with other numbers. Pages come out `windowPages` later than they go in.
 */
export function createRunningLineFilter() {
  const known: KnownPage[] = []
  const remembered = new Set<string>()
  let next = 0

  function* release(from: number): Generator<BodyLines> {
    for (; next < from; next += 1) yield separate(known[next]!)
    // Pages that no later one is compared with are let go.
    const kept = Math.max(0, next - windowPages)
    known.splice(0, kept)
    next -= kept
  }

  function separate(current: KnownPage): BodyLines {
    const others = known.filter(({ page }) => page !== current.page && Math.abs(page - current.page) <= windowPages)
    const running = runningLines(current, others)
    const { page, lines, asides } = current
    if (running.size === 0) return { page, lines, asides, firstSeen: [] }
    const firstSeen: Line[] = []
    for (const [line, key] of running) {
      if (!/\p{L}/u.test(key.replace(/#/g, '')) || remembered.has(key)) continue
      if (remembered.size < maximumRemembered) remembered.add(key)
      firstSeen.push(line)
    }
    const isBody = (line: Line) => !running.has(line)
    return { page, lines: lines.filter(isBody), asides: asides.filter(isBody), firstSeen }
  }

  return {
    *push(page: PageLines): Generator<BodyLines> {
      known.push({ ...page, ...edgesOf(page) })
      yield* release(known.length - windowPages)
    },
    *end(): Generator<BodyLines> {
      yield* release(known.length)
    },
  }
}

/** What makes a running line the same as an earlier one: its words, and its numbers apart from those that count pages. */
function identityOf(entry: Entry, others: KnownPage[]): string {
  const { key, numbers } = entry
  if (numbers.length === 0 || numbers.length > maximumCounts) return key
  const same = others.flatMap(({ entries }) => entries.filter((other) => other.key === key))
  const kept = numbers.filter((_, at) => !same.some((other) => followsPages(entry, other, at)))
  return [key, ...kept].join(' ')
}

/** The running lines of a page with what identifies them. */
function runningLines(current: KnownPage, others: KnownPage[]): Map<Line, string> {
  const found = new Set(current.entries.filter((entry) => recurs(entry, others)))
  if (found.size === 0) return new Map()
  // What is next to a running line is part of it: a chapter's name next to the page number.
  for (const entry of current.entries)
    if ([...found].some((other) => other.zone === entry.zone && Math.abs(other.middle - entry.middle) < tolerance))
      found.add(entry)
  const running = new Map<Line, string>()
  for (const zone of ['top', 'bottom'] as const) {
    const entries = current.entries.filter((entry) => entry.zone === zone)
    let rows = 0
    for (; rows < edgeRows; rows += 1) {
      const inRow = entries.filter((entry) => entry.row === rows)
      if (inRow.length === 0 || !inRow.every((entry) => found.has(entry))) break
    }
    // Lines that are set like the text next to them are text.
    while (rows > 0 && (!isSetApart(current.rows[zone], rows) || isTextOf(current.rows[zone], rows, zone))) rows -= 1
    for (const entry of entries) if (entry.row < rows) running.set(entry.line, identityOf(entry, others))
  }
  for (const entry of found) if (entry.zone === 'aside') running.set(entry.line, identityOf(entry, others))
  const all = lengthOf(current.lines) + lengthOf(current.asides)
  return lengthOf(running.keys()) > maximumShare * all ? new Map() : running
}

/** Of the text of lines, as UTF-16 units. */
function lengthOf(lines: Iterable<Line>): number {
  let length = 0
  for (const { segments } of lines) {
    length += segments.length - 1
    for (const { text } of segments) length += text.length
  }
  return length
}

/** True where the gap after so many rows is wider than the one after the next row, or the text has another size. */
function isSetApart(all: Row[], rows: number): boolean {
  const [before, after, next] = all.slice(rows - 1, rows + 2)
  if (!before || !after || !next || before.isNumber || Math.abs(before.size - after.size) > 0.5) return true
  return Math.abs(before.middle - after.middle) > Math.abs(after.middle - next.middle) * widerGap
}

/** Lines of one text are at most this many times their size apart, and a heading and its text this many times. */
const lineDistance = 1.6
const headingDistance = 2.5

/** True where the last of so many rows and the row behind it are one sentence, or a heading and its text. */
function isTextOf(all: Row[], rows: number, zone: 'top' | 'bottom'): boolean {
  const [before, after] = all.slice(rows - 1, rows + 1)
  if (!before || !after || before.isNumber) return false
  const [first, second] = zone === 'top' ? [before, after] : [after, before]
  const distance = Math.abs(before.middle - after.middle) / Math.max(before.size, after.size)
  const sizes = first.size / second.size
  const isHeading =
    zone === 'bottom' && (sizes >= 1.15 || (first.bold && !second.bold)) && !sentenceEnd.test(first.text)
  if (isHeading && distance <= headingDistance) return true
  return (
    distance <= lineDistance &&
    Math.abs(sizes - 1) < 0.2 &&
    !sentenceEnd.test(first.text) &&
    /^\p{Ll}/u.test(second.text)
  )
}

function recurs(entry: Entry, others: KnownPage[]): boolean {
  let same = 0
  let numbered = 0
  for (const { entries } of others) {
    let hasSame = false
    let hasNumbered = false
    for (const other of entries) {
      if (!isNear(entry, other)) continue
      hasSame ||= other.key === entry.key && countsPages(entry, other)
      hasNumbered ||= other.offsets.some((offset) => entry.offsets.includes(offset))
    }
    if (hasSame) same += 1
    if (hasNumbered) numbered += 1
  }
  return same >= minimumRecurrences || numbered >= minimumNumberedPages - 1
}

/** True for lines at the same place of their pages. */
function isNear(entry: Entry, other: Entry): boolean {
  return (
    other.zone === entry.zone &&
    Math.abs(other.middle - entry.middle) < tolerance &&
    Math.abs(other.line.size - entry.line.size) < 1
  )
}

/** Lines with more numbers are print slugs, with times and the numbers of jobs. */
const maximumCounts = 3

/** True if the numbers of two lines are the same, or differ as their pages do: "Article 4" and "Article 7" of neighbours are text. */
function countsPages(entry: Entry, other: Entry): boolean {
  return (
    entry.numbers.length > maximumCounts ||
    entry.numbers.every((number, at) => number === other.numbers[at] || followsPages(entry, other, at))
  )
}

function followsPages(entry: Entry, other: Entry, at: number): boolean {
  return entry.numbers[at]! - (other.numbers[at] ?? NaN) === entry.page - other.page
}

function edgesOf(page: PageLines): Pick<KnownPage, 'entries' | 'rows'> {
  const byHeight = page.lines.toSorted((one, other) => middleOf(other) - middleOf(one))
  const top = edge(byHeight, 'top', page.page)
  const bottom = edge(byHeight.toReversed(), 'bottom', page.page)
  const asides = page.asides.slice(0, 20).flatMap((line) => entryOf(line, 'aside', 0, page.page) ?? [])
  return { entries: [...top.entries, ...bottom.entries, ...asides], rows: { top: top.rows, bottom: bottom.rows } }
}

function edge(lines: Line[], zone: 'top' | 'bottom', page: number): { entries: Entry[]; rows: Row[] } {
  const entries: Entry[] = []
  const rows: Row[] = []
  let isEdge = true
  for (const line of lines) {
    const middle = middleOf(line)
    if (rows.length === 0 || Math.abs(middle - rows.at(-1)!.middle) > line.size * 0.5) rows.push(rowOf(line))
    else rows.at(-1)!.text += ` ${lineText(line)}`
    // Two rows more show how the text is set.
    if (rows.length > edgeRows + 2) break
    const entry = isEdge && rows.length <= edgeRows ? entryOf(line, zone, rows.length - 1, page) : null
    if (entry) entries.push(entry)
    else isEdge = false
  }
  return { entries, rows }
}

function rowOf(line: Line): Row {
  const text = lineText(line)
  const bold = line.segments.every((segment) => segment.bold)
  // Most lines have a letter that no Roman number has.
  const isNumber = !/[abe-hjkn-uwyz]/i.test(text) && !/\p{L}/u.test(keyOf(text).key)
  return { middle: middleOf(line), size: line.size, bold, text, isNumber }
}

function entryOf(line: Line, zone: Entry['zone'], row: number, page: number): Entry | null {
  const text = lineText(line)
  if (line.segments.some(({ table }) => table) || text.length > maximumCharacters) return null
  const offsets = numbersOf(text).map((number) => number - page)
  return { page, line, zone, row, middle: middleOf(line), ...keyOf(text), offsets }
}

const roman = /^[ivxlcdm]{1,8}$/i

/** The text in lower case with `#` for each number, Roman ones at its ends too. */
function keyOf(text: string): { key: string; numbers: number[] } {
  const numbers: number[] = []
  const words = text.normalize('NFKC').toLowerCase().split(/\s+/).filter(Boolean)
  const replaced = words.map((word, index) => {
    if ((index === 0 || index === words.length - 1) && roman.test(word)) {
      numbers.push(romanValue(word))
      return '#'
    }
    return word.replace(/\p{N}+/gu, (digits) => {
      numbers.push(Number(digits))
      return '#'
    })
  })
  return { key: replaced.join(' '), numbers }
}

/** Numbers at the ends of a line, Roman ones too. */
function numbersOf(text: string): number[] {
  const words = text
    .normalize('NFKC')
    .split(/[\s|–—-]+/)
    .filter(Boolean)
  return [words[0], words.at(-1)].flatMap((word = '') => {
    if (/^\d{1,5}$/.test(word)) return [Number(word)]
    return roman.test(word) ? [romanValue(word)] : []
  })
}

function romanValue(word: string): number {
  const values: Record<string, number> = { i: 1, v: 5, x: 10, l: 50, c: 100, d: 500, m: 1000 }
  let value = 0
  let previous = 0
  for (const letter of [...word.toLowerCase()].toReversed()) {
    const own = values[letter] ?? 0
    value += own < previous ? -own : own
    previous = Math.max(previous, own)
  }
  return value
}

function middleOf(line: Line): number {
  return (line.top + line.bottom) / 2
}

function lineText({ segments }: Line): string {
  return segments.length === 1 ? segments[0]!.text : segments.map(({ text }) => text).join(' ')
}

/** Fewest numbers of a strip that counts a page's lines. */
const minimumStripNumbers = 10
/** Share of the lines next to a strip that begin in lower case, as prose does and lists and tables do not. */
const minimumProse = 0.3

/** The segments without the numbers that count the lines at the side of a page of prose. */
export function withoutLineNumbers(segments: Segment[]): Segment[] {
  const numbers = segments.filter(({ text }) => text.length <= 4 && /^\d{1,4}$/.test(text))
  if (numbers.length < minimumStripNumbers || numbers.length === segments.length) return segments
  const dropped = new Set<Segment>()
  for (const side of ['left', 'right'] as const)
    for (const strip of alignedBy(side, numbers))
      if (isLineCount(strip, segments)) for (const segment of strip) dropped.add(segment)
  return dropped.size === 0 ? segments : segments.filter((segment) => !dropped.has(segment))
}

function alignedBy(side: 'left' | 'right', numbers: Segment[]): Iterable<Segment[]> {
  const strips = new Map<number, Segment[]>()
  for (const segment of numbers) {
    const at = Math.round(segment[side] / 4)
    for (const near of [at, at + 1]) {
      const strip = strips.get(near) ?? []
      strip.push(segment)
      strips.set(near, strip)
    }
  }
  return strips.values()
}

function isLineCount(strip: Segment[], segments: Segment[]): boolean {
  if (strip.length < minimumStripNumbers) return false
  const ordered = strip.toSorted((one, other) => other.top - one.top)
  const steps = ordered.slice(1).map(({ text }, index) => Number(text) - Number(ordered[index]!.text))
  const step = steps[0]!
  if ((step !== 1 && step !== 5) || !steps.every((other) => other === step)) return false
  const left = Math.min(...ordered.map((segment) => segment.left))
  const right = Math.max(...ordered.map((segment) => segment.right))
  const others = segments.filter((segment) => !/^\d{1,4}$/.test(segment.text))
  if (
    others.some(
      (segment) =>
        segment.left < right &&
        segment.right > left &&
        segment.top > ordered.at(-1)!.bottom &&
        segment.bottom < ordered[0]!.top,
    )
  )
    return false
  let prose = 0
  let neighbours = 0
  // Both lists run from the top down, so that one walk over them finds the neighbours.
  const byHeight = others.toSorted((one, other) => other.top - one.top)
  let at = 0
  for (const number of ordered) {
    while (at < byHeight.length && byHeight[at]!.bottom > number.top) at += 1
    const line = byHeight[at]
    if (!line || line.top < number.bottom) continue
    neighbours += 1
    if (/^\p{Ll}/u.test(line.text)) prose += 1
  }
  return neighbours >= minimumStripNumbers / 2 && prose >= neighbours * minimumProse
}
