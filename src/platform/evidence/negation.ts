import { defaultLanguage, type Language, tokenize } from '../language/index.ts'
import { isContentWord, wordKeys } from './evidence-words.ts'
import {
  afterAbsence,
  clauseEnd,
  continuesSubject,
  exceptionStart,
  findNegations,
  isConditional,
  numberSign,
  splitStatements,
} from './negation-words.ts'
import { oppositeSides } from './opposite-words.ts'
import { latinOf, type TextLanguage } from './text-language.ts'

/** A part of a sentence that is denied or not. */
export interface Clause {
  /** The keys of each content word. */
  words: string[][]
  isNegated: boolean
  /** It has a word such as "without". */
  isAbsence: boolean
  /** It states a condition. */
  isCondition: boolean
  /** Its words that have an opposite. */
  opposites: Opposite[]
  /** The keys of the content word after its negation, or after a word such as "without"; null where it has neither. */
  denied: string[] | null
  /** The sentence that it is part of, from 0. */
  sentence: number
}

interface Opposite {
  /** As in `oppositeSides`. */
  side: number
  word: string
  /** The next word or number. */
  next: string | undefined
  /** It counts as a negation itself, such as "forbidden". */
  isNegation: boolean
}

/** A clause with fewer content words belongs to the next one: items of a list, and the subject before an insertion. */
const fewWords = 2
const subjectWords = 2
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
  let isAbsence = false
  /** The first words of the sentence's first clause: a title, and the subject. */
  let subject: readonly string[] = []
  const add = (sentence: number, isNegated: boolean, denied: string[] | null = null) => {
    const keys = words.map((word) => wordKeys(word, latin))
    clauses.push({ words: keys, isNegated, isAbsence, isCondition, opposites, denied, sentence })
    if (subject.length === 0) subject = words.slice(0, subjectWords)
    isAbsence = false
    words = []
    opposites = []
    isCondition = false
  }
  const sentences = splitStatements(text.replaceAll(numberSign, 'number '))
  for (const [sentence, whole] of sentences.entries()) {
    subject = []
    for (const part of whole.split(clauseEnd)) {
      if (clauses.length === maximumClauses) return clauses
      if (exceptionStart.test(part)) {
        // Only the opposites in it are compared.
        words = []
        isCondition = false
        opposites = readOpposites(tokenize(part, { singleCharacters: false }), language)
        add(sentence, false)
        continue
      }
      if (words.length === 0 && continuesSubject(part)) words = [...subject]
      const negations = findNegations(part, language)
      if (negations === null) return []
      const tokens = tokenize(part, { singleCharacters: false })
      const found = readOpposites(tokens, language)
      opposites.push(...found)
      // What forbids is no topic.
      const signs = new Set(found.filter((one) => one.isNegation).map(({ word }) => word))
      words = [...new Set([...words, ...tokens.filter((word) => isContentWord(word, latin) && !signs.has(word))])]
      isCondition ||= isConditional(part, latin)
      const isNegated = negations.count % 2 === 1
      const absent = afterAbsence(part)
      isAbsence ||= absent !== null
      if (words.length >= fewWords || negations.count > 0)
        add(sentence, isNegated, firstKeys(isNegated ? negations.after : absent, latin))
    }
  }
  if (words.length > 0 && clauses.length < maximumClauses) add(sentences.length - 1, false)
  return clauses
}

/** So many words after a negation may be what it denies. */
const deniedReach = 4

/** The keys of the first content word of a text; none where it begins with more function words. */
function firstKeys(text: string | null, latin: Language): string[] | null {
  if (text === null) return null
  const first = tokenize(text, { singleCharacters: false })
    .slice(0, deniedReach)
    .find((word) => isContentWord(word, latin))
  return first === undefined ? [] : wordKeys(first, latin)
}

