import { defaultLanguage, isFunctionWord, type Language, tokenize } from '../language/index.ts'
import { includedDays } from './amounts.ts'
import { type Bound, type Item, readBounds, readItems } from './items.ts'
import { type Claims, joinWords, once, readAbbreviations } from './claims.ts'
import { type Cells, readCells } from './cells.ts'
import { type Clause, readClauses } from './clauses.ts'
import {
  type Figure,
  findShare,
  numbersOf,
  plainValueOf,
  readChanges,
  readFigures,
  readShares,
  type Share,
  writtenForms,
} from './read-figures.ts'
import { exact, hasOtherUnit, normaliseNumerals, precisionOf, quantityKeys, type Unit } from './read-number.ts'
import { keysOfRates } from './rates.ts'
import { type Roles, readRoles } from './roles.ts'
import { cellSeparator, joinWrappedLines, type Segment, splitSegments, withPlainTables } from './segments.ts'
import { compoundsOf, detectTextLanguage, isContentWord, latinOf, type TextLanguage, wordKeys } from './words.ts'

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
  rowNames: readonly (readonly (readonly (string | number)[])[])[]
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
  /** When it states that something begins or ends. */
  bounds: () => readonly Bound[]
  /** Read when they are first needed. */
  roles: () => Roles
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
  /** The units of each of `values` in each segment, null for one without. */
  units: ReadonlyMap<number, ReadonlyMap<number, ReadonlySet<Unit | null>>>
  /** By `quantityKeys`. */
  quantities: Occurrences<string>
  /** The first readings of `values` in ascending order. */
  sorted: readonly number[]
}

/** Between "fraud.Stealing" and "offers:No", as pages of the web have them. */
const lostBlank = /(?<=(?:\p{Ll}{2}|[\d)"”])[.!?]|\p{Ll}{2}[:;])(?=\p{Lu}[\p{Ll}'’ ])/gu

/** Reads a passage once; time is linear in its text, apart from sorting its numbers. */
export function readEvidence({ title, headings = [], tableHeader = null, text }: EvidenceText): Evidence {
  const body = normaliseNumerals(
    tableHeader === null ? joinWrappedLines(withPlainTables(text), { isFull: true }).replaceAll(lostBlank, ' ') : text,
  )
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
    units: new Map<number, Map<number, Set<Unit | null>>>(),
    quantities: new Map<string, number[]>(),
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
    for (const key of keysOfRates(part.toLowerCase(), latin)) addOccurrence(numbers.quantities, key, segment)
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
    ...amountsOf(sentencesIn(segments), latin),
    roles: once(() => readRoles(body)),
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

const amountsOf = (sentences: ReadonlyMap<number, string>, latin: Language) => ({
  items: once(() => readItems(sentences, latin)),
  bounds: once(() => readBounds([...sentences.values()].join('\n'), latin)),
})

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
    units,
    quantities,
  }: Record<'plain' | 'values' | 'mantissas', Map<number, number[]>> & {
    counts: Map<number, number>
    units: Map<number, Map<number, Set<Unit | null>>>
    quantities: Map<string, number[]>
  },
  months: Map<number, number[]>,
  { readings, scales, unit, mayBeMonth }: Extract<Figure, { type: 'number' }>,
  segment: number,
) {
  for (const value of readings.flat()) {
    if (mayBeMonth) addOccurrence(months, value, segment)
    addOccurrence(scales.length === 0 ? plain : mantissas, value, segment)
    for (const scale of scales.length === 0 ? [1] : scales) {
      const scaled = exact(value * scale)
      addOccurrence(values, scaled, segment)
      counts.set(scaled, (counts.get(scaled) ?? 0) + 1)
      const bySegment = units.get(scaled) ?? new Map<number, Set<Unit | null>>()
      units.set(scaled, bySegment.set(segment, (bySegment.get(segment) ?? new Set()).add(unit ?? null)))
      if (unit) for (const key of quantityKeys(scaled, unit)) addOccurrence(quantities, key, segment)
    }
  }
}

function withoutExtension(title: string): string {
  return title.replace(/\.(?:pdf|docx|csv|txt|md)$/i, '')
}

/** The segments of a passage that have a figure of a sentence; those of title and headings for what belongs to all. */
export function segmentsOfFigure(passage: Evidence, figure: Figure): readonly number[] {
  switch (figure.type) {
    case 'month':
      return passage.months.get(figure.month) ?? []
    case 'currency':
      // Tables and prices often leave the currency out.
      return passage.currencies.size === 0 || passage.currencies.has(figure.code) ? [headSegment] : []
    case 'number':
      return [...segmentsOfNumber(passage, figure), ...segmentsOfPercent(passage, figure)]
  }
}

type NumberFigure = Extract<Figure, { type: 'number' }>

/** The segments of the first reading whose numbers all are in the passage. */
function segmentsOfNumber({ numbers, months, shares, isRow }: Evidence, figure: NumberFigure): readonly number[] {
  // "A fee of 3 %" has an article that is 1 in other places. Columns may have the sign in their header.
  const isArticle = figure.isPercent && plainValueOf(figure) === 1 && shares.size > 0 && !shares.has(1)
  for (const reading of figure.readings) {
    const found = reading.map((value) => [
      ...findNumber(numbers, value, figure),
      ...(figure.mayBeMonth ? (months.get(value) ?? []) : []),
    ])
    if (found.every((segments) => segments.length > 0))
      return isArticle ? found.flat().filter((segment) => isRow[segment]) : found.flat()
  }
  return []
}

/** "50 %" is in a passage with "half", and "100 %" in one with "doubled". */
function segmentsOfPercent({ wordShares }: Evidence, figure: NumberFigure): readonly number[] {
  const value = plainValueOf(figure)
  return figure.isPercent && value !== null ? (wordShares.get(value) ?? []) : []
}

/** "1.2 million" is in a passage with 1,200,000, with "1.2 million", and with 1.2 in a column of millions; "two weeks" with 14 days, not two days. */
function findNumber(
  numbers: EvidenceNumbers,
  value: number,
  { scales, isRounded, unit }: NumberFigure,
): readonly number[] {
  const scaled = scales.length === 0 ? [value] : scales.map((scale) => exact(value * scale))
  const isOther = (one: number, at: number) => unit !== undefined && hasOtherUnit(unit, numbers.units.get(one)?.get(at))
  const same = scaled.flatMap((one) => (numbers.values.get(one) ?? []).filter((at) => !isOther(one, at)))
  const unscaled = (scales.length === 0 ? numbers.mantissas : numbers.plain).get(value) ?? []
  const quantities = unit === undefined ? [] : scaled.flatMap((one) => quantityKeys(one, unit))
  const found = [
    ...same,
    ...(scales.length === 0 ? unscaled : unscaled.filter((at) => !isOther(value, at))),
    ...quantities.flatMap((key) => numbers.quantities.get(key) ?? []),
  ]
  const mayBeRounded = isRounded || (scales.length > 0 && !Number.isInteger(value))
  if (found.length > 0 || !mayBeRounded) return found
  const steps = scales.length === 0 ? [1] : scales
  return steps.flatMap((scale) => findRounded(numbers, exact(value * scale), precisionOf(value) * scale))
}

/** The segments of the smallest number that is `value` after rounding to `precision`. */
function findRounded({ sorted, values }: EvidenceNumbers, value: number, precision: number): readonly number[] {
  const least = value - precision / 2
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (sorted[middle]! < least) from = middle + 1
    else to = middle
  }
  const nearest = sorted[from]
  return nearest !== undefined && nearest <= value + precision / 2 ? (values.get(nearest) ?? []) : []
}

