import { type Clause, denialsOf, fewWords, keysOf, shareIn, wordsOfSentences } from './clauses.ts'
import { isLimiting, isLoss, isOnly, isPermission, isStopping, isUntil, isWeak } from './negation-words.ts'
import type { Opposite } from './read-opposites.ts'

/** A clause with a smaller share of the words deals with something else; in scripts without spaces words are pairs of characters. */
const minimumShare = 0.55
const minimumShareOfPairs = 0.45
/** A clause with this share of the words of the best one may be meant as well, unless that has nearly all. */
const nearlyBest = 0.67
/** A denial in other words has more. */
const nearlyMost = 0.8
/** A word is worth more than its opposite in its place. */
const replacedWeight = 0.9
/** Where a clause has this share of the words, one with fewer is about something else. */
const clearShare = 0.9

/**
 * Whether one of the claimed clauses is denied by the text, or denies it: all clauses of the text that have most of its words have the
 * other polarity.
 */
export function findDenied(claimed: readonly Clause[], text: readonly Clause[]): Clause[] {
  if (text.length === 0) return []
  const places = new Map<string, number[]>()
  for (const [index, { words }] of text.entries()) {
    for (const key of words.flat()) {
      const known = places.get(key)
      if (!known) places.set(key, [index])
      else if (known.at(-1) !== index) known.push(index)
    }
  }
  return claimed.filter((claim, at) => {
    const { words, isNegated, isCondition } = claim
    if (words.length < fewWords && claimed.length > 1) return false
    if (isLackOfDenial(claim, claimed) || isNamedException(claim, text)) return false
    if (hasDeniedPredicate(claim, text) || isDeniedElsewhere(claim, text)) return true
    const counts = new Map<number, number>()
    for (const keys of words) {
      const found = new Set(keys.flatMap((key) => places.get(key) ?? []))
      for (const index of found) if (isComparable(claim, text[index]!)) counts.set(index, (counts.get(index) ?? 0) + 1)
    }
    // "Closed" is in the place of "open".
    for (const [index, count] of counts) {
      const clause = text[index]!
      const around = wordsOfSentences(text).get(clause.sentence)!
      counts.set(index, count + replacedWeight * countReplaced(claim, clause, around))
    }
    const most = Math.max(0, ...counts.values())
    if (most === 0 || most < words.length * (isPaired(words) ? minimumShareOfPairs : minimumShare)) return false
    const isClear = most >= words.length * clearShare
    if (isCondition && !isClear && most < words.length * denialShareOfCondition) return false
    const least = isClear ? most : most * nearlyBest
    const all =
      exceptionsOf(claim, claimed, text) ??
      [...counts].filter(
        ([index, count]) =>
          count >= least &&
          isAbout(claim, text[index]!) &&
          (!isCondition || isClear || isOfSentence(claim, claimed, text[index]!, text)),
      )
    if (all.length === 0) return false
    const best = all.map(([index]) => text[index]!)
    const isItem = words.length <= wordsOfItem && claim.denied === null && claimed[at - 1]?.sentence === claim.sentence
    if (isItem && best.every((clause) => deniesElse(claim, claimed, clause))) return false
    if (isNegated && isOfOtherCondition(claim, { claimed, best, text })) return false
    if (all.some(([index, count]) => count >= most * nearlyMost && deniesOtherwise(claim, text[index]!))) return false
    // "In the evening, no dogs are allowed": the text denies what the sentence denies next to it.
    const denials = isNegated ? [] : claimed.filter((one) => one.isNegated && one.sentence === claim.sentence)
    const isDeniedNext = (clause: Clause) =>
      denials.some((one) => deniesSame(one, clause) || (agrees(one, clause) && shareOf(one, clause) >= denialShare))
    return best.every((clause) => !agrees(claim, clause) && !isDeniedNext(clause)) && !isStated(claim, text)
  })
}

