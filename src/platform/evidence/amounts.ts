import type { Language } from '../language/index.ts'
import { isYear } from './read-figures.ts'
import { currencyOf, numberOfWord, readNumber, unitOfWord } from './read-number.ts'
import { isContentWord, isWhole, wordKeys } from './words.ts'

/** A number with what it counts. */
export interface Amount {
  /** Times and durations in minutes; days of the week from 0. */
  value: number
  kind: 'money' | 'percent' | 'time' | 'duration' | 'day' | 'unit' | 'plain'
  /** The keys of its unit: "days". */
  unit: readonly string[]
}

const tokenPattern = /\d+(?:[.,:]\d+)*|\p{L}[\p{L}\p{M}]*|[€$£¥%٪％–,;()-]/gu
const percents = new Set(['%', '％', '٪', 'percent', 'prozent', 'procent'])
const ofRanges = new Set(['-', '–', 'to', 'bis', 'à', 'a', 'al', 'alle', 'tot', 'and', 'und', 'et', 'y', 'e', 'en'])
const clocks = new Set(['am', 'a', 'pm', 'p', 'uhr', 'uur', 'h'])
const minutesOfHour = 60
const noon = 12
const adverbStart = /^(?:w|month|y|j|ann?ual|hebd|sem|set|mon|men|maa)/u
const adverbs: readonly (readonly [number, RegExp])[] = [
  [10_080, /^(?:weekly|wöchentlich\p{L}*|hebdomadaire\p{L}*|semanal\p{L}*|settimanal\p{L}*|wekelijks\p{L}?)$/u],
  [43_800, /^(?:monthly|monatlich\p{L}*|mensuel\p{L}*|mensual\p{L}*|mensil\p{L}*|maandelijks\p{L}?)$/u],
  [525_600, /^(?:yearly|annually|jährlich\p{L}*|annuellement|anualmente|annualmente|jaarlijks\p{L}?)$/u],
]
const secondsOfMinute = 60
function minutesOf(word: string): number | undefined {
  const unit = unitOfWord(word)
  return unit?.measure === 'time' && unit.size >= secondsOfMinute ? unit.size / secondsOfMinute : undefined
}
const free = /^(?:free|gr[aá]tis|gratuit[eos]*|gratuitament\p{L}*|gratuitement|kostenlos\p{L}*|kostenfrei\p{L}*)$/u
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

