import { type Language, tokenize } from '../language/index.ts'
import { type Amount, includedDays, isDayOfWeek, isSameKind, paying, readAmounts } from './amounts.ts'
import { isOperationWord } from './derived-numbers.ts'
import { isNegation, splitStatements, withPlainNumbers, withPlainWords } from './negation-words.ts'
import { isYear, monthOfName } from './read-figures.ts'
import { currencyOf, numberOfWord } from './read-number.ts'
import { isContentWord, isWhole, wordKeys, wordSet } from './words.ts'

/** One of several amounts that sentences list, with the words that name it: "express 9.90 euros" of "standard 4.90 euros, express 9.90 euros". */
export interface Item {
  segment: number
  sentence: number
  amounts: readonly Amount[]
  /** The keys of each content word, without units. */
  words: readonly (readonly string[])[]
  /** The years that it has besides other amounts; they name it like words. */
  years: readonly string[]
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
const year = String.raw`(?:18|19|20)\d\d`
const separators = new Map<Language, RegExp>()

function separatorOf(latin: Language): RegExp {
  const known = separators.get(latin)
  if (known) return known
  const words = conjunctions[latin]
  // Not within "3 and 5 days" and "2019 to 2022".
  const joined =
    words === undefined ? '' : String.raw`|(?<=\s)(?:${words})(?=\s+\D)|(?<=\p{L}{3}\s)(?:${words})(?=\s+\d)`
  const afterYear = String.raw`|(?<=\s${year}\s)(?:${words ?? 'and'}|to|auf|à|naar)(?=\s\D?\d)(?!\s${year}(?!\d))`
  const separator = new RegExp(
    String.raw`([;,:](?!\d)|[、，；：]|[。！？]|[.!?](?=\s|$)|\n${joined}${afterYear})`,
    'gu',
  )
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
      completeAmounts(ofSentence)
      // "Students: 5 euros" is one item.
      if (ofSentence.length === 1) ofSentence[0]!.shared = new Set()
      if (end === '\n') before = ''
      shared = new Set()
      ofSentence = []
    }
  }
  return items
}

/** "A cabin costs 48 euros, a caravan 17": a number alone counts what the only other amounts of its sentence do. */
function completeAmounts(items: readonly Item[]): void {
  const others = items.flatMap(({ amounts }) => amounts.filter(({ kind }) => kind !== 'plain'))
  const [first] = others
  if (first === undefined || !others.every((amount) => isSameKind(amount, first))) return
  const { kind, unit } = first
  for (const item of items)
    if (item.amounts.every((amount) => amount.kind === 'plain' && !isOfYear(amount)))
      item.amounts = item.amounts.map(({ value }) => ({ kind, unit, value }))
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
    years: yearsOf(amounts),
    keys: new Set([...words.flat(), ...days].filter(isWhole)),
  }
}

