import { type Clause, fewWords, keysOf } from './clauses.ts'
import { shareIn } from './negation.ts'
import type { Restriction } from './quantifiers.ts'

/** A clause of the text with this share of the words deals with the same; one with nearly as many as the best is meant as well. */
const leastShare = 0.5
const nearlyBest = 0.9
/** What drops a condition has nearly no other words. */
const leastShareOfCondition = 0.65

/**
 * Whether the sentence states of all, or without a condition, what the text states with a limit: "always" for "unless it rains", "all trains" for "intercity
 * trains only", and "allowed" for "allowed only with a permit". Time is linear in the text for each clause of the sentence.
 */
export function overstates(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  return claimed.some((claim) => {
    if (claim.isNegated || claim.isCondition || claim.isException || claim.words.length < fewWords) return false
    const own = claimed.filter(({ sentence }) => sentence === claim.sentence)
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
