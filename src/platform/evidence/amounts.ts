import { type Language, tokenize } from '../language/index.ts'
import { isOperationWord } from './derived-numbers.ts'
import { withPlainWords } from './negation-words.ts'
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
const isSameKind = (left: Amount, right: Amount) =>
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

/** One of several amounts that sentences list, with the words that name it: "express 9.90 euros" of "standard 4.90 euros, express 9.90 euros". */
export interface Item {
  segment: number
  sentence: number
  amounts: readonly Amount[]
  /** The keys of each content word, without units. */
  words: readonly (readonly string[])[]
  keys: ReadonlySet<string>
  /** What the items of its sentence have in common: what is before a colon. */
  shared: ReadonlySet<string>
}

/** Most items of a passage, and most of them that are compared for one amount. */
const maximumItems = 400
const maximumCompared = 50
const pricing = /^(?:价格|价钱|费用|票价|料金|値段)$/u
/** Most parts without an amount that name the next one. */
const maximumOpen = 8
/** Most amounts of a sentence that are compared. */
const maximumAmounts = 24
/** Longer sentences list amounts themselves. */
const maximumWords = 60
/** Sentences with fewer words name no other item completely. */
const leastWords = 2

const conjunctions: Readonly<Record<Language, string>> = {
  en: 'and|or|but|while|whereas',
  de: 'und|oder|aber|während',
  fr: 'et|ou|mais',
  es: 'y|e|o|u|pero',
  it: 'e|o|ma|mentre',
  pt: 'e|ou|mas',
  nl: 'en|of|maar|terwijl',
}
const separators = new Map<Language, RegExp>()

function separatorOf(latin: Language): RegExp {
  const known = separators.get(latin)
  if (known) return known
  const joined = conjunctions[latin] === undefined ? '' : String.raw`|(?<=\s)(?:${conjunctions[latin]})(?=\s+\D)`
  const separator = new RegExp(String.raw`([;,:](?!\d)|[、，；：]|[。！？]|[.!?](?=\s|$)|\n${joined})`, 'gu')
  separators.set(latin, separator)
  return separator
}

/** The amounts that sentences list. `segments`: those that are no rows, by their numbers. Linear. */
export function readItems(segments: ReadonlyMap<number, string>, latin: Language): Item[] {
  const items: Item[] = []
  let sentence = 0
  for (const [segment, text] of segments) {
    let open: string[] = []
    let shared: ReadonlySet<string> = new Set()
    /** The sentence before, if it has no amount: "The delay is in seconds. The default is 5." */
    let before = ''
    let ofSentence: Item[] = []
    const parts = withPlainWords(text.toLowerCase()).split(separatorOf(latin))
    for (let at = 0; at < parts.length && items.length < maximumItems; at += 2) {
      const own = parts[at]!
      const part = [...open.slice(-maximumOpen), own].join(' ')
      const end = parts[at + 1] ?? '.'
      const isEnd = /^[.!?。！？\n]$/.test(end)
      if (/\d/.test(own) || readAmounts(own, latin).length > 0) {
        open = []
        const item = readItem(`${before} ${part}`, { segment, sentence, shared, latin })
        items.push(item)
        ofSentence.push(item)
        before = ''
      } else if (isEnd && ofSentence.length > 0) {
        const last = ofSentence.at(-1)!
        const more = readItem(part, { segment, sentence, shared, latin })
        Object.assign(last, { words: [...last.words, ...more.words], keys: last.keys.union(more.keys) })
      } else if (!isEnd) {
        open.push(own)
        if (/[:：]/.test(end)) shared = new Set(keysOfWords(part, latin).flat())
      }
      if (!isEnd) continue
      open = []
      sentence++
      if (ofSentence.length === 0) before = part
      // "Students: 5 euros" is one item.
      if (ofSentence.length === 1) ofSentence[0]!.shared = new Set()
      if (end === '\n') before = ''
      shared = new Set()
      ofSentence = []
    }
  }
  return items
}

