import { looksLikeHeader } from '../../csv-dialect.ts'
import type { Segment } from '../segment.ts'
import type { Rule } from './drawn-rules.ts'
import { isNumber } from './table.ts'
import { alignedLimits } from './thresholds.ts'

/** A row of text lines that may be one of a table, its cells in the order of the grid's columns. */
export interface GridRow {
  cells: Segment[][]
  /** Its pieces as they are on the page. */
  segments: Segment[]
  top: number
  bottom: number
  size: number
}

/** Rows that share columns. */
export interface Grid {
  /** Index of the first row among those of the page. */
  from: number
  columns: { left: number; right: number }[]
  rows: GridRow[]
}

export type Verdict =
  | { kind: 'table'; rules: Rule[] }
  /** It has columns of running text; their indexes. */
  | { kind: 'prose'; prose: Set<number> }
  | { kind: 'nothing' }

/** Decides whether texts in columns are a table. In doubt they are not: a table read as lines loses less than prose read as cells. */
export function classifyGrid(grid: Grid, rules: Rule[]): Verdict {
  const { columns, rows } = grid
  const nothing: Verdict = { kind: 'nothing' }
  if (rows.length < 2 || columns.length < 2) return nothing
  const prose = columns.flatMap((_, column) => (isRunningText(rows, column) ? [column] : []))
  if (prose.length > 0) return { kind: 'prose', prose: new Set(prose) }

  const texts = rows.map(({ cells }) =>
    cells.map((cell) => (cell.length === 1 ? cell[0]!.text : cell.map(({ text }) => text).join(' '))),
  )
  const filled = texts.flat().filter((text) => text !== '')
  if (filled.length < rows.length * columns.length * alignedLimits.filled) return nothing
  const drawn = rowRules(grid, rules)
  const isShown = drawn.length >= 2
  // The tests that take longest come last.
  if (columns.length === 2 && !isPlainlyTwoColumns(rows, texts, isShown)) return nothing
  if (!isShown && isContents(texts)) return nothing
  if (
    share(texts, isLeaderOrCode) > alignedLimits.leaders ||
    alignedShare(rows, columns.length) < alignedLimits.aligned
  )
    return nothing
  if (rows.length < alignedLimits.rows && !(isShown && hasHeader(rows, texts))) return nothing
  const isFull = rows.length >= alignedLimits.rowsOfTwoColumns && filled.length >= rows.length * columns.length * 0.8
  const isEvident = isShown || hasBoldHeader(rows) || hasNumbers(texts) || (isFull && hasHeader(rows, texts))
  return isEvident ? { kind: 'table', rules: drawn } : nothing
}

/** The horizontal lines that go over the whole width of a grid, from the top down. */
function rowRules({ columns, rows }: Grid, rules: Rule[]): Rule[] {
  const left = columns[0]!.left
  const right = columns.at(-1)!.right
  const slack = rows[0]!.size * 1.5
  return rules
    .filter(
      ({ horizontal, at, from, to }) =>
        horizontal &&
        at < rows[0]!.top + slack &&
        at > rows.at(-1)!.bottom - slack &&
        to - from < (right - left) * 1.5 &&
        Math.min(to, right) - Math.max(from, left) > (right - left) * 0.8,
    )
    .sort((one, other) => other.at - one.at)
}

