import { isFunctionWord, splitSentences, tokenize } from '../../../platform/language/index.ts'

/** Longest quote, in characters (Unicode code points). */
export const maximumQuoteCharacters = 300
/** Words are compared by their first characters, so that endings do not matter. */
const comparedCharacters = 6
/** Most of a cited text that is compared, UTF-16 units. */
const maximumComparedUnits = 4_000
/** Words of a part of a sentence that a passage must have; function words of English do not count. */
const fewWords = 2

export interface Quote {
  text: string
  /** Its index in the passage, UTF-16 units. */
  at: number
}

/**
 * The part of a passage, in whole sentences where they fit, that shares most words with `cited`: at most 300 characters. Words that are
 * rare in the passage weigh more. Without a shared word it is the beginning of the passage. The same input gives the same quote; time is
 * linear in both texts.
 */
export function selectQuote(passage: string, cited: string): Quote {
  return createQuotes(passage)({ sentence: cited, part: cited })
}

/** Reads a passage for the quotes of many sentences. Where the passage has `part` of a sentence, the rest does not count. */
export function createQuotes(passage: string): (cited: CitedSentence) => Quote {
  const all = splitSegments(passage).map((text) => ({
    ...text,
    words: [...new Set(wordsOf(passage.slice(text.from, text.to)))],
  }))
  const known = new Set(all.flatMap(({ words }) => words))
  return ({ sentence, part }) => {
    const own = part === sentence ? null : new Set(wordsOf(part.slice(0, maximumComparedUnits)))
    const isOwn =
      own !== null && [...own].filter((word) => known.has(word) && !isFunctionWord(word, 'en')).length >= fewWords
    const wanted = isOwn ? own : new Set(wordsOf(sentence.slice(0, maximumComparedUnits)))
    const segments = all.map((segment) => ({ ...segment, words: segment.words.filter((word) => wanted.has(word)) }))
    if (segments.length === 0) return { text: '', at: 0 }
    const weights = weigh(segments)
    const { first, last } = trim(segments, weights, findBest(segments, weights))
    const text = passage.slice(segments[first]!.from, segments[last]!.to)
    return { text: text.trim(), at: segments[first]!.from + text.length - text.trimStart().length }
  }
}

interface Segment {
  from: number
  to: number
  characters: number
  /** The wanted words in it, each once. */
  words: string[]
}

interface Window {
  first: number
  last: number
}

/** Long words and numbers weigh more than short words, and words in one sentence more than words in many. */
function weigh(segments: readonly Segment[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { words } of segments) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const lengthOf = (word: string) => (/^\d/.test(word) ? comparedCharacters : word.length)
  return new Map([...counts].map(([word, count]) => [word, lengthOf(word) / count]))
}

/** The window of at most 300 characters with the largest weight; of equal ones the first. */
function findBest(segments: readonly Segment[], weights: ReadonlyMap<string, number>): Window {
  const counts = new Map<string, number>()
  let best: Window = { first: 0, last: 0 }
  let bestWeight = -1
  let weight = 0
  let characters = 0
  let first = 0
  for (const [last, segment] of segments.entries()) {
    characters += segment.characters
    for (const word of segment.words) {
      const count = counts.get(word) ?? 0
      if (count === 0) weight += weights.get(word)!
      counts.set(word, count + 1)
    }
    while (characters > maximumQuoteCharacters) {
      const left = segments[first++]!
      characters -= left.characters
      for (const word of left.words) {
        const count = counts.get(word)! - 1
        if (count === 0) weight -= weights.get(word)!
        counts.set(word, count)
      }
    }
    // A margin, because sums of fractions in another order differ in their last digits.
    if (weight > bestWeight + 1e-9 || (weight === 0 && bestWeight === 0 && first === 0)) {
      best = { first, last }
      bestWeight = Math.max(weight, bestWeight)
    }
  }
  return best
}

/** A segment at an end with a smaller share of the window's weight is left out. */
const minimumShare = 0.1

/** Without the segments at either end that add little to the others. A window without any word stays as it is. */
function trim(segments: readonly Segment[], weights: ReadonlyMap<string, number>, window: Window): Window {
  const counts = new Map<string, number>()
  for (let at = window.first; at <= window.last; at++)
    for (const word of segments[at]!.words) counts.set(word, (counts.get(word) ?? 0) + 1)
  if (counts.size === 0) return window
  let total = 0
  for (const word of counts.keys()) total += weights.get(word)!
  const drop = ({ words }: Segment): boolean => {
    let added = 0
    for (const word of words) if (counts.get(word) === 1) added += weights.get(word)!
    if (added > total * minimumShare) return false
    for (const word of words) counts.set(word, counts.get(word)! - 1)
    return true
  }
  let { first, last } = window
  while (first < last && drop(segments[last]!)) last--
  while (first < last && drop(segments[first]!)) first++
  return { first, last }
}

