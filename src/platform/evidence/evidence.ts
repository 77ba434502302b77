import { defaultLanguage, type Language, tokenize } from '../language/index.ts'
import { compoundsOf, wordKeys } from './evidence-words.ts'
import { type Clause, readClauses } from './negation.ts'
import { exact, normaliseNumerals } from './read-number.ts'
import { type Figure, readFigures } from './read-figures.ts'
import { readAbbreviations } from './read-names.ts'
import { joinWords } from './read-quotes.ts'
import { type Segment, splitSegments } from './split-segments.ts'
import { detectTextLanguage, latinOf, type TextLanguage } from './text-language.ts'

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
  /** The numbers in the first cell of each row, by which it is named: a year. */
  keyNumbers: readonly ReadonlySet<number>[]
  /** By word, stem and beginning, as in `wordKeys`. */
  words: Occurrences<string>
  abbreviations: ReadonlySet<string>
  /** All words with spaces between and around them, for quotes. */
  sequence: string
  numbers: EvidenceNumbers
  months: Occurrences<number>
  currencies: ReadonlySet<string>
  /** Its clauses, read when they are first needed. `language`: of the claim, where the passage does not show its own. */
  clauses: (language: TextLanguage) => readonly Clause[]
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
  /** `values` in ascending order. */
  sorted: readonly number[]
}

/** Reads a passage once; time is linear in its text, apart from sorting its numbers. */
export function readEvidence({ title, headings = [], tableHeader = null, text }: EvidenceText): Evidence {
  const body = normaliseNumerals(text)
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
  const currencies = new Set<string>()
  for (const [index, part] of [head, ...parts].entries()) {
    const segment = index - 1
    for (const word of new Set(tokens[index]))
      for (const key of wordKeys(word, latin)) addOccurrence(words, key, segment)
    for (const compound of compoundsOf(tokens[index]!, latin)) addOccurrence(words, compound, segment)
    for (const figure of readFigures(part, latin, { asClaims: false })) {
      if (figure.type === 'currency') currencies.add(figure.code)
      else if (figure.type === 'month') addOccurrence(months, figure.month, segment)
      else addNumber(numbers, months, figure, segment)
    }
  }
  return {
    language,
    segments: parts.length,
    isRow: segments.map(({ isRow }) => isRow),
    keyNumbers: segments.map((segment) => keyNumbersOf(segment, latin)),
    words,
    abbreviations: readAbbreviations([head, ...parts].join('\n')),
    sequence: ` ${joinWords([head, ...parts].join('\n'))} `,
    numbers: { ...numbers, sorted: [...numbers.values.keys()].toSorted((left, right) => left - right) },
    months,
    currencies,
    clauses: clausesOf([head, body].join('\n'), language),
  }
}

function clausesOf(text: string, language: TextLanguage): Evidence['clauses'] {
  let read: readonly Clause[] | undefined
  return (other) => (read ??= readClauses(text, language.latin === null ? other : language))
}

function keyNumbersOf({ key }: Segment, latin: Language): ReadonlySet<number> {
  if (!/\d/.test(key)) return noNumbers
  const figures = readFigures(key, latin, { asClaims: false })
  return new Set(figures.flatMap((figure) => (figure.type === 'number' ? figure.readings.flat() : [])))
}

const noNumbers: ReadonlySet<number> = new Set()

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