const shareOf = (claim: Clause, clause: Clause) => shareIn(claim.words, keysOf(clause))
const deniesSame = ({ denied }: Clause, clause: Clause) =>
  clause.isNegated && denied!.some((key) => clause.denied!.includes(key))

/** So few words after the first clause of a sentence may be an item of a list. */
const wordsOfItem = 3
/** "Tools and integrations are not deleted" denies nothing of a sentence that only lists them. */
const deniesElse = ({ sentence }: Clause, claimed: readonly Clause[], { isNegated, denied }: Clause) =>
  isNegated &&
  denied!.length > 0 &&
  !denied!.some((key) => isPermission(key) || wordsOfSentences(claimed).get(sentence)!.has(key))

/**
 * A condition is compared with conditions only, what a text denies in a condition with those alone, and "need not be hard" with what has the
 * denied word.
 */
const isComparable = (claim: Clause, clause: Clause) =>
  claim.isCondition ? clause.isCondition : !clause.isNegated || (!clause.isCondition && !isOtherOption(claim, clause))
const isOtherOption = (claim: Clause, clause: Clause) =>
  clause.isOption &&
  !claim.isOption &&
  !clause.denied!.some((key) => keysOf(claim).has(key)) &&
  !hasOpposite(claim, clause)

/** A predicate that adds fewer words is too short to be known again. */
const fewestOfPredicate = 2
/** Of each clause of a text that denies something: the words that its sentence did not have before, and those of the clause before too. */
type DeniedPredicate = { own: (readonly string[])[]; both: ReadonlySet<string>; before: ReadonlySet<string> }
const knownPredicates = new WeakMap<readonly Clause[], DeniedPredicate[]>()

function deniedPredicates(text: readonly Clause[]): DeniedPredicate[] {
  const known = knownPredicates.get(text)
  if (known) return known
  const found: DeniedPredicate[] = []
  let keys = new Set<string>()
  for (const [at, clause] of text.entries()) {
    const last = text[at - 1]
    if (last?.sentence !== clause.sentence) keys = new Set()
    const own = clause.words.filter((word) => !word.some((key) => keys.has(key)))
    if (keys.size > 0 && isPlainDenial(clause) && !last!.isNegated && own.length >= fewestOfPredicate)
      found.push({ own, before: keysOf(last!), both: new Set([...keysOf(last!), ...keysOf(clause)]) })
    for (const key of keysOf(clause)) keys.add(key)
  }
  knownPredicates.set(text, found)
  return found
}

/** "Without a report a group cannot apply, if it had a grant" contradicts no "a group can apply once a year": nothing there is about that condition. */
function isOfOtherCondition(
  { sentence }: Clause,
  { claimed, best, text }: Record<'claimed' | 'best' | 'text', readonly Clause[]>,
): boolean {
  const words = claimed.filter((one) => one.sentence === sentence && one.isCondition).flatMap((one) => one.words)
  const sentences = wordsOfSentences(text)
  return (
    words.length >= fewWords && best.every((clause) => shareIn(words, sentences.get(clause.sentence)!) < denialShare)
  )
}

const isPlainDenial = (clause: Clause) => clause.isNegated && !clause.isException && !clause.isCondition

/** A condition in other words, whose sentence has this share of the words of the claimed one. */
const denialShareOfCondition = 0.6
function isOfSentence({ sentence }: Clause, claimed: readonly Clause[], clause: Clause, text: readonly Clause[]) {
  const words = claimed.filter((one) => one.sentence === sentence).flatMap((one) => one.words)
  return shareIn(words, wordsOfSentences(text).get(clause.sentence)!) >= denialShareOfCondition
}

/** "They enter the league and play in a smaller one", where the text has "they enter the league and do not play in a smaller one". */
function hasDeniedPredicate(claim: Clause, text: readonly Clause[]): boolean {
  if (claim.isNegated || claim.isCondition) return false
  const keys = keysOf(claim)
  return deniedPredicates(text).some(
    ({ own, both, before }) =>
      shareIn(own, keys) === 1 &&
      shareIn(claim.words, both) === 1 &&
      shareIn(claim.words, before) < nearlyMost &&
      !text.some((clause) => !clause.isNegated && shareIn(own, keysOf(clause)) === 1),
  )
}

