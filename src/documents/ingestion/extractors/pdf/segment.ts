import { logicalOrder } from './bidi.ts'
import type { PdfCharacters } from './character.ts'
import { partFootnoteMark, textOf } from './letters.ts'

/** A table on one page. */
export interface PdfTable {
  left: number
  right: number
  bottom: number
  top: number
  /** From left to right. */
  columns: { left: number; right: number }[]
  /** From the top down; each has a cell for every column, empty where it has no text. */
  rows: Segment[][][]
  /** All its segments, as they were on the page. */
  segments: Segment[]
}

/** A stretch of text on one line without a wide gap in it, in the direction of its writing: x along the line, y upwards. */
export interface Segment {
  text: string
  left: number
  right: number
  bottom: number
  top: number
  /** Height of its usual character box: the measure of the font size. */
  size: number
  bold: boolean
  /** True when the line ends in a hyphen that splits a word. */
  hyphenated: boolean
  /** Its characters, so that it can be split at the columns of a table. */
  characters: PdfCharacters
  /** True where it has gaps that may separate the columns of a narrow table. */
  hasNarrowGaps: boolean
  /** True on a page whose text is mostly written from right to left. */
  onRightToLeftPage?: boolean
  /** Set where it stands for a whole table. */
  table?: PdfTable
}

/** Null where the characters are only blanks. `bold`, `hyphenated` and `hasNarrowGaps` are false until the caller sets them. */
export function toSegment(given: PdfCharacters, onRightToLeftPage = false): Segment | null {
  const characters = partFootnoteMark(logicalOrder(given, onRightToLeftPage))
  const extent = characters.extent()
  if (extent === null) return null
  const { left, right, bottom, top, height } = extent
  const text = textOf(characters)
  return {
    text,
    left,
    right,
    bottom,
    top,
    // The median, to a quarter of a unit; most lines have only one height.
    size: Math.round((height ?? median(heightsOf(characters))) * 4) / 4,
    bold: false,
    hyphenated: false,
    hasNarrowGaps: false,
    onRightToLeftPage,
    characters,
  }
}

function heightsOf(characters: PdfCharacters): number[] {
  const heights: number[] = []
  for (let at = 0; at < characters.length; at += 1)
    if (!characters.isBlank(at)) heights.push(characters.top(at) - characters.bottom(at))
  return heights
}

/** The upper one of two in the middle; 0 where there are no values. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}

type Height = Pick<Segment, 'bottom' | 'top'>

/** True for pieces of text at one height. */
export function isSideBySide(one: Height, other: Height): boolean {
  const overlap = Math.min(one.top, other.top) - Math.max(one.bottom, other.bottom)
  return overlap > Math.min(one.top - one.bottom, other.top - other.bottom) * 0.6
}
