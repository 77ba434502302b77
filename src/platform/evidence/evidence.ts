import { defaultLanguage, type Language, splitSentences, tokenize } from '../language/index.ts'
import {
  compoundsOf,
  detectTextLanguage,
  isContentWord,
  latinOf,
  type TextLanguage,
  wordKeys,
} from './text-language.ts'
import { type Clause, readClauses } from './clauses.ts'
import { exact, normaliseNumerals } from './read-number.ts'
import { type Figure, numbersOf, readFigures } from './read-figures.ts'
import { joinWords, once, readAbbreviations } from './claims.ts'
import { includedDays } from './day-ranges.ts'
import { type Item, readItems } from './listed-amounts.ts'
import { type Cells, readCells } from './read-cells.ts'
import { readChanges, readShares, writtenForms } from './shares.ts'
import { cellSeparator, isTableRow, joinWrappedLines } from './text-lines.ts'

/** A passage as its reader sees it. */
export interface EvidenceText {
  /** The document's name. */
  title: string
  headings?: readonly string[]
  tableHeader?: string | null
  text: string
}

/** The content of a passage, prepared for many claims. Each word and figure has the segments that it occurs in, in ascending order. */
export interface Evidence {
  language: TextLanguage
  segments: number
  /** Whether a segment is a row of a table, or a line of a list: what is next to it is about something else. */
  isRow: readonly boolean[]
  /** The keys of the content words and numbers in the first cell of each row, by which it is named: "AB-104" by both. */
  rowNames: readonly (readonly (string | number)[][])[]
  /** The numbers in that cell: a year. */
  keyNumbers: readonly ReadonlySet<number>[]
  /** The numbers of each part in their order, scales applied; at most `maximumPartNumbers`. */
  partNumbers: readonly (readonly PartNumber[])[]
  /** The columns of tables whose header has a word, by its keys, and a number such as a year. */
  columns: ReadonlyMap<string | number, ReadonlySet<number>>
  /** By word, stem and beginning, as in `wordKeys`. */
  words: Occurrences<string>
  abbreviations: ReadonlySet<string>
  /** All words with spaces between and around them, for quotes. */
  sequence: string
  numbers: EvidenceNumbers
  months: Occurrences<number>
  /** Shares in full percent, written as numbers or in words. */
  shares: Occurrences<number>
  /** Those in words only, and changes such as "doubled", each by the numbers that state it in percent. */
  wordShares: Occurrences<number>
  currencies: ReadonlySet<string>
  /** The cells of its rows, read when they are first needed. */
  cells: () => Cells
  /** The amounts that its sentences list, read when they are first needed. */
  items: () => readonly Item[]
  /** Its clauses, read when they are first needed. `language`: of the claim, where the passage does not show its own. */
  clauses: (language: TextLanguage) => readonly Clause[]
}

export interface PartNumber {
  value: number
  /** Of a row; 0 for sentences. */
  column: number
  /** Its cell has no letters. */
  isAlone: boolean
  /** Its cell is written as a negative number: "(12.5)", "−3". */
  isNegative: boolean
  isPercent: boolean
}

export type Occurrences<Key> = ReadonlyMap<Key, readonly number[]>

/** The segment of title, headings and table header, which belong to every part of the passage. */
export const headSegment = -1

export interface EvidenceNumbers {
  /** Numbers without a scale such as "million". */
  plain: Occurrences<number>
  /** Numbers with their scale applied, and plain numbers. */
  values: Occurrences<number>
  /** Numbers before a scale. */
  mantissas: Occurrences<number>
  /** How often each of `values` is written. */
  counts: ReadonlyMap<number, number>
  /** The first readings of `values` in ascending order. */
  sorted: readonly number[]
}

