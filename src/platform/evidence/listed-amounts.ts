import { type Language, tokenize } from '../language/index.ts'
import { isOperationWord, type Claims } from './claims.ts'
import { includedDays } from './day-ranges.ts'
import { type Amount, isSameKind, readAmounts } from './read-amounts.ts'
import { isWhole } from './read-cells.ts'
import { currencyOf, numberOfWord } from './read-number.ts'
import { isContentWord, wordKeys } from './text-language.ts'

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
  const separator = new RegExp(String.raw`([;,:](?!\d)|[、，；：]|[。！？]|[.!?](?=\s|$)|\n${joined})`, 'giu')
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
    const parts = text.split(separatorOf(latin))
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
  claims: Pick<Claims, 'amounts' | 'words'>,
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