/** Whether a passage has each share that a sentence states in words; `other`: it states another one where `isClose`, or lacks the numbers of it. */
export function compareShares(
  shares: readonly Share[],
  passage: Evidence,
  isClose: (segment: number) => boolean,
): ('found' | 'other' | 'unknown')[] {
  if (shares.length === 0) return []
  const isAnyClose = [...passage.shares.values()].flat().some(isClose)
  return shares.map((share) => {
    const found = findShare(passage.shares, share)
    if (found.includes(headSegment) || found.some(isClose)) return 'found'
    if (isAnyClose) return 'other'
    if (found.length > 0) return 'found'
    return share.numbers.some((value) => !passage.numbers.values.has(value)) ? 'other' : 'unknown'
  })
}

export const hasWord = ({ words }: Evidence, keys: readonly string[]) => keys.some((key) => words.has(key))

/** A name is there with its last word and half of all, or with more than half: passages leave out first names and titles. */
export function hasName(passage: Evidence, { words, keys }: Claims['names'][number]): boolean {
  if (words.length === 1 && passage.abbreviations.has(words[0]!)) return true
  if (words.length > 1 && hasInitials(passage, words)) return true
  const found = keys.map(
    (wordKeys, at) => hasWord(passage, wordKeys) || (at > 0 && passage.abbreviations.has(words[at]!)),
  )
  const count = found.filter(Boolean).length
  return found.at(-1) === true ? count * 2 >= words.length : count * 2 > words.length
}

/** Letters of the longest abbreviation. */
const maximumInitials = 10

/** "VA" for "Department of Veterans Affairs": the first letters of all words or of the last ones, where they are no other word. */
function hasInitials(passage: Evidence, words: readonly string[]): boolean {
  const latin = latinOf(passage.language, defaultLanguage)
  const letters = words.slice(-maximumInitials).map((word) => word[0])
  return letters.slice(0, -1).some((_, from) => {
    const initials = letters.slice(from).join('')
    return passage.words.has(initials) && !isFunctionWord(initials, latin)
  })
}
