import { defaultLanguage } from '../language/index.ts'
import { type Clause, fewWords, keysOf, shareIn, wordsOfSentences } from './clauses.ts'
import { once } from './claims.ts'
import { agrees, deniesOtherwise, hasOpposite, isInReverse, isOnlyLater, isOrder, isStated } from './negation.ts'
import { isLimiting } from './negation-words.ts'
import { isOfRate, isPlainRate } from './rates.ts'
import type { Opposite, Restriction } from './read-opposites.ts'

/** A sentence of a text that has this share of the words of another one repeats it. */
const repeatedShare = 0.7
/** Sentences with fewer words are like many others. */
const leastWords = 3

/**
 * The claimed sentences whose opposite those of the text have that have most words of them: they deny a word that it affirms, or affirm one that it
 * denies. Time is linear in both.
 */
export function findDeniedSentences(claimed: readonly Clause[], text: readonly Clause[]): Sentence[] {
  return groupSentences(claimed).filter((clauses) => {
    const { most, total, ofAtLeast } = findLike(clauses, text)
    if (clauses.flatMap(({ words }) => words).length < leastWords || total === 0 || most < total * repeatedShare)
      return false
    const isOpposed = ofAtLeast(most).every(
      (one) =>
        affirmsDenied(one, clauses, (clause, denial) => agrees(clause, denial)) ||
        affirmsDenied(clauses, one, (clause, denial) => agrees(denial, clause) || deniesOtherwise(denial, clause)),
    )
    const denials = clauses.filter(({ isNegated }) => isNegated)
    return isOpposed && (denials.length === 0 || denials.some((denial) => !isStated(denial, text)))
  })
}

/** A sentence of the text with this share of the words is the one that a clause of one word is of. */
const shareAroundWord = 0.6

/**
 * Sentences such as "there is a limit", where the sentence of the text with most words of the claimed one denies that word and nothing else of it,
 * and no clause there affirms it: clauses of one word are compared in such sentences only.
 */
export function findDeniedWords(claimed: readonly Clause[], text: readonly Clause[]): Sentence[] {
  return groupSentences(claimed).filter((clauses) => {
    const short = clauses.filter(
      ({ isNegated, isCondition, words }) => !isNegated && !isCondition && words.length === 1,
    )
    if (short.length === 0) return false
    const { most, total, ofAtLeast } = findLike(clauses, text)
    if (total < leastWords || most < total * shareAroundWord) return false
    const best = ofAtLeast(most)
    return short.some((claim) => {
      const keys = keysOf(claim)
      const has = (clause: Clause) => shareIn(claim.words, keysOf(clause)) === 1
      return best.every(
        (sentence) =>
          sentence.some((clause) => clause.isNegated && !clause.isCondition && shareIn(clause.words, keys) === 1) &&
          !sentence.some((clause) => !clause.isNegated && has(clause)),
      )
    })
  })
}

/** Whether a word that `denying` denies is affirmed by the other sentence, which denies nothing. */
function affirmsDenied(
  denying: readonly Clause[],
  other: readonly Clause[],
  agree: (clause: Clause, denial: Clause) => boolean,
): boolean {
  if (other.some(({ denied }) => denied !== null)) return false
  return denying.some((denial) => {
    if (!denial.isNegated) return false
    const has = (clause: Clause) => denial.denied!.some((key) => keysOf(clause).has(key))
    if (denying.some((clause) => !clause.isNegated && has(clause))) return false
    // "Closed on Mondays, it opens on all other days" does not open on Mondays.
    if (other.some((clause) => hasOpposite(denial, clause) && shareIn(denial.words, keysOf(clause)) >= opposedShare))
      return false
    const affirming = other.filter(has)
    return (
      affirming.length > 0 &&
      affirming.every((clause) => (clause.isCondition || !denial.isCondition) && !agree(clause, denial))
    )
  })
}

/** A clause with the opposite of what is denied, and this share of its words, states the denial. */
const opposedShare = 0.5

/** A sentence of the text with this share of at least so many words restates the claimed one. */
const restatedShare = 0.85
const leastRestated = 4

/**
 * Whether the text has each claimed sentence nearly word for word, denied alike, with all of its words that have an opposite. Linear in the text for
 * each word of the claimed ones.
 */
