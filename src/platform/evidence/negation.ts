import { defaultLanguage, tokenize } from '../language/index.ts'
import { isContentWord, wordKeys } from './evidence-words.ts'
import { clauseEnd, condition, countNegations, exceptionStart } from './negation-words.ts'
import { oppositeSide } from './opposite-words.ts'
import { latinOf, type TextLanguage } from './text-language.ts'

/** A part of a sentence that is denied or not. */
export interface Clause {
  /** The keys of each content word. */
  words: string[][]
  isNegated: boolean
  /** It states a condition. */
  isCondition: boolean
  /** Its words that have an opposite. */
  opposites: Opposite[]
}

interface Opposite {
  /** As in `oppositeSide`. */
  side: number
  /** It counts as a negation itself, such as "forbidden". */
  isNegation: boolean
  /** The keys of the content words next to it. */
  before: string[]
  after: string[]
}

/** A clause with fewer content words belongs to the next one: items of a list, and the subject before an insertion. */
const fewWords = 2
/** Most clauses of a text that are compared. */
const maximumClauses = 400

/** The clauses of a text; empty where the negations of its script are not known. Time is linear in the text. */
export function readClauses(text: string, language: TextLanguage): Clause[] {
  const latin = latinOf(language, defaultLanguage)
  const clauses: Clause[] = []
  /** Of the parts before that had few words. */
  let words: string[] = []
  let isCondition = false
  let opposites: Opposite[] = []
  const add = (isNegated: boolean) => {
    clauses.push({ words: words.map((word) => wordKeys(word, latin)), isNegated, isCondition, opposites })
    words = []
    opposites = []
    isCondition = false
  }
  for (const part of text.split(clauseEnd)) {
    if (clauses.length === maximumClauses) break
    if (exceptionStart.test(part)) {
      words = []
      opposites = []
      isCondition = false
      continue
    }
    const negations = countNegations(part, language)
    if (negations === null) return []
    const tokens = tokenize(part, { singleCharacters: false })
    words = [...new Set([...words, ...tokens.filter((word) => isContentWord(word, latin))])]
    opposites.push(...readOpposites(tokens, language))
    isCondition ||= condition.test(part)
    if (words.length >= fewWords || negations > 0) add(negations % 2 === 1)
  }
  if (words.length > 0 && clauses.length < maximumClauses) add(false)
  return clauses
}

function readOpposites(tokens: readonly string[], language: TextLanguage): Opposite[] {
  const latin = latinOf(language, defaultLanguage)
  const found: Opposite[] = []
  const keysAt = (index: number | undefined) => (index === undefined ? [] : wordKeys(tokens[index]!, latin))
  const sides = tokens.map((token) => oppositeSide(token, latin))
  if (!sides.some((side) => side !== undefined)) return found
  const content = tokens.flatMap((token, index) =>
    isContentWord(token, latin) && sides[index] === undefined ? [index] : [],
  )
  let next = 0
  for (const [index, side] of sides.entries()) {
    while (next < content.length && content[next]! < index) next++
    if (side === undefined) continue
    const before = content[next - 1]
    const after = content[next]
    const isNegation = countNegations(tokens[index]!, language) === 1
    found.push({ side, isNegation, before: keysAt(before), after: keysAt(after) })
  }
  return found
}

/** A clause with a smaller share of the words deals with something else. */
const minimumShare = 0.55
/** A clause with this share of the words of the best one may be meant as well. Denials are rare, so that one with fewer words counts. */
const nearlyBest = 0.67
const nearlyBestDenial = 0.45

/**
 * Whether one of the claimed clauses is denied by the text, or denies it: all clauses of the text that have most of its words have the
 * other polarity.
 */
export function deny(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  if (text.length === 0) return false
  const places = new Map<string, number[]>()
  for (const [index, { words }] of text.entries()) {
    for (const key of words.flat()) {
      const known = places.get(key)
      if (!known) places.set(key, [index])
      else if (known.at(-1) !== index) known.push(index)
    }
  }
  return claimed.some(({ words, isNegated, isCondition }) => {
    if (isCondition || (words.length < fewWords && claimed.length > 1)) return false
    const counts = new Map<number, number>()
    for (const keys of words) {
      const found = new Set(keys.flatMap((key) => places.get(key) ?? []))
      for (const index of found) counts.set(index, (counts.get(index) ?? 0) + 1)
    }
    const most = Math.max(0, ...counts.values())
    if (most === 0 || most < words.length * minimumShare) return false
    const least = most * (isNegated ? nearlyBestDenial : nearlyBest)
    const best = [...counts].filter(([, count]) => count >= least).map(([index]) => text[index]!)
    return best.every((clause) => clause.isNegated !== isNegated)
  })
}

/** A text states the opposite of a clause only if it has this share of its words. */
const leastSharedWords = 0.5

/**
 * Whether the text has the opposite of a word of the sentence in the same place: next to the same words, in a clause with most of the words of
 * the claimed one. Not if it has the word itself there, too.
 */
export function statesOpposite(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  if (!claimed.some(({ opposites }) => opposites.length > 0)) return false
  const places = new Map<number, { clause: Clause; opposite: Opposite }[]>()
  for (const clause of text) {
    for (const opposite of clause.opposites) {
      const known = places.get(opposite.side)
      if (known) known.push({ clause, opposite })
      else places.set(opposite.side, [{ clause, opposite }])
    }
  }
  return claimed.some((clause) =>
    clause.opposites.some((opposite) => {
      const at = (side: number) =>
        (places.get(side) ?? []).filter(
          (place) => isSamePlace(opposite, place.opposite) && isSameMatter(clause, place.clause),
        )
      return (
        at(-opposite.side).some((place) => isDenied(place) === isDenied({ clause, opposite })) &&
        at(opposite.side).length === 0
      )
    }),
  )
}

/** Whether another word than this one denies it. */
const isDenied = ({ clause, opposite }: { clause: Clause; opposite: Opposite }) =>
  clause.isNegated !== opposite.isNegation

function isSamePlace(left: Opposite, right: Opposite): boolean {
  const isShared = (side: 'before' | 'after') => left[side].some((key) => right[side].includes(key))
  return isShared('after') || (isShared('before') && (left.after.length === 0 || right.after.length === 0))
}

function isSameMatter({ words }: Clause, other: Clause): boolean {
  const known = new Set(other.words.flat())
  return words.filter((keys) => keys.some((key) => known.has(key))).length >= words.length * leastSharedWords
}

/** Whether each clause that the sentence denies is denied by the text as well. */
export function sharesDenials(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  return claimed
    .filter(({ isNegated, isCondition }) => isNegated && !isCondition)
    .every((clause) => deny([{ ...clause, isNegated: false }], text))
}
