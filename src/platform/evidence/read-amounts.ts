import type { Language } from '../language/index.ts'
import { daysOf, dayWords } from './day-ranges.ts'
import { currencyOf, numberOfWord, readNumber } from './read-number.ts'
import { isWhole } from './read-cells.ts'
import { isContentWord, wordKeys } from './text-language.ts'

/** A number with what it counts. */
export interface Amount {
  /** Times and durations in minutes; days of the week from 0. */
  value: number
  kind: 'money' | 'percent' | 'time' | 'duration' | 'day' | 'unit' | 'plain'
  /** The keys of its unit: "days". */
  unit: readonly string[]
}

const tokenPattern = /\d+(?:[.,:]\d+)*|\p{L}[\p{L}\p{M}]*|[€$£¥%٪％–-]/gu
const percents = new Set(['%', '％', '٪', 'percent', 'prozent', 'procent'])
const ofRanges = new Set(['-', '–', 'to', 'bis', 'à', 'a', 'al', 'alle', 'tot', 'and', 'und', 'et', 'y', 'e', 'en'])
const clocks = new Set(['am', 'a', 'pm', 'p', 'uhr', 'uur', 'h'])
const minutesOfHour = 60
const noon = 12
/** Units of time, each as its beginning: "days", "Tagen". */
const durations: readonly (readonly [number, RegExp])[] = [
  [1, /^(?:min|mins|minut\p{L}*)$/u],
  [60, /^(?:hours?|hrs?|stunden?|heures?|horas?|ora|ore|uren)$/u],
  [1_440, /^(?:days?|tage?n?|jours?|d[ií]as?|giorn[oi]|dag|dagen)$/u],
  [10_080, /^(?:weeks?|wochen?|semaines?|semanas?|settiman[ae]|week|weken)$/u],
  [43_800, /^(?:months?|monate?n?|mois|mes|meses|mes[ei]|maand|maanden)$/u],
  [525_600, /^(?:years?|jahre?n?|ans?|années?|años?|ann[oi]|anos?|jaar|jaren)$/u],
]
const adverbStart = /^(?:w|month|y|j|ann?ual|hebd|sem|set|mon|men|maa)/u
const adverbs: readonly (readonly [number, RegExp])[] = [
  [10_080, /^(?:weekly|wöchentlich\p{L}*|hebdomadaire\p{L}*|semanal\p{L}*|settimanal\p{L}*|wekelijks\p{L}?)$/u],
  [43_800, /^(?:monthly|monatlich\p{L}*|mensuel\p{L}*|mensual\p{L}*|mensil\p{L}*|maandelijks\p{L}?)$/u],
  [525_600, /^(?:yearly|annually|jährlich\p{L}*|annuellement|anualmente|annualmente|jaarlijks\p{L}?)$/u],
]
const minutesOf = (unit: string) => durations.find(([, words]) => words.test(unit))?.[0]
const free = /^(?:free|gratis|gratuit[eos]*|gratuitament\p{L}*|gratuitement|kostenlos\p{L}*|kostenfrei\p{L}*)$/u
/** "A week". */
const articles = new Set([
  'a',
  'an',
  'one',
  'ein',
  'eine',
  'einen',
  'einem',
  'einer',
  'un',
  'une',
  'una',
  'uno',
  'um',
  'uma',
  'een',
])

const knownDays = new Map<Language, readonly string[]>()

function keysOfDays(latin: Language): readonly string[] {
  const known = knownDays.get(latin) ?? dayWords(latin).flatMap((word) => wordKeys(word, latin).filter(isWhole))
  knownDays.set(latin, known)
  return known
}

