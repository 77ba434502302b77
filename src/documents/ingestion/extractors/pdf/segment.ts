import { logicalOrder } from './bidi.ts'
import type { PdfCharacter } from './character.ts'
import { isBlank, joinSpacedLetters, textOf } from './letters.ts'

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
  characters: PdfCharacter[]
  /** True where it has gaps that may separate the columns of a narrow table. */
  hasNarrowGaps: boolean
  /** True on a page whose text is mostly written from right to left. */
  onRightToLeftPage?: boolean
  /** Set where it stands for a whole table. */
  table?: PdfTable
}

/** Null where the characters are only blanks. `bold`, `hyphenated` and `hasNarrowGaps` are false until the caller sets them. */
export function toSegment(given: PdfCharacter[], onRightToLeftPage = false): Segment | null {
  const characters = logicalOrder(given, onRightToLeftPage)
  let left = Infinity
  let right = -Infinity
  let bottom = Infinity
  let top = -Infinity
  const heights: number[] = []
  for (const character of characters) {
    if (isBlank(character)) continue
    left = Math.min(left, character.left)
    right = Math.max(right, character.right)
    bottom = Math.min(bottom, character.bottom)
    top = Math.max(top, character.top)
    heights.push(character.top - character.bottom)
  }
  if (left === Infinity) return null
  const text = textOf(joinSpacedLetters(characters))
  return {
    text,
    left,
    right,
    bottom,
    top,
    size: usualHeight(heights),
    bold: false,
    hyphenated: false,
    hasNarrowGaps: false,
    onRightToLeftPage,
    characters,
  }
}

/** The median, to a quarter of a unit; most lines have only one height. */
function usualHeight(heights: number[]): number {
  const first = heights[0]!
  const isUniform = heights.every((height) => Math.abs(height - first) < 0.1)
  const usual = isUniform ? first : heights.sort((one, other) => one - other)[Math.floor(heights.length / 2)]!
  return Math.round(usual * 4) / 4
}

/** True for pieces of text at one height. */
export function isSideBySide(one: Segment, other: Segment): boolean {
  const overlap = Math.min(one.top, other.top) - Math.max(one.bottom, other.bottom)
  return overlap > Math.min(one.top - one.bottom, other.top - other.bottom) * 0.6
}
