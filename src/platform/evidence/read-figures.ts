import type { Language } from '../language/index.ts'
import {
  currencyOf,
  exact,
  halfOfDay,
  hanNumbers,
  isApproximation,
  isTens,
  mayPrecedeUnit,
  numberOfDistinctWord,
  numberOfWord,
  numberPattern,
  numberSuppliedByWord,
  readNumber,
  scalesOfWord,
  type Unit,
  unitOfWord,
} from './read-number.ts'

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
      isPercent: boolean
      /** What it counts: "days". */
      unit?: Unit
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
    const isPercent = end > 0 && percentSign.test(text.slice(end, end + percentUnits))
    last = { type: 'number', readings, scales: [], isRounded, isPercent, mayBeMonth }
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
      if (isNext) {
        const unit = unitOfWord(folded) ?? (language === 'en' ? halfOfDay(folded, text.slice(end, end + 4)) : undefined)
        if (unit && !/['’]/.test(text[lastEnd]!)) last!.unit ??= unit
        else if (mayPrecedeUnit(folded)) lastEnd = end
      }
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

const percentSign = /^\s?(?:[%％٪]|per ?cent|prozent|pour cent|por ciento|per cento|procent)/iu
const percentUnits = 12

/** The readings of each number. */
export function numbersOf(figures: readonly Figure[]): number[][] {
  return figures.flatMap((figure) => (figure.type === 'number' ? [figure.readings.flat()] : []))
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

/** Languages in Latin script whose month names are known, by ISO 639-1 code. */
const latinLanguages = new Set('en de fr es it pt nl sv da no fi ro tr hu id pl cs ca'.split(' '))
/** Those in another script share one list for each script: their names do not collide. */
const otherLanguages: readonly (readonly [script: RegExp, languages: readonly Language[]])[] = [
  [/^\p{Script=Cyrillic}/u, ['ru', 'uk', 'bg']],
  [/^\p{Script=Greek}/u, ['el']],
  [/^\p{Script=Arabic}/u, ['ar', 'fa']],
  [/^\p{Script=Devanagari}/u, ['hi']],
  [/^\p{Script=Hebrew}/u, ['he']],
  [/^\p{Script=Thai}/u, ['th']],
]

/** Names that are one word of letters. Names such as "5月" and "tháng 5" are numbers. */
const namePattern = /^\p{L}[\p{L}\p{M}]+$/u

/** Month names in lower case with their numbers, 1 to 12. */
interface MonthNames {
  full: Map<string, number>
  abbreviated: Map<string, number>
}

/** By their languages; each is created on first use, which takes some 2 ms, and 25 ms where the process has formatted nothing yet. */
const created = new Map<string, MonthNames>()

function namesIn(languages: readonly Language[]): MonthNames {
  const key = languages.join(' ')
  const names = created.get(key) ?? namesOf(languages)
  created.set(key, names)
  return names
}

/** The first unit of a word in another script than Latin. */
const firstOtherUnit = 0x370

/** The names that a word may be: those of a text in `language`, and English ones. */
function namesFor(word: string, language: Language): MonthNames[] {
  if (word.charCodeAt(0) >= firstOtherUnit) {
    const other = otherLanguages.find(([script]) => script.test(word))
    return other ? [namesIn(other[1])] : []
  }
  return language !== 'en' && latinLanguages.has(language) ? [namesIn([language]), namesIn(['en'])] : [namesIn(['en'])]
}

function namesOf(languages: readonly Language[]): MonthNames {
  const names: MonthNames = { full: new Map(), abbreviated: new Map() }
  for (const language of languages) {
    for (const style of ['long', 'short'] as const) {
      // In a date the names of Slavic languages have another case.
      for (const day of [undefined, 'numeric'] as const)
        addNames(names, language, { month: style, ...(day && { day }) })
    }
  }
  return names
}

function addNames(names: MonthNames, language: Language, options: Intl.DateTimeFormatOptions) {
  const format = new Intl.DateTimeFormat(language === 'no' ? 'nb' : language, {
    ...options,
    calendar: 'gregory',
    timeZone: 'UTC',
  })
  for (let month = 1; month <= 12; month++) {
    const parts = format.formatToParts(Date.UTC(2023, month - 1, 15))
    const name = (parts.find(({ type }) => type === 'month')?.value ?? '').toLowerCase().replace(/\.$/, '')
    if (namePattern.test(name)) (options.month === 'long' ? names.full : names.abbreviated).set(name, month)
  }
}

/** The month, 1 to 12, that a word (lower case) names in a text whose Latin words are in `language`, or in English. */
export function monthOfName(word: string, language: Language): number | undefined {
  return monthIn('full', word, language)
}

/** As `monthOfName`, for abbreviations such as "Sept". */
function monthOfAbbreviation(word: string, language: Language): number | undefined {
  return monthIn('abbreviated', word, language)
}

function monthIn(kind: keyof MonthNames, word: string, language: Language): number | undefined {
  for (const names of namesFor(word, language)) {
    const month = names[kind].get(word)
    if (month !== undefined) return month
  }
  return undefined
}

/** The value of a number with one reading and no scale. */
export function plainValueOf(figure: Figure): number | null {
  if (figure.type !== 'number' || figure.scales.length > 0 || figure.readings.length !== 1) return null
  const [reading] = figure.readings
  return reading!.length === 1 ? reading![0]! : null
}

export const isYear = (value: number) => Number.isInteger(value) && value >= 1_500 && value <= 2_100

/** A share in words, as percent: "a quarter of", "one in five". */
export interface Share {
  /** 50 for "half". */
  percent: number
  /** "About half". */
  isRounded: boolean
  /** From two on: those of "two in five". */
  numbers: number[]
}

const countWords: Readonly<Record<string, number>> = {
  a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10, twenty: 20,
  ein: 1, eine: 1, einem: 1, einen: 1, zwei: 2, drei: 3, vier: 4, fünf: 5, un: 1, une: 1, deux: 2, trois: 3, quatre: 4,
  uno: 1, una: 1, dos: 2, tres: 3, due: 2, tre: 3, um: 1, uma: 1, dois: 2, três: 3,
} // prettier-ignore
/** Parts of a whole, in the singular and the plural. */
const partWords: Readonly<Record<string, number>> = {
  half: 2, halves: 2, third: 3, thirds: 3, quarter: 4, quarters: 4, fourths: 4, fifth: 5, fifths: 5, sixth: 6, sixths: 6,
  eighth: 8, eighths: 8, tenth: 10, tenths: 10, drittel: 3, viertel: 4, fünftel: 5, achtel: 8, zehntel: 10, tiers: 3,
  quart: 4, quarts: 4, cinquième: 5, cinquièmes: 5, tercio: 3, tercios: 3, cuarto: 4, cuartos: 4, terzo: 3, terzi: 3,
  quarti: 4, terço: 3, terços: 3,
} // prettier-ignore
const ordinalWords: Readonly<Record<string, number>> = {
  zweite: 2, dritte: 3, vierte: 4, fünfte: 5, zehnte: 10, second: 2, third: 3, fourth: 4, fifth: 5, tenth: 10,
} // prettier-ignore

const anyOf = (words: Readonly<Record<string, number>>) => Object.keys(words).join('|')
/** Those of the languages below: a pattern with the letters of all scripts that ignores case takes ten times as long to compile. */
const letter = String.raw`[a-zß-ɏ\u0300-\u036f]`
const wordStart = `(?<!${letter}|\\d)`
const wordEnd = `(?!${letter}|\\d)`
/** Hours, days and dozens are separate amounts. */
const noAmount = `(?! (?:of )?(?:an?|one|eines?|einer) (?:hour|day|year|month|century|dozen|mile|million|stunde|jahres|jahrhunderts)| (?:hours?|years?|past|time|stunden?|jahre?)(?!${letter}))`
const whole = String.raw`(?:half(?=(?: of| the| as| all| that| its| their| his| her| our| your)(?!${letter})|\s*(?:[.,;)]|$))|hälfte|moitié|mitad|metà|metade)`
const sharePattern = new RegExp(
  `${wordStart}(?:(?<by>(?:by|um|of) )?(?<count>${anyOf(countWords)}|\\d{1,2})[ -](?<part>${anyOf(partWords)})${wordEnd}${noAmount}` +
    `|(?<few>${anyOf(countWords)}|(?<![\\d.,])\\d{1,2}) (?:in|out of|von|sur|de cada|su|em cada) (?:every )?(?<all>${anyOf(countWords)}|\\d{1,3})${wordEnd}(?![.,:]\\d)` +
    `|(?:every|jede[rsmn]?) (?<each>${anyOf(ordinalWords)})[rsnm]?${wordEnd}` +
    `|(?<!(?:first|second|latter|other|lower|upper|zweiten?|ersten?) )(?<whole>${whole})${wordEnd}${noAmount})`,
  'giu',
)
/** What grew to twice its size did so by 100 %. */
const changes: readonly (readonly [RegExp, number])[] = [
  [new RegExp(`${wordStart}(?:doubl(?:e[sd]?|ing)|verdoppel${letter}*|doubl[ée]${letter}{0,2}|(?:du|re)plic${letter}+|raddoppi${letter}+)${wordEnd}`, 'iu'), 100],
  [new RegExp(`${wordStart}(?:tripl(?:e[sd]?|ing)|trebl${letter}+|verdreifach${letter}*|tripl[ée]${letter}{0,2}|triplic${letter}+)${wordEnd}`, 'iu'), 200],
  [new RegExp(`${wordStart}(?:quadrupl${letter}+|vervierfach${letter}*)${wordEnd}`, 'iu'), 300],
  [new RegExp(`${wordStart}(?:halv(?:e[sd]?|ing)|halbier${letter}*)${wordEnd}`, 'iu'), 50],
] // prettier-ignore
const approximation =
  /(?:about|around|nearly|almost|roughly|approximately|over|under|than|some|only|ungefähr|etwa|rund|fast|knapp|gut|environ|presque|casi|quasi|circa)(?: the| a| die| la)?\s*$/iu
const unitsBefore = 24
/** What follows a share of something. */
const ofWhole =
  /^(?: (?:of|der|des|von|aller?|de|du|des|del|della|dei|degli|dos?|das?|the|more|less|larger|smaller|higher|lower)(?![a-zß-ɏ])| d['’]|\s*(?:[.,;:)]|$))/iu
const unitsAfter = 12

/** The shares that a text (as `normaliseNumerals` returns it) has in words, and the text without them. Linear. */
export function readShares(text: string): { shares: Share[]; rest: string } {
  const shares: Share[] = []
  const rest = text.replaceAll(sharePattern, (...match) => {
    const [index, , groups] = match.slice(-3) as [number, string, Record<string, string | undefined>]
    const end = index + (match[0] as string).length
    const { by, count, part, few, all, each } = groups
    // "A third party" is no share.
    if (part && !by && !ofWhole.test(text.slice(end, end + unitsAfter))) return ' '
    const percent = part
      ? (100 * numberOf(count!)) / partWords[part.toLowerCase()]!
      : all
        ? (100 * numberOf(few!)) / numberOf(all)
        : each
          ? 100 / ordinalWords[each.toLowerCase()]!
          : 50
    if (percent > 0 && percent < 100)
      shares.push({
        percent,
        isRounded: approximation.test(text.slice(Math.max(0, index - unitsBefore), index)),
        numbers: [count, few, all].flatMap((one) => (one && numberOf(one) > 1 ? [numberOf(one)] : [])),
      })
    return ' '
  })
  return { shares, rest: shares.length === 0 ? text : rest }
}

/** By how many percent something changed, by one word of a text: "doubled". */
export function readChanges(text: string): number[] {
  return changes.flatMap(([word, percent]) => (word.test(text) ? [percent] : []))
}

const shareWords = new Set(
  `${Object.keys(partWords).join(' ')} hälfte moitié mitad metà metade percent percentage per-cent prozent pourcent ciento`.split(
    ' ',
  ),
)
/** Whether a word (lower case) only states a share: a text may write the share in another form. */
export const isShareWord = (word: string) => shareWords.has(word)

const numberOf = (written: string) => countWords[written.toLowerCase()] ?? Number(written)

/** "About half" is 44 % to 56 %. */
const roundedReach = 6

/** How a share may be written as a number: 66, 66.7 or 67 for two thirds. */
export const writtenForms = (percent: number) => [
  ...new Set([Math.floor(percent), Math.round(percent), Math.round(percent * 10) / 10]),
]

/** The segments that have this share, or nearly. `shares`: segments by percent, as `Math.round` returns it. */
export function findShare(
  shares: ReadonlyMap<number, readonly number[]>,
  { percent, isRounded }: Share,
): readonly number[] {
  const reach = isRounded ? roundedReach : 0
  const least = Math.round(percent) - reach
  return Array.from({ length: 2 * reach + 1 }, (_, step) => shares.get(least + step) ?? []).flat()
}