/** The amounts of a text that `normaliseNumerals` has returned, in lower case, in order. Linear. */
export function readAmounts(text: string, latin: Language): Amount[] {
  const tokens = Array.from(text.matchAll(tokenPattern), ([token]) => token)
  const amounts: Amount[] = []
  /** What the number that follows counts, for the first one of "3 to 5 days". */
  let last: { at: number; amount: Amount } | null = null
  for (let at = tokens.length - 1; at >= 0; at--) {
    const token = tokens[at]!
    const next = tokens[at + 1]
    if ((free.test(token) && tokens[at - 1] !== '-') || isNoFee(tokens, at)) {
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
    const isRange: boolean =
      last?.at === at + 2 && ofRanges.has(tokens[at + 1]!) && isYear(value) === isYear(last.amount.value)
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

/** "No monthly fee". */
const isNoFee = (tokens: readonly string[], at: number) =>
  fee.test(tokens[at]!) && (lack.test(tokens[at - 1] ?? '') || lack.test(tokens[at - 2] ?? ''))
const fee = /^(?:fees?|charges?|gebühr(?:en)?|frais)$/u
const lack = /^(?:no|without|keine?r?|ohne|sans|aucuns?)$/u

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

const scale =
  /^(?:thousand|million|billion|tausend|million(?:en|s|es)?|milliarden?|mrd|mio|mln|milli(?:on|ard)i?|milliards?|miles|millones|mil)$/u

function amountOf(value: number, tokens: readonly string[], at: number, latin: Language): Amount {
  const [before, next] = [tokens[at - 1], tokens[scale.test(tokens[at + 1] ?? '') ? at + 2 : at + 1]]
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

export const paying =
  /^(?:pay|pays|paid|paying|costs?|charged|zahl\p{L}*|bezahl\p{L}*|kostet\p{L}*|paie(?:nt)?|pay(?:er|ent)|coût(?:e|ent|er)|paga[mnr]?|pagano|pagare|cuestan?|costa(?:no|re)?|custa[mr]?|betaal\p{L}*|betalen|kost)$/u
const money = /[€$£¥]|\d\s?(?:euros?|eur|usd|chf|gbp|dollars?|pounds?|kr)(?!\p{L})/u
const closing =
  /^(?:clos(?:es?|ed|ing)|schließ\p{L}+|geschlossen|ferm\p{L}+|cierra\p{L}*|cerra\p{L}+|chiud\p{L}+|fech\p{L}+|sluit\p{L}*)$/u
const closingTime =
  /(?<!\p{L})(?:clos(?:es?|ing)|schließ\p{L}+|ferme\p{L}*|cierra\p{L}*|chiud\p{L}+|fecha\p{L}*|sluit\p{L}*)(?: \p{L}{1,12}){0,2} (?:at|um|à|a las?|alle|às?|om|by) \d/u

/**
 * Whether a number states more than a word (lower case) that has an opposite: "costs 5 euros" next to what is free, and "closes at 6" next to "open
 * until 6".
 */
export const isStatedByAmount = (word: string, part: string) =>
  (paying.test(word) && money.test(part)) || (closing.test(word) && closingTime.test(part))

/** Whether two amounts count the same. */
export const isSameKind = (left: Amount, right: Amount) =>
  left.kind === right.kind && (left.kind !== 'unit' || left.unit.some((key) => right.unit.includes(key)))

/** The days of the week from Monday, and how short they are written in ranges. */
const days: Readonly<Record<Language, readonly string[]>> = {
  en: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
  de: ['montag', 'dienstag', 'mittwoch', 'donnerstag', 'freitag', 'samstag', 'sonntag'],
  fr: ['lundi', 'mardi', 'mercredi', 'jeudi', 'vendredi', 'samedi', 'dimanche'],
  es: ['lunes', 'martes', 'miércoles', 'jueves', 'viernes', 'sábado', 'domingo'],
  it: ['lunedì', 'martedì', 'mercoledì', 'giovedì', 'venerdì', 'sabato', 'domenica'],
  pt: ['segunda', 'terça', 'quarta', 'quinta', 'sexta', 'sábado', 'domingo'],
  nl: ['maandag', 'dinsdag', 'woensdag', 'donderdag', 'vrijdag', 'zaterdag', 'zondag'],
}
const shortUnits: Readonly<Record<Language, number>> = { en: 3, de: 2, fr: 3, es: 3, it: 3, pt: 3, nl: 2 }
const between = String.raw`\s?(?:-|–|—|to|through|till|until|bis|au|à|a|al|tot|t\/m|até)\s?(?:(?:le|la|el|il|o|a) )?`
const weekend =
  /(?<!\p{L})(?:week-?ends?|wochenenden?|fin(?:es)? de semana|fine ?settimana|fi(?:m|ns) de semana)(?!\p{L})/u
const weekdays = /(?<!\p{L})(?:weekdays?|werktags|wochentags|jours ouvrables|doordeweeks)(?!\p{L})/u

const rangePatterns = new Map<Language, RegExp>()

function rangesOf(latin: Language): RegExp {
  const known = rangePatterns.get(latin)
  if (known) return known
  const units = shortUnits[latin]!
  const day = `(${days[latin]!.map((name) => `${name.slice(0, units)}(?:${name.slice(units)})?`).join('|')})s?\\.?`
  const pattern = new RegExp(`(?<!\\p{L})${day}${between}${day}(?!\\p{L})`, 'gu')
  rangePatterns.set(latin, pattern)
  return pattern
}

/** The days of the week, from 0 for Monday, that a text includes without their names: Tuesday of "Monday to Wednesday", Saturday of "weekends". */
function includedIn(text: string, latin: Language): Set<number> {
  const found = new Set<number>()
  const names = days[latin] ?? []
  if (names.length === 0) return found
  const indexOf = (written: string) =>
    names.findIndex((name) => name.slice(0, shortUnits[latin]) === written.slice(0, shortUnits[latin]))
  for (const [, from, to] of text.matchAll(rangesOf(latin))) {
    const [first, last] = [indexOf(from!), indexOf(to!)]
    const length = ((last - first + names.length) % names.length) + 1
    for (let step = 0; step < length; step++) found.add((first + step) % names.length)
  }
  if (weekend.test(text)) for (const day of [5, 6]) found.add(day)
  if (weekdays.test(text)) for (const day of [0, 1, 2, 3, 4]) found.add(day)
  return found
}

/** The names of those days. Linear. */
export const includedDays = (text: string, latin: Language) =>
  [...includedIn(text.toLowerCase(), latin)].map((day) => days[latin]![day]!)

const indexes = new Map<Language, ReadonlyMap<string, number>>()

/** The names of days, also in the plural, with their numbers. */
function indexesOf(latin: Language): ReadonlyMap<string, number> {
  const known =
    indexes.get(latin) ??
    new Map((days[latin] ?? []).flatMap((name, day) => [name, `${name}s`].map((word) => [word, day] as const)))
  indexes.set(latin, known)
  return known
}

/** Whether a word (lower case) names a day of the week. */
export const isDayOfWeek = (word: string, latin: Language) => indexesOf(latin).has(word)

/** The same with the days that it names, from 0 for Monday. `words`: of the text in lower case. Linear. */
function daysOf(text: string, words: readonly string[], latin: Language): number[] {
  const found = includedIn(text, latin)
  const known = indexesOf(latin)
  for (const word of words) {
    const day = known.get(word)
    if (day !== undefined) found.add(day)
  }
  return [...found]
}

const ofWeekend = ['weekend', 'weekends', 'wochenende', 'wochenenden', 'weekday', 'weekdays', 'werktags']

/** The words that name days. */
const dayWords = (latin: Language): string[] => [...(days[latin] ?? []), ...ofWeekend]