export function restates(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  const groups = groupSentences(claimed)
  const isDenied = (clauses: readonly Clause[]) => clauses.some(({ denied }) => denied !== null)
  return (
    groups.length > 0 &&
    groups.every((clauses) => {
      const words = clauses.flatMap((clause) => clause.words)
      const opposites = clauses.flatMap((clause) => clause.opposites.map(({ word }) => word))
      return (
        words.length >= leastRestated &&
        groupSentences(text).some((sentence) => {
          const keys = wordsOfSentences(text).get(sentence[0]!.sentence)!
          return (
            shareIn(words, keys) >= restatedShare &&
            isDenied(sentence) === isDenied(clauses) &&
            opposites.every(
              (word) => keys.has(word) || sentence.some((one) => one.opposites.some((other) => other.word === word)),
            )
          )
        })
      )
    })
  )
}

/** The clauses of a sentence. */
export type Sentence = readonly Clause[]

interface Sentences {
  sentences: readonly Sentence[]
  /** By their place in `sentences`: those that have a word, by its keys. */
  places: ReadonlyMap<string, readonly number[]>
}

/** The share of the words of these clauses that one sentence of a text has. */
export function mostInSentence(claimed: readonly Clause[], text: readonly Clause[]): number {
  const words = claimed.flatMap((clause) => clause.words)
  if (words.length === 0) return 1
  return wordsOfSentences(text)
    .values()
    .reduce((most, keys) => Math.max(most, shareIn(words, keys)), 0)
}

/** How many words of a sentence each sentence of a text has, without those that have an opposite. */
export function findLike(clauses: readonly Clause[], text: readonly Clause[]) {
  const { sentences, places } = readSentences(text)
  const opposites = new Set(clauses.flatMap((clause) => clause.opposites.map(({ word }) => word)))
  const words = clauses.flatMap((clause) => clause.words).filter(([word]) => !opposites.has(word!))
  const counts = new Map<number, number>()
  for (const keys of words)
    for (const at of new Set(keys.flatMap((key) => places.get(key) ?? []))) counts.set(at, (counts.get(at) ?? 0) + 1)
  return {
    most: Math.max(0, ...counts.values()),
    total: words.length,
    ofAtLeast: (least: number) => [...counts].filter(([, count]) => count >= least).map(([at]) => sentences[at]!),
  }
}

/** The clauses of each sentence of a text. */
export function groupSentences(clauses: readonly Clause[]): readonly Sentence[] {
  return readSentences(clauses).sentences
}

const known = new WeakMap<readonly Clause[], Sentences>()

function readSentences(clauses: readonly Clause[]): Sentences {
  const read = known.get(clauses)
  if (read) return read
  const sentences = [...Map.groupBy(clauses, ({ sentence }) => sentence).values()]
  const places = new Map<string, number[]>()
  for (const [at, sentence] of sentences.entries()) {
    for (const key of new Set(sentence.flatMap((clause) => clause.words.flat()))) {
      const found = places.get(key)
      if (found) found.push(at)
      else places.set(key, [at])
    }
  }
  known.set(clauses, { sentences, places })
  return { sentences, places }
}

/** A sentence of the text with this share of the other words deals with the same. */
const sameSubjectShare = 0.5
/** So near to words of the sentence an opposite counts, where the text does not have the word itself near them, or nowhere. */
const leastNearness = 1
const leastNearnessElsewhere = 1.5
/** By so much the opposite is nearer than the word itself. */
const leastDifference = 0.3
const leastDifferenceOfBoth = 0.5
/** Most words of a sentence that are compared. */
const maximumOpposites = 20
/** Sentences with so much of the most words are compared as well. */
const nearlyMost = 0.8

/**
 * The claimed sentences of which the sentences of the text that deal with the same have the opposite of a word. Time is linear in both, apart from
 * the few words that have an opposite.
 */
export function findOpposed(claimed: readonly Clause[], text: readonly Clause[]): Sentence[] {
  return groupSentences(claimed).filter((clauses) => {
    const { most, total, ofAtLeast } = findLike(clauses, text)
    const best = most === 0 || most < total * sameSubjectShare ? [] : ofAtLeast(most * nearlyMost).flat()
    const isRepeated = most >= total * repeatedShare
    return (
      hasPrefixed(clauses, best) ||
      hasOppositeWord(clauses, { best, isRepeated, text }) ||
      (isRepeated && total >= leastWords && ofAtLeast(most).every((sentence) => isFlipped(clauses, sentence)))
    )
  })
}

