import { findLike, groupSentences } from './like-sentences.ts'
import { type Clause, keysOf } from './clauses.ts'
import { agrees, deniesOtherwise, isStated } from './negation.ts'

/** A sentence of a text that has this share of the words of another one repeats it. */
const repeatedShare = 0.7
/** Sentences with fewer words are like many others. */
const leastWords = 3

/**
 * Whether the sentences of the text that have most words of a claimed one have its opposite: they deny a word that it affirms, or affirm one that it
 * denies. Time is linear in both.
 */
export function contradictsRepeated(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  return groupSentences(claimed).some((clauses) => {
    const { most, total, ofAtLeast } = findLike(clauses, text)
    if (clauses.flatMap(({ words }) => words).length < leastWords || total === 0 || most < total * repeatedShare)
      return false
    const denials = clauses.filter(({ isNegated }) => isNegated)
    if (denials.length > 0 && denials.every((denial) => isStated(denial, text))) return false
    return ofAtLeast(most).every(
      (one) =>
        affirmsDenied(one, clauses, (clause, denial) => agrees(clause, denial)) ||
        affirmsDenied(clauses, one, (clause, denial) => agrees(denial, clause) || deniesOtherwise(denial, clause)),
    )
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
    const affirming = other.filter(has)
    return (
      affirming.length > 0 &&
      affirming.every((clause) => (clause.isCondition || !denial.isCondition) && !agree(clause, denial))
    )
  })
}