/** Dots up to a page number, blanks to fill in, and signs that are common in programs and rare in tables. */
function isLeaderOrCode(row: string): boolean {
  return /(?:\. ?){4,}|…{2,}|_{4,}|(?:· ?){4,}|[;{}]\s*$|\/\/ |\/\*|:=|=>|->|[=!]=|\w\(.*\)\s*[;{:]/.test(row)
}

function alignedShare(rows: GridRow[], columns: number): number {
  let cells = 0
  let aligned = 0
  for (let column = 0; column < columns; column += 1) {
    const pieces = rows.flatMap(({ cells: ofRow }) => ofRow[column]!)
    if (pieces.length < 2) continue
    const slack = pieces[0]!.size * 0.3
    const shared = [
      pieces.map(({ left }) => left),
      pieces.map(({ right }) => right),
      pieces.map(({ left, right }) => (left + right) / 2),
    ].map((places) => {
      const usual = places.toSorted((one, other) => one - other)[Math.floor(places.length / 2)]!
      return places.filter((place) => Math.abs(place - usual) <= slack).length
    })
    cells += pieces.length
    aligned += Math.max(...shared)
  }
  return cells === 0 ? 0 : aligned / cells
}

function share(texts: string[][], test: (row: string) => boolean): number {
  return texts.filter((row) => test(row.join(' '))).length / texts.length
}

/** Lines that mostly reach their column's right side and continue in the middle of sentences. */
function isRunningText(rows: GridRow[], column: number): boolean {
  const lines = rows.flatMap(({ cells }) => cells[column]!)
  if (lines.length < 3) return false
  const left = Math.min(...lines.map((line) => line.left))
  const right = Math.max(...lines.map((line) => line.right))
  const long = lines.filter((line) => isSentence(line.text) && line.right - line.left >= (right - left) * 0.7).length
  if (long < lines.length * 0.5) return false
  const inside = lines.filter(({ text }) => /^[\p{Ll}\p{Lo}]/u.test(text)).length
  return inside >= lines.length * 0.3
}

/** Three words or more, or a run of a script without blanks. */
function isSentence(text: string): boolean {
  return (
    /^(?=.{18})\S+\s+\S+\s+\S/.test(text) ||
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{14}/u.test(text)
  )
}

const listMarker = /^(?:[•◦▪–—*·-]|\(?\d{1,3}[.)]?|\[\d+\]|\(?[a-z][.)])$/i

/** Lists, notes, forms, tables of contents and numbered lines have two columns too. */
function isPlainlyTwoColumns(rows: GridRow[], texts: string[][], isShown: boolean): boolean {
  if (texts.filter((row) => row.every((text) => text !== '')).length < texts.length * 0.6) return false
  if (
    share(
      texts.map(([first]) => [first!]),
      (text) => listMarker.test(text),
    ) > 0.5
  )
    return false
  if (
    share(
      texts.map(([first]) => [first!]),
      (text) => text.endsWith(':'),
    ) > 0.4
  )
    return false
  if (isShown) return rows.length >= 2
  return rows.length >= alignedLimits.rowsOfTwoColumns && hasHeader(rows, texts) && hasNumbers(texts)
}

function hasHeader(rows: GridRow[], texts: string[][]): boolean {
  return hasBoldHeader(rows) || (texts[0]!.every((text) => text !== '') && looksLikeHeader(texts[0]!, texts.slice(1)))
}

function hasBoldHeader(rows: GridRow[]): boolean {
  const isBold = ({ segments }: GridRow) => segments.every(({ bold }) => bold)
  return isBold(rows[0]!) && rows[0]!.segments.length > 1 && !rows.slice(1).some(isBold)
}

/** Without names of columns, and page numbers in the last one. */
function isContents(texts: string[][]): boolean {
  const pages = texts.map((row) => (/^\d{1,4}$/.test(row.at(-1)!) ? Number(row.at(-1)) : null))
  return texts[0]!.length <= 3 && pages.every((page, index) => page !== null && page >= (pages[index - 1] ?? 0))
}

/** True where columns other than that of the names hold numbers, amounts or dates: one of three rows or more, or two of two. */
function hasNumbers(texts: string[][]): boolean {
  const names = texts.flat().some((text) => /[\u0590-\u08ff]/.test(text)) ? texts[0]!.length - 1 : 0
  const counts = texts[0]!.map((_, column) => {
    const cells = texts.slice(1).flatMap((row) => (row[column] === '' ? [] : [row[column]!]))
    const numbers = cells.filter(isNumber).length
    return column !== names && numbers >= cells.length * 0.6 ? numbers : 0
  })
  return counts.some((count) => count >= 3) || counts.filter((count) => count >= 2).length >= 2
}
