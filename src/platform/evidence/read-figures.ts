import type { Language } from '../language/index.ts'
import { monthOfAbbreviation, monthOfName } from './month-names.ts'
import {
  currencyOf,
  hanNumbers,
  isApproximation,
  isTens,
  numberOfDistinctWord,
  numberOfWord,
  numberSuppliedByWord,
  scalesOfWord,
} from './number-words.ts'
import { exact, numberPattern, readNumber } from './read-number.ts'

/** A number, month or currency of a text. */
export type Figure =
  | {
      type: 'number'
      /** As in `readNumber`. */
      readings: number[][]
      /** "million" after the number; several where languages differ. Empty without. */
      scales: readonly number[]
      /** "about 300". */
      isRounded: boolean
      /** Part of a date such as 2019-05-03 or 5月: equal to the month's name. */
      mayBeMonth: boolean
    }
  | { type: 'month'; month: number }
  | { type: 'currency'; code: string }

const tokenPattern = new RegExp(
  String.raw`(?<date>\d{1,4}(?<sign>[-/.])\d{1,2}\k<sign>\d{1,4}(?!\d))|(?<time>\d{1,2}:\d{2})(?!\d)|(?<number>${numberPattern})|(?<word>\p{L}[\p{L}\p{M}]*)|(?<sign2>[€$£¥~≈])`,
  'gu',
)

/**
 * The figures of a text that `normaliseNumerals` has returned, in order. `asClaims`: only what must be a number or a month; otherwise
 * also what may be one, such as "both", "third" and "Sept". `isGuess`: the language is not known.
 */
export function readFigures(
  text: string,
  language: Language,
  { asClaims, isGuess = false }: { asClaims: boolean; isGuess?: boolean },
): Figure[] {
  const figures: Figure[] = []
  /** The number that a scale or "pm" may follow. */
  let last: Extract<Figure, { type: 'number' }> | null = null
  let lastEnd = 0
  let isRounded = false
  let tens = 0
  let afterMonthWord = false
  const add = (readings: number[][], { mayBeMonth = afterMonthWord, end = 0 } = {}) => {
    last = { type: 'number', readings, scales: [], isRounded, mayBeMonth }
    lastEnd = end
    figures.push(last)
  }
  for (const match of text.matchAll(tokenPattern)) {
    const { date, time, number, word, sign2: sign } = match.groups!
    const end = match.index + match[0].length
    if (date !== undefined) for (const part of date.split(/\D/)) add([[Number(part)]], { mayBeMonth: true })
    else if (time !== undefined) addTime(time, add)
    else if (number !== undefined) {
      const readings = readNumber(number)
      add(
        isEndOfRange(text, match.index, number)
          ? [...readings, [century(text, match.index) + Number(number)]]
          : readings,
        { end },
      )
    } else if (sign !== undefined) {
      const code = currencyOf(sign)
      if (code) figures.push({ type: 'currency', code })
      isRounded = code === undefined
      continue
    } else if (word !== undefined) {
      const folded = word.toLowerCase()
      const isNext = last !== null && match.index - lastEnd <= 1
      const scales = isNext ? scalesOfWord(folded) : []
      if (scales.length > 0) {
        last!.scales =
          last!.scales.length === 0 ? scales : last!.scales.flatMap((left) => scales.map((right) => left * right))
        lastEnd = end
        continue
      }
      if (isNext && /^[月월]/u.test(word)) last!.mayBeMonth = true
      if (isNext && /^p$|^pm$/.test(folded)) last!.readings.push(...afternoon(last!.readings))
      const currency = currencyOf(folded)
      if (currency) figures.push({ type: 'currency', code: currency })
      const known = asClaims ? numberOfWord(folded, language) : numberSuppliedByWord(folded, language)
      const value = known ?? (isGuess ? numberOfDistinctWord(folded) : undefined)
      if (value !== undefined) add(tens > 0 && value < 10 ? [[tens + value]] : [[value]], { end })
      else for (const numeral of hanNumbers(word, { asClaims })) add([[numeral]], { mayBeMonth: numeral <= 12 })
      addMonth(figures, word, folded, { text, at: match.index, end, language, asClaims })
      tens = isTens(folded) ? (numberSuppliedByWord(folded, 'en') ?? 0) : 0
      isRounded = isApproximation(folded)
      afterMonthWord = folded === 'tháng'
      continue
    }
    tens = 0
    afterMonthWord = false
    isRounded = false
  }
  return figures
}

/** The 95 of "1990–95", which may also be 1995. */
function isEndOfRange(text: string, at: number, number: string): boolean {
  return /^\d\d$/.test(number) && /(?<!\d)[12]\d{3}[-–/]$/.test(text.slice(Math.max(0, at - 6), at))
}

const century = (text: string, at: number) => Number(text.slice(at - 5, at - 3)) * 100

/** "17:30" is also 17 and 30, and in German "17.30". Minutes of zero are left out. */
function addTime(time: string, add: (readings: number[][]) => void) {
  const [hours, minutes] = time.split(':').map(Number) as [number, number]
  add(minutes === 0 ? [[hours], [exact(hours + minutes / 100)]] : [[hours, minutes], [exact(hours + minutes / 100)]])
}

/** "5 pm" is also 17. */
function afternoon(readings: readonly number[][]): number[][] {
  return readings.flatMap(([hour]) => (hour !== undefined && hour < 12 && hour >= 1 ? [[exact(hour + 12)]] : []))
}

interface WordContext {
  text: string
  at: number
  end: number
  language: Language
  asClaims: boolean
}

/** Month names that are also frequent words. */
const ambiguousMonths = new Set(['may', 'march', 'mars'])

function addMonth(figures: Figure[], word: string, folded: string, context: WordContext) {
  const { text, at, end, language, asClaims } = context
  const month = monthOfName(folded, language)
  if (!asClaims) {
    const supplied = month ?? monthOfAbbreviation(folded, language)
    if (supplied !== undefined) figures.push({ type: 'month', month: supplied })
    return
  }
  if (month === undefined) return
  // "may" and "march" are months in capitals only, and at the beginning of a sentence only next to a number.
  if (ambiguousMonths.has(folded)) {
    const isNextToNumber =
      /\d[.,a-z]{0,3} {0,2}$/.test(text.slice(Math.max(0, at - 6), at)) || /^.? {0,2}\d/.test(text.slice(end, end + 4))
    const startsSentence = /(?:^|[.!?:"“|])[\s*_]*$/u.test(text.slice(Math.max(0, at - 4), at))
    if (!/^\p{Lu}/u.test(word) || (startsSentence && !isNextToNumber)) return
  }
  figures.push({ type: 'month', month })
}