/**
 * "Guests still enter the hall after the end of the show", where a clause of the text has "do not enter the hall", and none affirms that: what else the
 * sentence has is around that clause.
 */
function isDeniedElsewhere(claim: Clause, text: readonly Clause[]): boolean {
  if (claim.denied !== null || claim.isCondition || claim.isException) return false
  const keys = keysOf(claim)
  const denies = ({ denied, words }: Clause) => denied!.some((key) => keys.has(key)) && shareIn(words, keys) === 1
  return (
    unaffirmedDenials(text).some(denies) && !text.some((one) => !one.isNegated && shareOf(claim, one) >= nearlyMost)
  )
}

const knownUnaffirmed = new WeakMap<readonly Clause[], readonly Clause[]>()

/** The denials of a text without a limit that none of its clauses affirms. */
function unaffirmedDenials(text: readonly Clause[]): readonly Clause[] {
  const known = knownUnaffirmed.get(text)
  if (known) return known
  const found = text.filter(
    (clause) =>
      isPlainDenial(clause) &&
      !clause.isOption &&
      clause.limits.length === 0 &&
      clause.mayDeny.length === 0 &&
      clause.words.length >= fewestOfPredicate &&
      !text.some((other) => !other.isNegated && shareIn(clause.words, keysOf(other)) === 1),
  )
  knownUnaffirmed.set(text, found)
  return found
}

/** "Without a code, nobody enters": the lack is the condition of what is denied. */
const isLackOfDenial = ({ isAbsence, isNegated, sentence }: Clause, claimed: readonly Clause[]) =>
  isAbsence && !isNegated && claimed.some((one) => one.isNegated && !one.isCondition && one.sentence === sentence)

/** Whether a clause only names an exception of the text: "if it snows". */
const isNamedException = ({ words, isNegated }: Clause, text: readonly Clause[]) =>
  !isNegated && words.length > 0 && text.some(({ except }) => shareIn(words, new Set(except.flat())) === 1)

/** The exceptions of the text that the sentence of a claim names, with how many words of the claim each has; null without. */
function exceptionsOf(claim: Clause, claimed: readonly Clause[], text: readonly Clause[]): [number, number][] | null {
  const own = claimed.filter(({ sentence, isException }) => sentence === claim.sentence && !isException)
  const keys = new Set(own.flatMap((one) => [...keysOf(one)]))
  const found = text.flatMap((clause, index): [number, number][] => {
    const share =
      clause.except.length === 0 || shareIn(clause.except, keys) < 1 ? 0 : shareIn(claim.words, keysOf(clause))
    return share < denialShare ? [] : [[index, share * claim.words.length]]
  })
  return found.length === 0 ? null : found
}

/** Whether an exception is about what the claim names. */
const isAbout = (claim: Clause, { except }: Clause) =>
  except.length === 0 || except.flat().some((key) => keysOf(claim).has(key))

/** 1 if a clause has a word of a claim only as its opposite, or as one with the same opposite, and the words `around` it lack it; otherwise 0. */
function countReplaced({ opposites, words }: Clause, clause: Clause, around?: ReadonlySet<string>): number {
  if (opposites.length === 0 || clause.opposites.length === 0) return 0
  const own = keysOf(clause)
  const replaced = opposites.filter(
    ({ side, word, isNegation }) =>
      !isNegation &&
      !(around ?? own).has(word) &&
      !opposites.some((one) => one.side === -side) &&
      clause.opposites.some((one) => Math.abs(one.side) === Math.abs(side)),
  )
  const wordsReplaced = new Set(replaced.map(({ word }) => word))
  // "The upper hut is closed" is about another one than "the lower hut is open".
  return words.some(([word]) => wordsReplaced.has(word!)) ? 1 : 0
}