/** Reads a passage once; time is linear in its text, apart from sorting its numbers. */
export function readEvidence({ title, headings = [], tableHeader = null, text }: EvidenceText): Evidence {
  const body = normaliseNumerals(tableHeader === null ? joinWrappedLines(text, { isFull: true }) : text)
  const { segments, headers } = splitSegments(body, tableHeader !== null)
  const head = normaliseNumerals([withoutExtension(title), ...headings, tableHeader ?? '', ...headers].join('\n'))
  const parts = segments.map((segment) => segment.text)
  const tokens = [head, ...parts].map((part) => tokenize(part, { singleCharacters: true }))
  const language = detectTextLanguage(tokens.flat())
  const latin = latinOf(language, defaultLanguage)
  const words = new Map<string, number[]>()
  const months = new Map<number, number[]>()
  const numbers = {
    plain: new Map<number, number[]>(),
    values: new Map<number, number[]>(),
    mantissas: new Map<number, number[]>(),
    counts: new Map<number, number>(),
  }
  const percents = new Map<number, number[]>()
  const currencies = new Set<string>()
  /** Of first readings: 12,400 is not rounded to 12. */
  const usual = new Set<number>()
  const partNumbers = segments.map((): PartNumber[] => [])
  const keyNumbers = segments.map(({ key }) =>
    /\d/.test(key) ? numbersOf(readFigures(key, latin, { asClaims: false })) : [],
  )
  for (const [index, part] of [head, ...parts].entries()) {
    const segment = index - 1
    for (const word of new Set(tokens[index]))
      for (const key of wordKeys(word, latin)) addOccurrence(words, key, segment)
    for (const day of includedDays(part, latin))
      for (const key of wordKeys(day, latin)) addOccurrence(words, key, segment)
    for (const compound of compoundsOf(tokens[index]!, latin)) addOccurrence(words, compound, segment)
    if (segments[segment] && isUnnamedRow(segments[segment]))
      for (const word of wordsOfTotals) addOccurrence(words, word, segment)
    for (const { figure, ...place } of figuresOf(part, latin, segments[segment]?.isRow ?? false)) {
      if (figure.type === 'currency') currencies.add(figure.code)
      else if (figure.type === 'month') addOccurrence(months, figure.month, segment)
      else {
        addNumber(numbers, months, figure, segment)
        if (figure.isPercent)
          for (const value of figure.readings[0] ?? []) addOccurrence(percents, Math.round(value), segment)
        for (const value of figure.readings[0] ?? [])
          for (const scale of [1, ...figure.scales]) usual.add(exact(value * scale))
        if (segment !== headSegment) addPartNumber(partNumbers[segment]!, figure, place)
      }
    }
  }
  return {
    language,
    segments: parts.length,
    isRow: segments.map(({ isRow }) => isRow),
    rowNames: segments.map(({ key }, row) => [
      ...tokenize(key, { singleCharacters: false })
        .filter((word) => isContentWord(word, latin))
        .map((word) => wordKeys(word, latin)),
      ...keyNumbers[row]!,
    ]),
    keyNumbers: keyNumbers.map((numbers) => new Set(numbers.flat())),
    partNumbers,
    columns: readColumns([...(tableHeader === null ? [] : [normaliseNumerals(tableHeader)]), ...headers], latin),
    words,
    abbreviations: readAbbreviations([head, ...parts].join('\n')),
    sequence: ` ${joinWords([head, ...parts].join('\n'))} `,
    numbers: {
      ...numbers,
      sorted: [...numbers.values.keys()].filter((value) => usual.has(value)).toSorted((left, right) => left - right),
    },
    months,
    ...sharesOf([head, ...parts], percents),
    currencies,
    cells: once(() => readCells(cellsOf(segments), latin)),
    items: once(() => readItems(sentencesIn(segments), latin)),
    clauses: clausesOf([head, body].join('\n'), language),
  }
}

/** The cells of each row, and the sentences that are no rows, by their segments. */
const cellsOf = (segments: readonly Segment[]) =>
  new Map(
    segments.flatMap(({ isRow, text }, at) =>
      isRow && text.includes(cellSeparator) ? [[at, text.split(cellSeparator)]] : [],
    ),
  )
const sentencesIn = (segments: readonly Segment[]) =>
  new Map(segments.flatMap(({ isRow, text }, at) => (isRow ? [] : [[at, text] as const])))

/** `percents`: the segments of the shares that are written as numbers; those in words are added. */
function sharesOf(parts: readonly string[], percents: Map<number, number[]>): Pick<Evidence, 'shares' | 'wordShares'> {
  const wordShares = new Map<number, number[]>()
  for (const [index, part] of parts.entries()) {
    const segment = index - 1
    for (const { percent } of readShares(part).shares) {
      addOccurrence(percents, Math.round(percent), segment)
      for (const form of writtenForms(percent)) addOccurrence(wordShares, form, segment)
    }
    for (const percent of readChanges(part)) addOccurrence(wordShares, percent, segment)
  }
  return { shares: percents, wordShares }
}