/** Whether the text has the opposite once more, in place of the word: "from a higher court to a higher court" next to "from a lower court to a higher court". */
function isFlipped(claimed: Sentence, sentence: Sentence): boolean {
  const isDenied = (clauses: Sentence) => clauses.some(({ isNegated, isException }) => isNegated && !isException)
  if (isDenied(claimed) !== isDenied(sentence)) return false
  const [own, other] = [countSides(claimed), countSides(sentence)]
  const isReversed = once(() => claimed.some((one) => sentence.some((clause) => isInReverse(one, clause))))
  return [...own].some(([key, { count, opposite, word }]) => {
    if (payments.has(word) || (isOrder(word) && isReversed())) return false
    const countIn = (counts: typeof own, at: string) => counts.get(at)?.count ?? 0
    return count > countIn(other, key) && countIn(other, opposite) > countIn(own, opposite)
  })
}

/** How often each side of a pair of opposites is in clauses, apart for those that are denied. */
function countSides(clauses: readonly Clause[]) {
  const counts = new Map<string, { count: number; opposite: string; word: string }>()
  for (const { side, word, negation, isNegation } of clauses.flatMap(({ opposites }) => opposites)) {
    if (isNegation) continue
    const isDenied = negation !== null
    const key = `${side} ${isDenied}`
    const known = counts.get(key)
    if (known) known.count++
    else counts.set(key, { count: 1, opposite: `${-side} ${isDenied}`, word })
  }
  return counts
}

/** Whether the text has the opposite of a word and not the word; of both, what is around them decides. */
function hasOppositeWord(
  claimed: readonly Clause[],
  { best, isRepeated, text }: { best: readonly Clause[]; isRepeated: boolean; text: readonly Clause[] },
): boolean {
  // "Not without a ticket" is "only with a ticket". `deny` compares clauses that deny.
  const isDenying = claimed.some(({ isNegated, isException }) => isNegated && !isException)
  // "After six you pay a day more" is no opposite of "until six, otherwise you pay a day more".
  const isReversed = once(
    () =>
      isDenying ||
      best.some(({ isNegated, mayDeny }) => isNegated || mayDeny.some((word) => isLimiting(word) && !isOrder(word))) ||
      claimed.some((one) => best.some((clause) => isInReverse(one, clause))),
  )
  const own = claimed
    .filter((one) => !one.isNegated || one.isException || one.opposites.some(({ isNegation }) => isNegation))
    .filter((one) => !best.some((clause) => isOnlyLater(one, clause)))
    .flatMap(({ opposites }) => opposites)
    .filter(
      ({ negation, word }) => negation === null && !(isDenying && claimed.some(({ limits }) => limits.includes(word))),
    )
    .slice(0, maximumOpposites)
    .filter(({ word }) => !payments.has(word) && (!isOrder(word) || !isReversed()))
  if (own.length === 0) return false
  const words = new Set(own.map(({ word }) => word))
  const topics = keySet(claimed).difference(words)
  const nearness = (places: readonly Clause[], side: number, claim: Opposite) =>
    places
      .flatMap(({ opposites }) => opposites)
      .filter((one) => sidesOf(one).includes(side))
      .reduce<number | null>((most, one) => Math.max(most ?? 0, nearnessOf(one, claim, topics)), null)
  return own.some((claim) => {
    const { side } = claim
    const counterparts = own.filter((other) => other.side === -side)
    if (counterparts.length > 0)
      return counterparts.every(
        (other) => areApart(claim, other) && [claim, other].every((one) => isSwapped(one, best, nearness)),
      )
    if (claimed.some((one) => one.opposites.includes(claim) && best.some((clause) => deniesWord(claim, one, clause))))
      return true
    const same = nearness(best, side, claim)
    const opposed = nearness(best, -side, claim)
    if (same !== null) return (opposed ?? 0) > same + leastDifference
    if (opposed !== null && (opposed > leastNearness || (isRepeated && !withWords.has(claim.word)))) return true
    if (nearness(text, side, claim) !== null) return false
    const elsewhere = nearness(text, -side, claim)
    if (elsewhere !== null) return elsewhere > leastNearnessElsewhere
    // "Unable to pay" is "cannot pay".
    return unusual.has(claim.word) && !(claim.isNegation && best.some(({ isNegated }) => isNegated))
  })
}