/** A denial of the text with this share of its words is the claimed one, if the text never affirms the word that both deny. */
const mostOfDenial = 0.6

/** Whether a clause of the text denies the same word as the claim, and has most of its words or no others; none that affirms the word has more of them. */
export function isStated(claim: Clause, text: readonly Clause[]): boolean {
  const { isNegated, denied, words } = claim
  if (!isNegated || denied!.length === 0) return false
  const own = new Set(words.flat())
  const about = text
    .filter((clause) => denied!.some((key) => keysOf(clause).has(key)))
    .map((clause) => ({ clause, share: shareOf(claim, clause) }))
  const affirmed = about.reduce((most, { clause, share }) => (clause.isNegated ? most : Math.max(most, share)), 0)
  return about.some(
    ({ clause, share }) =>
      deniesSame(claim, clause) &&
      isComparable(claim, clause) &&
      agrees(claim, clause) &&
      share >= affirmed &&
      (share >= minimumShare ||
        (clause.words.length >= fewWords && shareIn(clause.words, own) >= (affirmed === 0 ? mostOfDenial : 1))),
  )
}

const isPaired = (words: readonly (readonly string[])[]) => /\p{Script=Han}/u.test(words[0]?.[0] ?? '')

/** Whether both have the same polarity, or one of them has the opposite of a word of the other: "not open" and "closed". */
export function agrees(claim: Clause, clause: Clause): boolean {
  // "Unknown keys are ignored" and "unknown keys are not ignored".
  const hasSameAbsence = (claim.isAbsence ? claim : clause).mayDeny.some(
    (word) => word.startsWith('un') && keysOf(claim).has(word) && keysOf(clause).has(word),
  )
  // "Not without a ticket" agrees with "with a ticket", and "lacks" with "without".
  if (!hasSameAbsence && claim.isAbsence !== clause.isAbsence && claim.isNegated !== clause.isNegated) {
    const [{ absent }, other] = claim.isAbsence ? [claim, clause] : [clause, claim]
    if (absent.length === 0 || absent.some((key) => keysOf(other).has(key))) return true
  }
  if (claim.isAbsence !== clause.isAbsence && !claim.isNegated && !clause.isNegated) {
    // "Needs an account" is not "without an account".
    const [{ absent }, other] = claim.isAbsence ? [claim, clause] : [clause, claim]
    if (other.isNecessity && absent.some((key) => keysOf(other).has(key))) return false
  }
  if (claim.isNegated === clause.isNegated && isInReverse(claim, clause)) return true
  if (isOnlyLater(claim, clause) || isOnlyLater(clause, claim)) return true
  return (claim.isNegated === clause.isNegated) !== (hasOpposite(claim, clause) || isInReverse(claim, clause))
}

/** "Only pays once it is decided" is "does not pay until it is decided". */
export const isOnlyLater = (later: Clause, { isNegated, limits }: Clause) =>
  isNegated && limits.some(isUntil) && isOnlyFrom(later)
const isOnlyFrom = ({ isNegated, limits, restrictions }: Clause) =>
  !isNegated && restrictions.includes('only') && !limits.some(isUntil)

const laterOrders = new Set(['after', 'nach', 'nachdem', 'après', 'después', 'dopo', 'na', 'nadat'])
const orders = new Set(['before', 'bevor', 'until', 'avant', 'antes', 'prima'])

/** Whether a word states which of two comes first. */
export const isOrder = (word: string) => orders.has(word) || laterOrders.has(word)

/**
 * "Not return before the work is done" is "wait for the work before returning", and "restart before changes apply" is "changes apply after a
 * restart": what follows is in the other place.
 */