function wordsOf(text: string): string[] {
  return tokenize(text, { singleCharacters: true }).map((word) => word.slice(0, comparedCharacters))
}

/** Sentences; pieces of words where one is longer than a quote. Together they are the whole text. */
function splitSegments(text: string): { from: number; to: number; characters: number }[] {
  const segments: { from: number; to: number; characters: number }[] = []
  const add = (from: number, to: number) => {
    if (to > from) segments.push({ from, to, characters: countCharacters(text.slice(from, to)) })
  }
  let from = 0
  for (const { from: to } of splitSentences(text).slice(1)) {
    cutLong(text, from, to, add)
    from = to
  }
  cutLong(text, from, text.length, add)
  return segments
}

/** Longest piece of a sentence that is longer than a quote, UTF-16 units: half of a quote, so that a quote may have two of them. */
const pieceUnits = 150

function cutLong(text: string, from: number, to: number, add: (from: number, to: number) => void) {
  let at = from
  if (to - from > maximumQuoteCharacters) {
    while (to - at > pieceUnits) {
      const space = text.slice(at, at + pieceUnits).lastIndexOf(' ')
      const cut = space > 0 ? at + space + 1 : at + pieceUnits
      // Not inside a surrogate pair.
      const end = isLowSurrogate(text.charCodeAt(cut)) ? cut - 1 : cut
      add(at, end)
      at = end
    }
  }
  add(at, to)
}

export function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff

/** UTF-16 units of a sentence before its marker, and after it. */
const maximumBefore = 600
const maximumAfter = 300

/** What a marker supports. */
export interface CitedSentence {
  sentence: string
  /** The part of it between the row of markers before and this one. */
  part: string
}

const letterOrDigit = /[\p{L}\p{N}]/u

/** Follows the text of an answer and finds the sentence of each marker, whatever pieces the text arrives in. Time is linear in the text. */
export function createSentenceTracker() {
  let tail = ''
  /** UTF-16 units since the row of markers before. */
  let sinceRow = 0
  /** UTF-16 units without a letter since the last marker; null after text. Markers with only such text between them are one row. */
  let gap: number | null = null
  /** Texts after markers that are still shorter than `maximumAfter`. */
  let growing: { after: string }[] = []

  return {
    push(text: string): void {
      const begin = text.slice(0, maximumAfter)
      for (const marker of growing) marker.after = (marker.after + begin).slice(0, maximumAfter)
      growing = growing.filter(({ after }) => after.length < maximumAfter)
      tail += text.slice(-maximumBefore)
      if (gap !== null && letterOrDigit.test(text)) {
        sinceRow = gap
        gap = null
      }
      sinceRow += text.length
      if (gap !== null) gap += text.length
      // Cutting at twice the length keeps the time linear for a text that arrives in single characters.
      if (tail.length > 2 * maximumBefore) tail = tail.slice(-maximumBefore)
    },
    /** The sentence of a marker at the end of the text so far. Call the result after the end of the answer. */
    atMarker(): () => CitedSentence {
      const before = tail.slice(-maximumBefore)
      const partFrom = Math.max(0, before.length - sinceRow)
      gap = 0
      const marker = { after: '' }
      growing.push(marker)
      return () => joinSentence(before, marker.after, partFrom)
    },
  }
}

/**
 * A marker after a stop belongs to the sentence before it, a marker within a sentence to all of that sentence, and a marker at the
 * beginning of a line to the sentence after it.
 */
function joinSentence(before: string, after: string, partFrom: number): CitedSentence {
  const { inner, isComplete } = trimSentenceEnd(before)
  const isLead = lineStart.test(before.slice(before.lastIndexOf('\n') + 1)) && letterOrDigit.test(/^.*/.exec(after)![0])
  const known = isLead ? '' : inner
  const sentences = splitSentences(isComplete && !isLead ? known : known + after)
  const cited = sentences.findLast(({ from }) => from < known.length) ?? sentences[0]
  if (cited === undefined) return { sentence: '', part: '' }
  const sentence = trimSentenceEnd(cited.text).inner
  const part = known.slice(Math.max(cited.from, partFrom))
  return { sentence, part: letterOrDigit.test(part) ? part : sentence }
}

/** Of a line: nothing but the sign of a list item. */
const lineStart = /^\s*(?:[-*+•>#|]+\s+|\d{1,3}[.)]\s+)*$/u

/** A text without the stop, the quotes and the white space at its end. `isComplete`: there was a stop. */
export function trimSentenceEnd(before: string): { inner: string; isComplete: boolean } {
  const body = before.trimEnd()
  const isComplete = /(?:[.!?…]["'”’»)]{0,4}|[。！？])$/u.test(body)
  return { inner: isComplete ? body.replace(/[.!?…。！？"'”’»)]{1,20}$/u, '') : body, isComplete }
}