/** A clause with this share of the other words deals with the same. */
const leastShareOfOthers = 0.6

/** Whether a clause of the text denies a word of a claim by another word of that meaning: "not compulsory" for "mandatory". */
function deniesWord({ side, word }: Opposite, claim: Clause, clause: Clause): boolean {
  const others = claim.words.filter(([key]) => key !== word)
  return (
    clause.isNegated &&
    others.length >= leastOthers &&
    clause.opposites.some((one) => one.side === side && one.word !== word && one.negation === 'just before') &&
    shareIn(others, keysOf(clause)) >= leastShareOfOthers
  )
}
const leastOthers = 2

/** Words that no sentence has in place of something else: the text must have them, or their opposite. */
const unusual = new Set(
  'impossible rarely seldom least fewest none exempt optional worst illegal excluded rejected refused disabled unable unnecessary'.split(
    ' ',
  ),
)

/** "Low fees" are not the opposite of what is free next to it; "no fee" is free. */
const payments = new Set(['charge', 'charges', 'fee', 'fees'])

type NearnessIn = (places: readonly Clause[], side: number, claim: Opposite) => number | null

/** "Raises costs and lowers profits" has both: in a text that denies it each is next to the words of the other. */
function isSwapped(claim: Opposite, best: readonly Clause[], nearness: NearnessIn): boolean {
  const same = nearness(best, claim.side, claim)
  return same !== null && (nearness(best, -claim.side, claim) ?? 0) > same + leastDifferenceOfBoth
}

function areApart(left: Opposite, right: Opposite): boolean {
  const keys = new Set(left.around().flatMap((one) => one.keys))
  return !right.around().some((one) => one.keys.some((key) => keys.has(key)))
}

/** What a word means: the other side after a negation, and both where it may be denied. */
function sidesOf({ side, negation }: Opposite): number[] {
  if (negation === 'before') return [side, -side]
  return [negation === null ? side : -side]
}

/** How near the words of a sentence are to a word of the text; those around the word that is compared count twice. */
function nearnessOf(place: Opposite, claimed: Opposite, topics: ReadonlySet<string>): number {
  const isWith = withWords.has(claimed.word)
  const around = new Set(claimed.around().flatMap(({ keys, isAfter }) => (isAfter || !isWith ? keys : [])))
  const weightOf = (keys: readonly string[]) =>
    keys.some((key) => around.has(key)) ? 2 : !isWith && keys.some((key) => topics.has(key)) ? 1 : 0
  return place
    .around()
    .filter(({ isAfter }) => isAfter || !isWith)
    .reduce((sum, { keys, distance, isAfter }) => sum + (weightOf(keys) / distance) * (isAfter ? 2 : 1), 0)
}

/** What follows shows what is there or missing. */
const withWords = new Set(
  'with without mit ohne avec sans con sin senza com sem met zonder med utan z ze bez с со без'.split(' '),
)

const prefixes = ['un', 'in', 'im', 'il', 'ir', 'dis', 'non']
const prefixed = /^(?:un|in|im|il|ir|dis|non)(.{5,})$/
const leastLetters = 5
/** Beginnings of words that are not the opposite of the word with a prefix: "form" and "inform". */
const unrelated =
  /^(?:appoint|charge|corporat|count|cover|form|habit|plant|press|prove|quest|sight|solve|stall|still|stanc|tend|tense|vest)/

/** Whether the text has "unsuitable" for "suitable", or the reverse, and neither denies. */
function hasPrefixed(claimed: readonly Clause[], best: readonly Clause[]): boolean {
  const all = keySet(best)
  const affirmed = keySet(best.filter(({ isNegated }) => !isNegated))
  const isOpposite = (key: string) => {
    const base = prefixed.exec(key)?.[1]
    if (base !== undefined && affirmed.has(base) && !unrelated.test(base)) return true
    return key.length >= leastLetters && !unrelated.test(key) && prefixes.some((prefix) => affirmed.has(prefix + key))
  }
  return claimed.some(
    ({ isNegated, words }) =>
      !isNegated && words.some((keys) => !keys.some((key) => all.has(key)) && keys.some(isOpposite)),
  )
}