const isOfYear = ({ kind, value }: Amount) => kind === 'plain' && isYear(value)
const yearsOf = (amounts: readonly Amount[]) =>
  amounts.every(isOfYear) ? [] : amounts.filter(isOfYear).map(({ value }) => String(value))

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
    readPassage,
    isKnown,
    isDenying,
  }: { readPassage: () => readonly Item[]; isKnown: (keys: readonly string[]) => boolean; isDenying: boolean },
): boolean {
  // "Not open on Mondays" where the text lists other days.
  const amounts = claims
    .amounts()
    .filter(({ kind }) => kind !== 'day' || !isDenying)
    .slice(0, maximumAmounts)
  if (amounts.length === 0) return false
  const items = readPassage()
  return amounts.some((amount, at) => {
    const values = amounts.filter((one) => isSameKind(one, amount)).map(({ value }) => value)
    if (amounts.findIndex((one) => isSameKind(one, amount)) !== at) return false
    const sameOf = (item: Item) => item.amounts.filter((one) => isSameKind(one, amount)).map(({ value }) => value)
    const having = items.filter((item) => sameOf(item).length > 0)
    const meant = having.filter((item) => values.every((value) => sameOf(item).includes(value)))
    const claimed = new Set(
      amounts.filter((one) => [kindOf(amount), 'plain'].includes(kindOf(one))).map(({ value }) => value),
    )
    const others = having.filter((item) => !sameOf(item).some((value) => claimed.has(value)))
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

/** So many items of a sentence that each name another one of the passage are exchanged. */
const leastSwapped = 2
/** Most items of a sentence, amounts of each, and items of a passage with such an amount. */
const maximumClaimed = 20
const maximumOfItem = 6
const maximumSwapped = 20

/**
 * Whether a sentence that lists amounts itself exchanges them: "adults pay 7 euros and children 12" next to "adults pay 12 euros, children 7".
 */
export function swapsItems(claimed: readonly Item[], readPassage: () => readonly Item[]): boolean {
  if (claimed.length < leastSwapped) return false
  const own = claimed.slice(0, maximumClaimed).map(withYears)
  const values = new Set(own.flatMap(valuesOf))
  const candidates = readPassage()
    .map(withYears)
    .filter((item) => valuesOf(item).some((value) => values.has(value)))
  if (candidates.length > maximumSwapped) return false
  return own.filter((item) => isSwapped(item, candidates)).length >= leastSwapped
}

/** An item whose years are words. */
function withYears(item: Item): Item {
  const { years, words, keys, amounts } = item
  if (years.length === 0) return item
  return {
    ...item,
    words: [...words, ...years.map((year) => [year])],
    keys: keys.union(new Set(years)),
    amounts: amounts.filter((amount) => !isOfYear(amount)),
  }
}

/** "14 employees in the north, 23 in the south". */
const kindOf = ({ kind }: Amount) => (kind === 'unit' ? 'plain' : kind)
const valuesOf = ({ amounts }: Item) =>
  amounts.slice(0, maximumOfItem).map((amount) => `${kindOf(amount)} ${amount.value}`)

/** Whether what an item of a sentence states of an amount is in the passage of another one that the sentence has as well. */
function isSwapped({ amounts, words }: Item, candidates: readonly Item[]): boolean {
  if (words.length > maximumWords) return false
  return amounts.slice(0, maximumOfItem).some((amount) => {
    const isOfKind = (item: Item) => item.amounts.some((one) => kindOf(one) === kindOf(amount))
    const has = (item: Item) => item.amounts.some((one) => kindOf(one) === kindOf(amount) && one.value === amount.value)
    const own = words.filter((keys) => amount.kind !== 'money' || !keys.some((key) => paying.test(key)))
    const meant = candidates.filter(has)
    return (
      meant.length > 0 &&
      meant.every((item) =>
        candidates.some(
          (other) =>
            other.sentence === item.sentence &&
            isOfKind(other) &&
            !has(other) &&
            isNamedInstead(item, other, { own, areKnown: true, units: noUnits }),
        ),
      )
    )
  })
}

const noUnits: ReadonlySet<string> = new Set()

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

/** When something begins or ends: "from 1 May", "closes at 6 pm". */
export interface Bound {
  /** The day, month, year, day of the week or minute. */
  at: string
  isEnd: boolean
  /** The keys of the words of its part, and of its sentence. */
  words: readonly (readonly string[])[]
  around: ReadonlySet<string>
}

/** Pure data. */
const starts = wordSet('from since after starting beginning ab seit nach dès depuis desde dal dalla dalle')
const ends = wordSet('until till before through by bis vor hasta antes entro tot')
const startVerb = /^(?:opens|begins?|began|start(?:s|ed)?|öffnet|beginnt|begann|startet)$/u
const endVerb = /^(?:closes|end(?:s|ed)?|finish(?:es|ed)?|expire[sd]?|schließt|endet|endete)$/u
const closed = /(?<!\p{L})(?:closed|unavailable|geschlossen|fermée?s?|cerrad[oa]s?|chius[oaie])(?!\p{L})/u
const afterVerb = wordSet('at in on um im am')
const skipped = wordSet('the at in on um im am den dem der zum about the beginning end of anfang ende')
const ofRange = wordSet('to bis - –')
/** Tokens from a verb to its bound, and from a number to the clock of its range. */
const reachOfVerb = 3
const maximumBounds = 100

/** What begins and ends in a text, by its sentences. Linear. */
export function readBounds(text: string, latin: Language): Bound[] {
  const found: Bound[] = []
  for (const sentence of splitStatements(withPlainNumbers(withPlainDates(text, latin)))) {
    let around: ReadonlySet<string> | undefined
    for (const part of sentence.split(separatorOf(latin))) {
      const own = boundsOfPart(part, latin).slice(0, maximumBounds - found.length)
      if (own.length === 0) continue
      const isReversed = closed.test(part) !== isNegation(part, { script: 'latin', latin })
      const words = wholeKeysOf(part, latin)
      around ??= new Set(wholeKeysOf(sentence, latin).flat())
      for (const { at, isEnd } of own) found.push({ at, isEnd: isEnd !== isReversed, words, around })
    }
    if (found.length === maximumBounds) break
  }
  return found
}

const wholeKeysOf = (text: string, latin: Language) => keysOfWords(text, latin).map((keys) => keys.filter(isWhole))

/** "30 Juni" for "30. Juni", whose sign ends no sentence. */
const withPlainDates = (text: string, latin: Language) =>
  text.replaceAll(/(?<!\d)(\d{1,2})\. (?=(\p{L}{3,12}))/gu, (written, day: string, word: string) =>
    monthOfName(word.toLowerCase(), latin) === undefined ? written : `${day} `,
  )

function boundsOfPart(part: string, latin: Language): { at: string; isEnd: boolean }[] {
  const tokens = part.match(/\d+(?::\d+)?|\p{L}[\p{L}\p{M}]*|[-–]/gu) ?? []
  let isOpen = false
  return tokens.flatMap((token, place) => {
    const isVerb = startVerb.test(token) || endVerb.test(token)
    const isRange = isOpen && ofRange.has(token)
    if (!isVerb && !isRange && !starts.has(token) && !ends.has(token)) return []
    let next = place + 1
    if (isVerb) {
      const preposition = tokens.slice(next, next + reachOfVerb).findIndex((word) => afterVerb.has(word))
      if (preposition === -1) return []
      next += preposition
    }
    while (skipped.has(tokens[next] ?? '')) next++
    const at = timeAt(tokens, next, latin)
    // "It opens on Mondays" begins nothing.
    if (at === null || (isVerb && at.startsWith('weekday'))) return []
    const isEnd = isRange || ends.has(token) || endVerb.test(token)
    isOpen = !isEnd
    return [{ at, isEnd }]
  })
}

/** The day, month, year or time that some tokens begin with; null for other things. */
function timeAt(tokens: readonly string[], at: number, latin: Language): string | null {
  const [first = '', second = '', third = ''] = tokens.slice(at, at + 3)
  const month = monthOfName(first, latin)
  if (/^\d{1,2}$/.test(first)) {
    const [name, number] = /^(?:st|nd|rd|th|of|de)$/.test(second) ? [third, first] : [second, first]
    const ofDay = monthOfName(name, latin)
    if (ofDay !== undefined) return `day ${ofDay} ${number}`
  }
  if (month !== undefined) return /^\d{1,2}$/.test(second) ? `day ${month} ${second}` : `month ${month}`
  if (isDayOfWeek(first, latin)) return `weekday ${wordKeys(first, latin)[0]!.replace(/s$/, '')}`
  if (/^\d{4}$/.test(first) && isYear(Number(first))) return `year ${first}`
  const [amount] = /^\d/.test(first) ? readAmounts(tokens.slice(at, at + 4).join(' '), latin) : []
  if (amount?.kind === 'time') return `time ${amount.value}`
  return null
}

/** A bound whose part has this share of its words in the sentence of the other one is about the same. */
const sameShare = 0.5

/** Whether a sentence states as the end what the passage states as the beginning, or the reverse. */
export function hasOtherBounds(claimed: readonly Bound[], readPassage: () => readonly Bound[]): boolean {
  return claimed.slice(0, maximumClaimed).some(({ at, isEnd, words }) => {
    const same = readPassage().filter((bound) => bound.at === at)
    if (same.length === 0 || same.some((bound) => bound.isEnd === isEnd)) return false
    const named = words.filter((keys) => !startVerb.test(keys[0]!) && !endVerb.test(keys[0]!))
    return same.some(
      ({ around }) => named.filter((keys) => keys.some((key) => around.has(key))).length >= named.length * sameShare,
    )
  })
}