function readItem(
  text: string,
  { latin, ...place }: Pick<Item, 'segment' | 'sentence' | 'shared'> & { latin: Language },
): Item {
  const amounts = readAmounts(text, latin)
  const units = new Set(amounts.flatMap(({ unit, kind }) => (kind === 'day' ? [] : unit)))
  const words = keysOfWords(text, latin).filter((keys) => !keys.some((key) => units.has(key)))
  const days = includedDays(text, latin).flatMap((day) => wordKeys(day, latin))
  return {
    ...place,
    amounts,
    words,
    keys: new Set([...words.flat(), ...days].filter(isWhole)),
  }
}

const keysOfWords = (text: string, latin: Language) =>
  [...new Set(tokenize(text, { singleCharacters: false }))]
    .filter((word) => isContentWord(word, latin) && (numberOfWord(word, latin) ?? currencyOf(word)) === undefined)
    .map((word) => wordKeys(word, latin))

/**
 * Whether an amount of the sentence is that of another item: wherever the text has it, the words of the sentence name one next to it, which has another
 * amount of the same kind. Not for sentences that compare amounts, or have a word that the text does not have.
 */
export function isOfOtherItem(
  claims: { amounts: () => readonly Amount[]; words: readonly (readonly string[])[] },
  {
    items,
    isKnown,
    isDenying,
  }: { items: readonly Item[]; isKnown: (keys: readonly string[]) => boolean; isDenying: boolean },
): boolean {
  // "Not open on Mondays" where the text lists other days.
  const amounts = claims
    .amounts()
    .filter(({ kind }) => kind !== 'day' || !isDenying)
    .slice(0, maximumAmounts)
  if (amounts.length === 0 || items.length === 0) return false
  return amounts.some((amount, at) => {
    const values = amounts.filter((one) => isSameKind(one, amount)).map(({ value }) => value)
    if (amounts.findIndex((one) => isSameKind(one, amount)) !== at) return false
    const valuesOf = (item: Item) => item.amounts.filter((one) => isSameKind(one, amount)).map(({ value }) => value)
    const having = items.filter((item) => valuesOf(item).length > 0)
    const meant = having.filter((item) => values.every((value) => valuesOf(item).includes(value)))
    const others = having.filter((item) => !valuesOf(item).some((value) => values.includes(value)))
    if (meant.length === 0 || meant.length > maximumCompared) return false
    // A day names a time, and no other day.
    const units = new Set(amounts.flatMap(({ unit, kind }) => (kind === 'day' && amount.kind !== 'day' ? [] : unit)))
    const own = claims.words
      .map((keys) => keys.filter(isWhole))
      .filter((keys) => !keys.some((key) => units.has(key) || currencyOf(key) !== undefined))
      // Who "pays nothing" has it free.
      .filter((keys) => amount.kind !== 'money' || !keys.some((key) => paying.test(key)))
    if (own.length > maximumWords) return false
    const areKnown = own.every((keys) => isKnown(keys) || keys.some((key) => isOperationWord(key) || pricing.test(key)))
    return meant.every((item) =>
      others.slice(0, maximumCompared).some((other) => isNamedInstead(item, other, { own, areKnown, units })),
    )
  })
}

/** Whether a sentence with some words names the other of two items. */
function isNamedInstead(
  item: Item,
  other: Item,
  { own, areKnown, units }: { own: readonly (readonly string[])[]; areKnown: boolean; units: ReadonlySet<string> },
): boolean {
  const claimed = new Set(own.flat())
  const isUnnamed = (keys: readonly string[]) => !keys.some((key) => claimed.has(key) || units.has(key))
  const isIn = (keys: readonly string[], { keys: known, shared }: Item) =>
    keys.some((key) => known.has(key) || shared.has(key))
  const ofOther = own.filter(
    (keys) => isIn(keys, other) && !isIn(keys, item) && !keys.some((key) => other.shared.has(key)),
  )
  if (ofOther.length === 0) return false
  // "Every three months, with hard water every month".
  const isSame = item.sentence === other.sentence
  if (isSame && other.words.length > 0 && !other.words.some(isUnnamed)) return true
  if (!item.words.some(isUnnamed)) return false
  if (own.length >= leastWords && own.every((keys) => isIn(keys, other))) return true
  if (Math.abs(item.segment - other.segment) > 1) return false
  const ofItem = own.filter((keys) => isIn(keys, item) && !isIn(keys, other))
  return areKnown && ofItem.length === 0
}