const keySet = (clauses: readonly Clause[]): ReadonlySet<string> =>
  new Set(clauses.flatMap(({ words }) => words.flat()))

/** A clause of the text with this share of the words deals with the same; one with nearly as many as the best is meant as well. */
const leastShare = 0.5
const nearlyBest = 0.9
/** What drops a condition has nearly no other words. */
const leastShareOfCondition = 0.65

/**
 * The clauses that state of all, or without a condition, what the text states with a limit: "always" for "unless it rains", "all trains" for "intercity
 * trains only", and "allowed" for "allowed only with a permit". Time is linear in the text for each clause of the sentence.
 */
export function findOverstated(claimed: readonly Clause[], text: readonly Clause[]): Clause[] {
  return claimed.filter((claim) => {
    if (claim.isNegated || claim.isCondition || claim.isException) return false
    const own = claimed.filter(({ sentence }) => sentence === claim.sentence)
    if (claim.words.length < fewWords) return false
    if (own.some(({ isCondition, isException }) => isCondition || isException)) return false
    const limits = new Set(own.flatMap(({ restrictions }) => restrictions))
    if (!claim.isUniversal && limits.size > 0) return false
    const shares = text.map((clause) => shareIn(claim.words, keysOf(clause)))
    const most = shares.reduce((best, share) => Math.max(best, share), 0)
    if (most < leastShare) return false
    const best = [...shares.keys()].filter((at) => shares[at]! >= most * nearlyBest)
    if (claim.isUniversal)
      return best.every((at) => !text[at]!.isUniversal && restrictionsAround(text, at).some((one) => !limits.has(one)))
    const keys = new Set(own.flatMap((clause) => [...keysOf(clause)]))
    const isDropped = (at: number) => text[at]!.only.length > 0 && !text[at]!.only.some((key) => keys.has(key))
    const isReversed = (at: number) => claim.isAbsence && text[at]!.only.some((key) => claim.absent.includes(key))
    return best.every((at) => isReversed(at) || (most >= leastShareOfCondition && isDropped(at)))
  })
}

/** Those of a clause, and of an exception next to it. */
function restrictionsAround(text: readonly Clause[], at: number): Restriction[] {
  const { sentence, restrictions } = text[at]!
  const next = [text[at - 1], text[at + 1]].filter((one) => one?.sentence === sentence && one.startsRestricted)
  return [...restrictions, ...next.flatMap((one) => one!.restrictions)]
}

/** A clause with this share of so many words deals with the same. */
const leastShareOfRate = 0.6
const leastWordsOfRate = 2

/** `counted`: found, and there is more than one way to write it, such as "twice a year"; `other`: what deals with the same has others only. */
export type FoundRates = 'found' | 'counted' | 'other' | 'unknown'

/** Whether a text has the rates of a claimed sentence. Linear for each clause of the sentence. */
export function compareRates(claimed: readonly Clause[], text: readonly Clause[]): FoundRates {
  let state: FoundRates = 'unknown'
  for (const claim of claimed) {
    const words = claim.words.filter(([word]) => !isOfRate(word!, defaultLanguage))
    if (claim.rates.length === 0 || claim.isNegated || words.length < leastWordsOfRate) continue
    const shares = text.map((clause) => shareIn(words, keysOf(clause)))
    const most = shares.reduce((best, share) => Math.max(best, share), 0)
    if (most < leastShareOfRate) continue
    const best = text.filter((_, at) => shares[at]! >= most * nearlyBest)
    const sentences = new Set(best.map(({ sentence }) => sentence))
    const around = text.filter(({ sentence }) => sentences.has(sentence))
    const has = (clauses: readonly Clause[]) =>
      claim.rates.every((rate) => clauses.some(({ rates }) => rates.includes(rate)))
    if (groupSentences(best).some(has)) state = claim.rates.some((rate) => isPlainRate(rate)) ? 'found' : 'counted'
    else if (
      groupSentences(best).every((clauses) => clauses.some(({ rates }) => rates.length > 0)) &&
      !groupSentences(around).some(has)
    )
      return 'other'
  }
  return state
}