export function isInReverse(claim: Clause, clause: Clause): boolean {
  const isSame = claim.isNegated === clause.isNegated
  const orderOf = ({ opposites }: Clause, known: ReadonlySet<string>) => opposites.find(({ word }) => known.has(word))
  const [own, other] = isSame
    ? [orderOf(claim, orders) ?? orderOf(claim, laterOrders), orderOf(clause, orders) ?? orderOf(clause, laterOrders)]
    : [orderOf(claim, orders), orderOf(clause, orders)]
  if (own === undefined || other === undefined || (isSame && own.side !== -other.side)) return false
  const after = (order: Opposite) => new Set(order.around().flatMap(({ keys, isAfter }) => (isAfter ? keys : [])))
  const [ownAfter, otherAfter] = [after(own), after(other)]
  return (
    ownAfter.isDisjointFrom(otherAfter) &&
    !ownAfter.isDisjointFrom(keysOf(clause)) &&
    !otherAfter.isDisjointFrom(keysOf(claim))
  )
}

/** "Not until March" is "from March on". */
const isOtherLimit = (claim: Clause, clause: Clause) => claim.limits.some((word) => !clause.signs.has(word))
/** Whether a clause states a denial in other words. */
export const deniesOtherwise = (claim: Clause, clause: Clause) =>
  claim.isNegated &&
  ((claim.isOption && !clause.isNecessity) || isOtherLimit(claim, clause) || mayDenyOtherwise(claim, clause))
/** The same of a clause that shows a denial itself: what is not necessary needs more than no contradiction. */
const statesDenial = (claim: Clause, clause: Clause) =>
  deniesOtherwise(claim, clause) && (!claim.isOption || clause.showsOption || mayDenyOtherwise(claim, clause))
/** Whether a clause has all that a claim states: its words, and none of its limits is another one. */
const hasAll = ({ words, limits, opposites }: Clause, clause: Clause) =>
  limits.length === 0 &&
  shareIn(words, keysOf(clause)) === 1 &&
  opposites.every(({ side }) => clause.opposites.some((one) => one.side === side))
/** "Only on Sundays" limits what is denied; "rejected" is in its place, and "stops" before it. */
function mayDenyOtherwise(claim: Clause, clause: Clause): boolean {
  const { denied, mayDeny } = claim
  if (clause.isCondition) return false
  const hasDenied = denied?.some((key) => keysOf(clause).has(key)) ?? false
  if (!hasDenied && !clause.isNegated && denied?.some(isLoss) && clause.mayDeny.every(isLimiting)) return true
  // "Not on the upper floor" where the text has "on the ground floor only".
  const others = claim.words.filter((keys) => !isWeak(keys[0]!) && !keys.some((key) => denied?.includes(key)))
  const isOtherwise = !hasDenied && others.length >= fewWords && shareIn(others, keysOf(clause)) === 1
  const isStopped = denied?.some((key) => clause.stopped.includes(key)) ?? false
  return clause.mayDeny.some((word) => {
    if (mayDeny.includes(word)) return false
    // "Only on Sundays" denies Mondays, and no more than that.
    if (isOnly(word) && hasAll(claim, clause)) return false
    return isLimiting(word) === hasDenied || (isStopping(word) && isStopped) || (isOnly(word) && isOtherwise)
  })
}