function readOpposites(tokens: readonly string[], language: TextLanguage): Opposite[] {
  const latin = latinOf(language, defaultLanguage)
  return tokens.flatMap((word, at) => {
    const isNegation = () => findNegations(word, language)?.count === 1
    return oppositeSides(word, latin).map((side) => ({ side, word, next: tokens[at + 1], isNegation: isNegation() }))
  })
}

/** A clause with a smaller share of the words deals with something else; in scripts without spaces words are pairs of characters. */
const minimumShare = 0.55
const minimumShareOfPairs = 0.45
/**
 * A clause with this share of the words of the best one may be meant as well, unless that has nearly all. Denials are rare, so that one with fewer
 * words counts.
 */
const nearlyBest = 0.67
const nearlyBestDenial = 0.45
/** Where a clause has this share of the words, one with fewer is about something else. */
const clearShare = 0.9

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
  return claimed.some((claim) => {
    const { words, isNegated, isCondition } = claim
    if (words.length < fewWords && claimed.length > 1) return false
    const counts = new Map<number, number>()
    for (const keys of words) {
      const found = new Set(keys.flatMap((key) => places.get(key) ?? []))
      // A denied condition is compared with conditions only.
      for (const index of found)
        if (!isCondition || text[index]!.isCondition) counts.set(index, (counts.get(index) ?? 0) + 1)
    }
    const most = Math.max(0, ...counts.values())
    if (most === 0 || most < words.length * (isPaired(words) ? minimumShareOfPairs : minimumShare)) return false
    const isClear = most >= words.length * clearShare
    if (isCondition && !isClear) return false
    const least = isClear ? most : most * (isNegated ? nearlyBestDenial : nearlyBest)
    const best = [...counts].filter(([, count]) => count >= least).map(([index]) => text[index]!)
    // "In the evening, no dogs are allowed": the text denies what the sentence denies next to it.
    const denials = isNegated ? [] : claimed.filter((one) => one.isNegated && one.sentence === claim.sentence)
    const isDeniedNext = (clause: Clause) =>
      denials.some((one) => agrees(one, clause) && shareIn(one.words, keysOf(clause)) >= denialShare)
    return best.every((clause) => !agrees(claim, clause) && !isDeniedNext(clause))
  })
}

const isPaired = (words: readonly (readonly string[])[]) => /\p{Script=Han}/u.test(words[0]?.[0] ?? '')

/** Whether both have the same polarity, or one of them has the opposite of a word of the other: "not open" and "closed". */
export function agrees(claim: Clause, clause: Clause): boolean {
  // "Not without a ticket" agrees with "with a ticket".
  if (claim.isNegated && claim.isAbsence && !clause.isAbsence) return true
  return (claim.isNegated === clause.isNegated) !== hasOpposite(claim, clause)
}

/** Whether a clause has the opposite of a word. Words that deny are counted as negations. */
function hasOpposite(claim: Clause, clause: Clause): boolean {
  if (clause.opposites.length === 0) return false
  return claim.opposites.some((one) => {
    if (one.isNegation) return false
    const opposite = clause.opposites.filter(({ side, isNegation }) => side === -one.side && !isNegation)
    const same = clause.opposites.filter(({ side }) => side === one.side)
    if (opposite.length === 0) return false
    // "After two o'clock, and before noon": what follows shows which is meant.
    const isNext = ({ next }: Opposite) => next !== undefined && next === one.next
    return same.length === 0 || (opposite.some(isNext) && !same.some(isNext))
  })
}

/** A denial of the text may be the one of the sentence if its clause, or its sentence, has this share of the words. */
const denialShare = 0.5
const denialShareOfSentence = 0.5
/** The same, if it denies the same word, and if no clause has more words. */
const denialShareWithWord = 0.3
const leastBestShare = 0.3

/**
 * Whether the sentence denies something, or names something as absent ("without"), and the text has no denial and no absence that it may mean. A
 * passage that agrees with a denial has one as well; one that does not speaks of the same without it.
 */
