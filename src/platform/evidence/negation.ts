import { defaultLanguage, tokenize } from '../language/index.ts'
import { isContentWord, wordKeys } from './evidence-words.ts'
import { clauseEnd, condition, countNegations, exceptionStart } from './negation-words.ts'
import { latinOf, type TextLanguage } from './text-language.ts'

/** A part of a sentence that is denied or not. */
export interface Clause {
  /** The keys of each content word. */
  words: string[][]
  isNegated: boolean
  /** It states a condition. */
  isCondition: boolean
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
  const add = (isNegated: boolean) => {
    clauses.push({ words: words.map((word) => wordKeys(word, latin)), isNegated, isCondition })
    words = []
    isCondition = false
  }
  for (const part of text.split(clauseEnd)) {
    if (clauses.length === maximumClauses) break
    if (exceptionStart.test(part)) {
      words = []
      isCondition = false
      continue
    }
    const negations = countNegations(part, language)
    if (negations === null) return []
    const added = tokenize(part, { singleCharacters: false }).filter((word) => isContentWord(word, latin))
    words = [...new Set([...words, ...added])]
    isCondition ||= condition.test(part)
    if (words.length >= fewWords || negations > 0) add(negations % 2 === 1)
  }
  if (words.length > 0 && clauses.length < maximumClauses) add(false)
  return clauses
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

/** Whether each clause that the sentence denies is denied by the text as well. */
export function sharesDenials(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  return claimed
    .filter(({ isNegated, isCondition }) => isNegated && !isCondition)
    .every((clause) => deny([{ ...clause, isNegated: false }], text))
}
