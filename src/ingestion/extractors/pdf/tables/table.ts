import { isBeside, type Segment } from '../segment.ts'

/** A table on one page. */
export interface PdfTable {
  left: number
  right: number
  bottom: number
  top: number
  /** From left to right. */
  columns: { left: number; right: number }[]
  /** From the top down; each has a cell for every column, empty where nothing stands in it. */
  rows: Segment[][][]
  /** How many of the first rows are shown to be its header by a line below them; 0 where nothing shows it. */
  headerRows: number
  /** Everything that went into it, as it stood on the page. */
  segments: Segment[]
}

/** True where pieces stand side by side with a wide gap between them. */
export function hasWideRows(cell: Segment[]): boolean {
  return cell.some((segment, index) => {
    const next = cell[index + 1]
    return next !== undefined && isBeside(segment, next)
  })
}

/** True for numbers, amounts, shares and dates: digits, and no letters. */
export function isNumber(text: string): boolean {
  return /^[^\p{L}]*\d[^\p{L}]*$/u.test(text)
}