/** Whether a clause has the opposite of a word. Words that deny are counted as negations. */
export function hasOpposite(claim: Clause, clause: Clause): boolean {
  if (clause.opposites.length === 0) return false
  return claim.opposites.some((one) => {
    // "Imported data is not exported" has both.
    if (one.isNegation || claim.opposites.some(({ side }) => side === -one.side)) return false
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

/** Whether a clause may have a denial: "not used without permission" needs more than "used without permission". */
const mayMean = (denial: Clause, clause: Clause) =>
  isComparable(denial, clause) &&
  !(denial.isNegated && !clause.isNegated && denial.absent.some((key) => clause.absent.includes(key)))

/**
 * Whether the sentence denies something, or names something as absent ("without"), and the text has no denial and no absence that it may mean. A
 * passage that agrees with a denial has one as well; one that does not speaks of the same without it.
 */
export function lacksDenial(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  const denials = claimed.filter(
    (one) =>
      one.denied !== null &&
      !one.isCondition &&
      (one.words.length >= fewWords || claimed.length === 1) &&
      !isLackOfDenial(one, claimed),
  )
  if (denials.length === 0 || text.length === 0) return false
  const known = denialsOf(text)
  const sentences = wordsOfSentences(text)
  const negated = claimed.filter(({ isNegated }) => isNegated)
  const knownMost = new Map<Clause, number>()
  const mostOfNegated = (clause: Clause) => {
    const most =
      knownMost.get(clause) ?? negated.reduce((best, { words }) => Math.max(best, shareIn(words, keysOf(clause))), 0)
    knownMost.set(clause, most)
    return most
  }
  return denials.some((denial) => {
    const { words, denied } = denial
    const share = (keys: ReadonlySet<string>) => shareIn(words, keys)
    const shares = text.map((clause) => ({ clause, share: share(keysOf(clause)) }))
    const most = shares.reduce((best, one) => Math.max(best, one.share), 0)
    const shareWithOpposite = (clause: Clause) =>
      share(sentences.get(clause.sentence)!) + (replacedWeight * countReplaced(denial, clause)) / words.length
    const isMeant = ({ clause, share: own }: (typeof shares)[number]) =>
      (denial.isNegated && hasOpposite(denial, clause) && shareWithOpposite(clause) >= denialShare) ||
      (own >= denialShare && own >= most * nearlyMost && !denial.isOption && isInReverse(denial, clause)) ||
      (own >= denialShare && own >= most * nearlyMost && statesDenial(denial, clause)) ||
      (clause.denied !== null && own >= leastBestShare && own === most && mayMean(denial, clause))
    if (shares.some(isMeant) || isStated(denial, text) || isStatedOtherwise(denial, shares)) return false
    // The text affirms it, so that a denial elsewhere in a long sentence is about something else.
    const isAffirmed = shares.some(
      ({ clause, share: own }) =>
        own === most &&
        shareOf(denial, clause) >= denialShare &&
        clause.denied === null &&
        denied!.some((key) => keysOf(clause).has(key)),
    )
    return !known.some(({ clause, sentence }) => {
      // "One month later, it stops collecting data" has two clauses.
      if (clause.denied === null && !denied!.some((key) => clause.stopped.includes(key))) return false
      if (!mayMean(denial, clause)) return false
      const keys = keysOf(clause)
      // The sentence has that denial, too.
      if (clause.isNegated && mostOfNegated(clause) > share(keys)) return false
      const isSameWord = denied!.some((key) => keys.has(key))
      if (share(keys) >= denialShare) return true
      return !isAffirmed && share(sentence) >= (isSameWord ? denialShareWithWord : denialShareOfSentence)
    })
  })
}

/**
 * Whether a text that never has the denied word shows a denial or a duty in the clause that has the most of the other words, and enough of
 * them: "phones stay in the locker" for "must not be taken into the hall". What is only not necessary needs one.
 */
function isStatedOtherwise(denial: Clause, shares: readonly { clause: Clause; share: number }[]) {
  const { isNegated, isOption, denied } = denial
  if (!isNegated || denied!.length === 0) return false
  if (shares.some(({ clause }) => denied!.some((key) => keysOf(clause).has(key)))) return false
  const most = shares.reduce((best, one) => Math.max(best, one.share), 0)
  return shares.some(
    ({ clause, share }) =>
      share > 0 &&
      (isOption || share >= leastBestShare) &&
      share >= most * nearlyMost &&
      isComparable(denial, clause) &&
      (clause.denied !== null || clause.mayDeny.length > 0 || clause.stopped.length > 0 || clause.isNecessity),
  )
}

/** Whether each clause that the sentence denies is denied by the text as well. */
export function sharesDenials(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  return claimed
    .filter(({ isNegated, isCondition }) => isNegated && !isCondition)
    .every((clause) => findDenied([{ ...clause, isNegated: false }], text).length > 0)
}