/** Reports leave the name of the row with their sums out. */
const wordsOfTotals = ['total', 'summe', 'gesamt', 'insgesamt', 'somme', 'suma', 'totale', 'totaal']
const isUnnamedRow = ({ isRow, key, text }: Segment) =>
  isRow && key.trim() === '' && text.includes(cellSeparator) && /\d/.test(text)

const maximumPartNumbers = 24

/** The first reading: "1,234" is 1234. */
function addPartNumber(
  part: PartNumber[],
  { readings, scales, isPercent }: Extract<Figure, { type: 'number' }>,
  place: Omit<PartNumber, 'value' | 'isPercent'>,
) {
  const value = readings[0]?.[0]
  if (value !== undefined && part.length < maximumPartNumbers)
    part.push({ value: exact(value * (scales[0] ?? 1)), isPercent, ...place })
}

const negativeCell =
  /^[^\p{L}\d(]{0,4}\([^\p{L}()]{1,20}\)[^\p{L}\d]{0,3}$|^\s{0,3}\p{Sc}?\s?[-–−]\s?\p{Sc}?\d[^\p{L}]{0,20}$/u

/** No figure of a row crosses the border of a cell. */
function figuresOf(part: string, latin: Language, isRow: boolean) {
  const cells = isRow ? part.split(cellSeparator) : [part]
  return cells.flatMap((cell, column) => {
    const place = { column, isAlone: !/\p{L}/u.test(cell), isNegative: isRow && negativeCell.test(cell) }
    return readFigures(cell, latin, { asClaims: false }).map((figure) => ({ figure, ...place }))
  })
}

function readColumns(headers: readonly string[], latin: Language): Evidence['columns'] {
  const columns = new Map<string | number, Set<number>>()
  const add = (key: string | number, column: number) => {
    const known = columns.get(key)
    if (known) known.add(column)
    else columns.set(key, new Set([column]))
  }
  for (const header of headers.flatMap((lines) => lines.split('\n'))) {
    for (const [column, cell] of header.split(cellSeparator).entries()) {
      // The first cell of a row is its name.
      if (column === 0) continue
      for (const word of tokenize(cell, { singleCharacters: true }))
        for (const key of wordKeys(word, latin)) add(key, column)
      for (const figure of readFigures(cell, latin, { asClaims: false }))
        if (figure.type === 'number') for (const value of figure.readings.flat()) add(value, column)
    }
  }
  return columns
}

function clausesOf(text: string, language: TextLanguage): Evidence['clauses'] {
  let read: readonly Clause[] | undefined
  return (other) => (read ??= readClauses(text, language.latin === null ? other : language))
}

function addOccurrence<Key>(occurrences: Map<Key, number[]>, key: Key, segment: number) {
  const known = occurrences.get(key)
  if (!known) occurrences.set(key, [segment])
  else if (known.at(-1) !== segment) known.push(segment)
}

function addNumber(
  {
    plain,
    values,
    mantissas,
    counts,
  }: Record<'plain' | 'values' | 'mantissas', Map<number, number[]>> & {
    counts: Map<number, number>
  },
  months: Map<number, number[]>,
  { readings, scales, mayBeMonth }: Extract<Figure, { type: 'number' }>,
  segment: number,
) {
  for (const value of readings.flat()) {
    if (mayBeMonth) addOccurrence(months, value, segment)
    addOccurrence(scales.length === 0 ? plain : mantissas, value, segment)
    for (const scale of scales.length === 0 ? [1] : scales) {
      const scaled = exact(value * scale)
      addOccurrence(values, scaled, segment)
      counts.set(scaled, (counts.get(scaled) ?? 0) + 1)
    }
  }
}

function withoutExtension(title: string): string {
  return title.replace(/\.(?:pdf|docx|csv|txt|md)$/i, '')
}

/** A sentence of a passage, or a row of a table or list. */
interface Segment {
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
function splitSegments(text: string, hasHeader: boolean): { segments: Segment[]; headers: string[] } {
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
