import { splitSentences } from '../language/index.ts'

export const cellSeparator = ' | '
const isTableRow = (line: string) => line.includes(cellSeparator)

const terminal = /[.!:;,…。！？｡।؟۔][”"'’)\]*_]{0,4}$/u

/** Whether a line ends like a sentence, or announces what follows. */
export const hasStop = (text: string) => terminal.test(text)

export function isListItem(text: string): boolean {
  return /^(?:[-*•–] |\d{1,3}[.)] )/.test(text)
}

/** Editors and pdf files break lines before this length; a text with a longer line is not broken. UTF-16 units. */
const maximumWrappedUnits = 120
const minimumWrappedUnits = 30
const minimumFullUnits = 50
/** A broken line is nearly as long as the longest one. */
const wrappedShare = 0.75

/**
 * The text with lines that only the width of a page or an editor has broken joined. `isFull`: only lines that are nearly full, not all
 * before a small letter. Linear.
 */
export function joinWrappedLines(text: string, { isFull = false } = {}): string {
  const lines = text.split('\n')
  const longest = lines.reduce((most, line) => (isTableRow(line) ? most : Math.max(most, line.length)), 0)
  const isWrapped = longest <= maximumWrappedUnits
  const joined: string[] = []
  let last = ''
  for (const line of lines) {
    const isOpen =
      last.length >= (isFull ? minimumFullUnits : minimumWrappedUnits) &&
      !hasStop(last) &&
      !isTableRow(last) &&
      !isTableRow(line)
    const isLong = isWrapped && last.length >= longest * wrappedShare
    const continues = (!isFull && /^\s*[\p{Ll}("“„`]/u.test(line)) || (isLong && /^\s*[\p{L}\d]/u.test(line))
    if (isOpen && continues && !isListItem(line.trimStart())) joined.push(`${joined.pop()!} ${line.trimStart()}`)
    else joined.push(line)
    last = line
  }
  return joined.join('\n')
}

/** The line below the header of a Markdown table: "|---|:---:|". */
const isRule = (line: string) => line.includes('|') && line.includes('-') && /^[\s|:-]+$/.test(line)

/** A text whose Markdown tables are written as all others: cells between separators, no line below the header. Linear. */
export function withPlainTables(text: string): string {
  const lines = text.split('\n')
  const plain: string[] = []
  let isTable = false
  for (const [index, line] of lines.entries()) {
    const startsTable = line.includes('|') && isRule(lines[index + 1] ?? '')
    isTable = startsTable || (isTable && line.includes('|'))
    if (!isTable) plain.push(line)
    else if (!isRule(line)) plain.push(cellsOfMarkdown(line).join(cellSeparator))
  }
  return plain.join('\n')
}

function cellsOfMarkdown(line: string): string[] {
  const row = line.trim()
  const inner = row.slice(row.startsWith('|') ? 1 : 0, row.endsWith('|') && row.length > 1 ? -1 : undefined)
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

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

const listLine = /^\s*(?:[-*+•–]|\d{1,3}[.)])\s+\S/u
/** "Adults: 12 euros". */
const pairLine = /^\s*([^:\n]{1,60}):\s+\S[^\n]{0,60}$/u
/** "**Owner** can delete a team". */
const termLine = /^\s*(?:[-*+•–]|\d{1,3}[.)])\s+\*\*([^*\n]{1,60})\*\*/u
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
      const key =
        pairLine.exec(line)?.[1] ?? termLine.exec(line)?.[1] ?? (tabLine.test(line) ? line.split('\t', 1)[0]! : '')
      segments.push({ text: line, isRow: true, key })
    } else prose.push(line)
  }
  endProse()
  return { segments, headers }
}

/** A header has words, dates and years, no figures alone in a cell. */
function isHeader(line: string): boolean {
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

/** Whether at least half of the cells after the first have no letters: below lines of a header, and not one number in a table of names. */
function isMostlyFigures(line: string): boolean {
  const [, ...cells] = line.split(cellSeparator)
  return cells.filter((cell) => !/\p{L}/u.test(cell)).length * 2 >= cells.length
}

/** Most lines of a header. */
const maximumHeaderRows = 3

/** The first rows without figures, where figures follow; otherwise at most the first row. */
function countHeaderRows(lines: readonly string[], first: number): number {
  for (let count = 0; count <= maximumHeaderRows; count++) {
    const line = lines[first + count] ?? ''
    if (!isTableRow(line)) return count > 1 ? 1 : 0
    if (!isHeader(line)) return count > 1 && !isMostlyFigures(line) ? 1 : count
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

const sectionNumber = /^[ \t]{0,12}(\d{1,2})[.)][ \t]{1,12}(?=\p{L})/gmu

/** A text without the numbers of its sections; at least two of them follow each other. */
function withoutSectionNumbers(text: string): string {
  const numbers = new Set(Array.from(text.matchAll(sectionNumber), ([, number]) => Number(number)))
  return text.replaceAll(sectionNumber, (whole, number) =>
    [-1, 1].some((step) => numbers.has(Number(number) + step)) ? '' : whole,
  )
}

function sentencesOf(text: string): Segment[] {
  const joined: string[] = []
  for (const { text: sentence } of splitSentences(withoutSectionNumbers(text))) {
    if ((joined.at(-1)?.length ?? minimumSegmentUnits) < minimumSegmentUnits) joined.push(`${joined.pop()} ${sentence}`)
    else joined.push(sentence)
  }
  return joined.map((sentence) => ({ text: sentence, isRow: false, key: '' }))
}

export interface TableRow {
  text: string
  cells: readonly string[]
  /** The cells of the header above; empty where the table has none. */
  names: readonly string[]
}

/** A text without tables, or the rows of a table below its header. */
interface TextPart {
  text: string
  header: readonly string[]
  rows: readonly TableRow[]
}

/** The tables of a text, and the text between them, in order. Rows have a separator between their cells. Linear. */
export function splitTables(text: string): TextPart[] {
  const parts: TextPart[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length;) {
    const isTable = isTableRow(lines[at]!)
    let end = at + 1
    while (end < lines.length && isTableRow(lines[end]!) === isTable) end++
    const run = lines.slice(at, end)
    parts.push(isTable ? readTable(run) : { text: run.join('\n'), header: [], rows: [] })
    at = end
  }
  return parts
}

function readTable(lines: readonly string[]): TextPart {
  const hasHeader = lines.length > 1 && isHeader(lines[0]!)
  const names = hasHeader ? cellsOf(lines[0]!) : []
  const rows = lines.slice(hasHeader ? 1 : 0).map((line) => ({ text: line.trim(), cells: cellsOf(line), names }))
  return { text: '', header: names, rows }
}

const cellsOf = (line: string) => line.split(cellSeparator).map((cell) => cell.trim())
