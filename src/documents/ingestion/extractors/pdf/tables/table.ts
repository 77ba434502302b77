import type { Segment } from '../segment.ts'

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

/** True for numbers, amounts, shares and dates: digits, and no letters. */
export function isNumber(text: string): boolean {
  return /^[^\p{L}]*\d[^\p{L}]*$/u.test(text)
}
