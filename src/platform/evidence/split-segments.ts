import { splitSentences } from '../language/index.ts'

/** A sentence of a passage, or a row of a table or list. */
export interface Segment {
  text: string
  isRow: boolean
  /** What names a row: its first cell, or what is before a colon. */
  key: string
}

/** Shorter sentences are joined to the next: they are parts that abbreviations cut off. UTF-16 units. */
const minimumSegmentUnits = 80
/** Longest line of a list that is one fact. */
const maximumRowUnits = 160

export const cellSeparator = ' | '
const listLine = /^\s*(?:[-*+•–]|\d{1,3}[.)])\s+\S/u
/** "Adults: 12 euros". */
const pairLine = /^\s*([^:\n]{1,60}):\s+\S[^\n]{0,60}$/u
const tabLine = /^[^\t\n]{1,60}\t+\S/u

/** Rows, lines of lists, and sentences. `hasHeader`: the table's header is not in the text. `headers`: header rows and section rows that are. */
export function splitSegments(text: string, hasHeader: boolean): { segments: Segment[]; headers: string[] } {
  const segments: Segment[] = []
  const headers: string[] = []
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  let prose: string[] = []
  const endProse = () => {
    segments.push(...sentencesOf(prose.join('\n')))
    prose = []
  }
  let headerRows = 0
  for (const [index, line] of lines.entries()) {
    if (isTableRow(line) || (hasHeader && prose.length === 0)) {
      endProse()
      if (!hasHeader && !isTableRow(lines[index - 1] ?? '')) headerRows = countHeaderRows(lines, index)
      if (headerRows > 0 || (!hasHeader && isSection(line))) headers.push(line)
      else segments.push({ text: line, isRow: true, key: line.split(cellSeparator, 1)[0]! })
      headerRows--
    } else if (isFactLine(line)) {
      endProse()
      const key = pairLine.exec(line)?.[1] ?? (tabLine.test(line) ? line.split('\t', 1)[0]! : '')
      segments.push({ text: line, isRow: true, key })
    } else prose.push(line)
  }
  endProse()
  return { segments, headers }
}

export const isTableRow = (line: string) => line.includes(cellSeparator)

/** A header has words, dates and years, no figures alone in a cell. */
export function isHeader(line: string): boolean {
  return line
    .split(cellSeparator)
    .every((cell) => /\p{L}/u.test(cell) || !/\d/.test(cell) || /^\D{0,9}(?:1[89]|20)\d\d\D{0,9}$/.test(cell))
}

/** A row with one cell only, such as "Expenses": it names the rows after it. */
function isSection(line: string): boolean {
  const [first = '', second = '', ...others] = line.split(cellSeparator)
  const hasText = (cell: string) => /[\p{L}\p{N}]/u.test(cell)
  return hasText(first) !== hasText(second) && !others.some(hasText)
}

/** Most lines of a header. */
const maximumHeaderRows = 3

/** The first rows without figures, where figures follow; otherwise at most the first row. */
function countHeaderRows(lines: readonly string[], first: number): number {
  for (let count = 0; count <= maximumHeaderRows; count++) {
    const line = lines[first + count] ?? ''
    if (!isTableRow(line)) return count > 1 ? 1 : 0
    if (!isHeader(line)) return count
    if (count > 0 && isSection(line) && !isSection(lines[first + count - 1]!)) return count
  }
  return 1
}

function isFactLine(line: string): boolean {
  if (line.length > maximumRowUnits) return false
  return (
    (listLine.test(line) && splitSentences(line.replace(/^\s*\d{1,3}[.)]\s+/, '')).length === 1) ||
    pairLine.test(line) ||
    tabLine.test(line)
  )
}

function sentencesOf(text: string): Segment[] {
  const joined: string[] = []
  for (const { text: sentence } of splitSentences(text)) {
    if ((joined.at(-1)?.length ?? minimumSegmentUnits) < minimumSegmentUnits) joined.push(`${joined.pop()} ${sentence}`)
    else joined.push(sentence)
  }
  return joined.map((sentence) => ({ text: sentence, isRow: false, key: '' }))
}