export function lacksDenial(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  const denials = claimed.filter(
    ({ denied, isCondition, words }) =>
      denied !== null && !isCondition && (words.length >= fewWords || claimed.length === 1),
  )
  if (denials.length === 0 || text.length === 0) return false
  const known = denialsOf(text)
  return denials.some((denial) => {
    const { words, denied } = denial
    const share = (keys: ReadonlySet<string>) => shareIn(words, keys)
    const shares = text.map((clause) => ({ clause, share: share(keysOf(clause)) }))
    const most = shares.reduce((best, one) => Math.max(best, one.share), 0)
    const isMeant = ({ clause, share: own }: (typeof shares)[number]) =>
      (own >= denialShare && hasOpposite(denial, clause)) ||
      (clause.denied !== null && own >= leastBestShare && own === most)
    if (shares.some(isMeant)) return false
    return !known.some(({ clause, sentence }) => {
      const isSameWord = denied!.some((key) => clause.has(key))
      return (
        share(clause) >= denialShare || share(sentence) >= (isSameWord ? denialShareWithWord : denialShareOfSentence)
      )
    })
  })
}

/** The words of each clause that denies something, and of its sentence. */
type Denial = Record<'clause' | 'sentence', ReadonlySet<string>>
const knownDenials = new WeakMap<readonly Clause[], Denial[]>()

function denialsOf(text: readonly Clause[]): Denial[] {
  const known = knownDenials.get(text)
  if (known) return known
  const sentences = Map.groupBy(text, ({ sentence }) => sentence)
  const ofSentence = new Map<number, Set<string>>()
  const found: Denial[] = []
  for (const clause of text) {
    const { denied, sentence } = clause
    if (denied === null) continue
    const whole = ofSentence.get(sentence) ?? new Set(sentences.get(sentence)!.flatMap((one) => one.words.flat()))
    ofSentence.set(sentence, whole)
    found.push({ clause: keysOf(clause), sentence: whole })
  }
  knownDenials.set(text, found)
  return found
}

/** The share of words, each with its keys, that are among known keys. */
function shareIn(words: readonly (readonly string[])[], known: ReadonlySet<string>): number {
  return words.filter((keys) => keys.some((key) => known.has(key))).length / words.length
}

/** A text states the opposite of a clause only if it has this share of its other words. */
const leastSharedWords = 0.5
/** A text that has the word itself in a clause with this share does not. */
const leastSharedWordsOfSame = 0.3

/**
 * Whether the text has the opposite of a word of the sentence in a clause with half of the words of the claimed one. Not if a clause about the same
 * has the word itself.
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
      const rest = clause.words.filter(([word]) => word !== opposite.word)
      if (rest.length === 0) return false
      const shareAt = (at: readonly { clause: Clause }[]) =>
        at.reduce((best, place) => Math.max(best, shareIn(rest, keysOf(place.clause))), 0)
      const ofOpposite = shareAt(
        (places.get(-opposite.side) ?? []).filter((place) => isDenied(place) === isDenied({ clause, opposite })),
      )
      // "Not required" is "optional".
      const ofSame = shareAt([
        ...(places.get(opposite.side) ?? []),
        ...(places.get(-opposite.side) ?? []).filter((place) => isDenied(place) !== isDenied({ clause, opposite })),
      ])
      return ofOpposite >= leastSharedWords && ofSame < leastSharedWordsOfSame
    }),
  )
}

const knownKeys = new WeakMap<Clause, ReadonlySet<string>>()

export function keysOf(clause: Clause): ReadonlySet<string> {
  const known = knownKeys.get(clause) ?? new Set(clause.words.flat())
  knownKeys.set(clause, known)
  return known
}

/** Whether another word than this one denies it. */
const isDenied = ({ clause, opposite }: { clause: Clause; opposite: Opposite }) =>
  clause.isNegated !== opposite.isNegation

/** Whether each clause that the sentence denies is denied by the text as well. */
export function sharesDenials(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  return claimed
    .filter(({ isNegated, isCondition }) => isNegated && !isCondition)
    .every((clause) => deny([{ ...clause, isNegated: false }], text))
}
