import { type Clause, fewWords, keysOf } from './clauses.ts'
import { isLimiting, isStopping } from './negation-words.ts'
import type { Opposite } from './read-opposites.ts'

/** A clause with a smaller share of the words deals with something else; in scripts without spaces words are pairs of characters. */
const minimumShare = 0.55
const minimumShareOfPairs = 0.45
/** A clause with this share of the words of the best one may be meant as well, unless that has nearly all. */
const nearlyBest = 0.67
/** A denial in other words has more. */
const nearlyMost = 0.8
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
    const least = isClear ? most : most * nearlyBest
    const near = [...counts].filter(([, count]) => count >= least)
    const best = near.map(([index]) => text[index]!)
    if (near.some(([index, count]) => count >= most * nearlyMost && deniesOtherwise(claim, text[index]!))) return false
    // "In the evening, no dogs are allowed": the text denies what the sentence denies next to it.
    const denials = isNegated ? [] : claimed.filter((one) => one.isNegated && one.sentence === claim.sentence)
    const isDeniedNext = (clause: Clause) =>
      denials.some((one) => agrees(one, clause) && shareIn(one.words, keysOf(clause)) >= denialShare)
    return best.every((clause) => !agrees(claim, clause) && !isDeniedNext(clause)) && !isStated(claim, text)
  })
}

/** Whether a clause of the text denies the same word as the claim, and has most of its words or no others; none that affirms the word has more of them. */
export function isStated(claim: Clause, text: readonly Clause[]): boolean {
  const { isNegated, denied, words } = claim
  if (!isNegated || denied!.length === 0) return false
  const own = new Set(words.flat())
  const about = text
    .filter((clause) => denied!.some((key) => keysOf(clause).has(key)))
    .map((clause) => ({ clause, share: shareIn(words, keysOf(clause)) }))
  const affirmed = about.reduce((most, { clause, share }) => (clause.isNegated ? most : Math.max(most, share)), 0)
  return about.some(
    ({ clause, share }) =>
      clause.isNegated &&
      agrees(claim, clause) &&
      share >= affirmed &&
      clause.denied!.some((key) => denied!.includes(key)) &&
      (share >= minimumShare || (clause.words.length >= fewWords && shareIn(clause.words, own) === 1)),
  )
}

const isPaired = (words: readonly (readonly string[])[]) => /\p{Script=Han}/u.test(words[0]?.[0] ?? '')

/** Whether both have the same polarity, or one of them has the opposite of a word of the other: "not open" and "closed". */
export function agrees(claim: Clause, clause: Clause): boolean {
  // "Not without a ticket" agrees with "with a ticket", and "lacks" with "without".
  if (claim.isAbsence !== clause.isAbsence && claim.isNegated !== clause.isNegated) return true
  return (claim.isNegated === clause.isNegated) !== hasOpposite(claim, clause)
}

/** "Not until March" is "from March on". */
const isOtherLimit = (claim: Clause, clause: Clause) => claim.limits.some((word) => !clause.signs.has(word))
/** Whether a clause states a denial in other words. */
export const deniesOtherwise = (claim: Clause, clause: Clause) =>
  claim.isNegated && (isOtherLimit(claim, clause) || mayDenyOtherwise(claim, clause))
/** "Only on Sundays" limits what is denied; "rejected" is in its place, and "stops" before it. */
function mayDenyOtherwise({ denied, mayDeny }: Clause, clause: Clause): boolean {
  if (clause.isCondition) return false
  const hasDenied = denied?.some((key) => keysOf(clause).has(key)) ?? false
  return clause.mayDeny.some((word) => !mayDeny.includes(word) && (isLimiting(word) === hasDenied || isStopping(word)))
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
      (own >= denialShare && own >= most * nearlyMost && deniesOtherwise(denial, clause)) ||
      (clause.denied !== null && own >= leastBestShare && own === most)
    if (shares.some(isMeant)) return false
    // The text affirms it, so that a denial elsewhere in a long sentence is about something else.
    const isAffirmed = shares.some(
      ({ clause, share: own }) =>
        own === most && own >= denialShare && clause.denied === null && denied!.some((key) => keysOf(clause).has(key)),
    )
    return !known.some(({ clause, sentence }) => {
      if (share(clause) >= denialShare) return true
      const isSameWord = denied!.some((key) => clause.has(key))
      return !isAffirmed && share(sentence) >= (isSameWord ? denialShareWithWord : denialShareOfSentence)
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

/** Whether each clause that the sentence denies is denied by the text as well. */
export function sharesDenials(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  return claimed
    .filter(({ isNegated, isCondition }) => isNegated && !isCondition)
    .every((clause) => deny([{ ...clause, isNegated: false }], text))
}