/** The amounts of a text that `normaliseNumerals` has returned, in order. Linear. */
export function readAmounts(text: string, latin: Language): Amount[] {
  const tokens = Array.from(text.toLowerCase().matchAll(tokenPattern), ([token]) => token)
  const amounts: Amount[] = []
  /** What the number that follows counts, for the first one of "3 to 5 days". */
  let last: { at: number; amount: Amount } | null = null
  for (let at = tokens.length - 1; at >= 0; at--) {
    const token = tokens[at]!
    const next = tokens[at + 1]
    if (free.test(token) && tokens[at - 1] !== '-') {
      amounts.push({ value: 0, kind: 'money', unit: [] })
      continue
    }
    const minutes = adverbStart.test(token) ? adverbs.find(([, words]) => words.test(token))?.[0] : undefined
    if (minutes !== undefined) {
      amounts.push({ value: minutes, kind: 'duration', unit: wordKeys(token, latin).filter(isWhole) })
      continue
    }
    const isOne = articles.has(token) && next !== undefined && minutesOf(next) !== undefined
    const value = /^\d/.test(token) ? valueOf(token, next) : isOne ? 1 : numberOfWord(token, latin)
    if (value === undefined) continue
    const isRange: boolean = last?.at === at + 2 && ofRanges.has(tokens[at + 1]!)
    const amount: Amount =
      isRange && !token.includes(':')
        ? {
            ...last!.amount,
            value: value * (last!.amount.kind === 'duration' ? (minutesOf(last!.amount.unit[0]!) ?? 1) : 1),
          }
        : amountOf(value, tokens, at, latin)
    amounts.push(amount)
    last = { at, amount }
  }
  const ofDays = daysOf(text, tokens, latin).map((day): Amount => ({
    value: day,
    kind: 'day',
    unit: keysOfDays(latin),
  }))
  return [...amounts.toReversed(), ...ofDays]
}

function valueOf(token: string, next: string | undefined): number | undefined {
  const clock = /^(\d{1,2}):(\d{2})$/.exec(token)
  const afternoon = next === 'pm' || next === 'p'
  const toMinutes = (hours: number, minutes: number) =>
    (afternoon && hours < noon ? hours + noon : hours) * minutesOfHour + minutes
  if (clock) return toMinutes(Number(clock[1]), Number(clock[2]))
  const value = readNumber(token)[0]?.[0]
  return value !== undefined && next !== undefined && clocks.has(next) && value <= 2 * noon
    ? toMinutes(value, 0)
    : value
}

function amountOf(value: number, tokens: readonly string[], at: number, latin: Language): Amount {
  const [before, next] = [tokens[at - 1], tokens[at + 1]]
  const plain = { value, kind: 'plain' as const, unit: [] }
  if (tokens[at]!.includes(':') || (next !== undefined && /^\d/.test(tokens[at]!) && clocks.has(next)))
    return { ...plain, kind: 'time' }
  if (next !== undefined && percents.has(next)) return { ...plain, kind: 'percent' }
  const minutes = next === undefined ? undefined : minutesOf(next)
  if (minutes !== undefined)
    return { value: value * minutes, kind: 'duration', unit: wordKeys(next!, latin).filter(isWhole) }
  if ([before, next].some((one) => one !== undefined && currencyOf(one) !== undefined))
    return { ...plain, kind: 'money' }
  if (next === undefined || !/^\p{L}/u.test(next) || !isContentWord(next, latin)) return plain
  return { ...plain, kind: 'unit', unit: wordKeys(next, latin).filter(isWhole) }
}

const paying =
  /^(?:pay|pays|paid|paying|costs?|charged|zahl\p{L}*|bezahl\p{L}*|kostet\p{L}*|pai\p{L}+|coût\p{L}+|pag\p{L}+|cuesta\p{L}*|cost\p{L}+|cust\p{L}+|betaal\p{L}*|betalen|kost)$/u
const money = /[€$£¥]|\d\s?(?:euros?|eur|usd|chf|gbp|dollars?|pounds?|kr)(?!\p{L})/iu
const closing =
  /^(?:clos(?:es?|ed|ing)|schließ\p{L}+|geschlossen|ferm\p{L}+|cierra\p{L}*|cerra\p{L}+|chiud\p{L}+|fech\p{L}+|sluit\p{L}*)$/u
const closingTime =
  /(?<!\p{L})(?:clos(?:es?|ing)|schließ\p{L}+|ferme\p{L}*|cierra\p{L}*|chiud\p{L}+|fecha\p{L}*|sluit\p{L}*)(?: \p{L}{1,12}){0,2} (?:at|um|à|a las?|alle|às?|om|by) \d/iu

/**
 * Whether a number states more than a word (lower case) that has an opposite: "costs 5 euros" next to what is free, and "closes at 6" next to "open
 * until 6".
 */
export const isStatedByAmount = (word: string, part: string) =>
  (paying.test(word) && money.test(part)) || (closing.test(word) && closingTime.test(part))

/** Whether two amounts count the same. */
export const isSameKind = (left: Amount, right: Amount) =>
  left.kind === right.kind && (left.kind !== 'unit' || left.unit.some((key) => right.unit.includes(key)))
