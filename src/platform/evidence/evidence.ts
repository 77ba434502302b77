import {
  defaultLanguage,
  isFunctionWord,
  type Language,
  rulesForWord,
  splitSentences,
  tokenize,
} from '../language/index.ts'
import { exact, normaliseNumerals } from './read-number.ts'
import { type Figure, readFigures } from './read-figures.ts'
import { readAbbreviations } from './read-names.ts'
import { joinWords } from './read-quotes.ts'
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
  /** A table: each segment is a row. */
  isTable: boolean
  /** By word, stem and beginning, as in `wordKeys`. */
  words: Occurrences<string>
  abbreviations: ReadonlySet<string>
  /** All words with spaces between and around them, for quotes. */
  sequence: string
  numbers: EvidenceNumbers
  months: Occurrences<number>
  currencies: ReadonlySet<string>
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

/** Words are also compared by their first letters, because stems of different forms and languages differ. */
const comparedLetters = 6

/** Reads a passage once; time is linear in its text, apart from sorting its numbers. */
export function readEvidence({ title, headings = [], tableHeader = null, text }: EvidenceText): Evidence {
  const head = normaliseNumerals([withoutExtension(title), ...headings, tableHeader ?? ''].join('\n'))
  const parts = splitSegments(normaliseNumerals(text), tableHeader !== null)
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
    isTable: tableHeader !== null,
    words,
    abbreviations: readAbbreviations([head, ...parts].join('\n')),
    sequence: ` ${joinWords([head, ...parts].join('\n'))} `,
    numbers: { ...numbers, sorted: [...numbers.values.keys()].toSorted((left, right) => left - right) },
    months,
    currencies,
  }
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

/** Shorter sentences are joined to the next: they are parts that abbreviations cut off. UTF-16 units. */
const minimumSegmentUnits = 80

/** Rows of a table; sentences of other texts. */
function splitSegments(text: string, isTable: boolean): string[] {
  if (isTable) return text.split('\n').filter((row) => row.trim() !== '')
  const segments: string[] = []
  for (const { text: sentence } of splitSentences(text)) {
    if ((segments.at(-1)?.length ?? minimumSegmentUnits) < minimumSegmentUnits)
      segments.push(`${segments.pop()} ${sentence}`)
    else segments.push(sentence)
  }
  return segments
}

/** The word, its stem, and its first letters where it is long. */
export function wordKeys(word: string, latin: Language): string[] {
  const stem = rulesForWord(word, latin)?.rules.stem(word) ?? word
  const keys = stem === word ? [word] : [word, stem]
  return word.length > comparedLetters ? [...keys, `${word.slice(0, comparedLetters)}*`] : keys
}

/** Pairs of syllables: Vietnamese puts spaces between the syllables of a word, and single syllables are in many words. */
export function compoundsOf(words: readonly string[], latin: Language): string[] {
  return latin === 'vi' ? words.slice(1).map((word, index) => `${words[index]!} ${word}`) : []
}

export function isContentWord(word: string, latin: Language): boolean {
  return !/\p{N}/u.test(word) && !isFunctionWord(word, latin)
}

function withoutExtension(title: string): string {
  return title.replace(/\.(?:pdf|docx|csv|txt|md)$/i, '')
}
