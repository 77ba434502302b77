import { agrees, type Clause, keysOf } from './negation.ts'

/** A sentence of a text that has this share of the words of another one repeats it. */
const repeatedShare = 0.7
/** Sentences with fewer words are like many others. */
const leastWords = 3

interface Sentences {
  sentences: readonly (readonly Clause[])[]
  /** By their place in `sentences`: those that have a word, by its keys. */
  places: ReadonlyMap<string, readonly number[]>
}

/**
 * Whether the sentences of the text that have most words of a claimed one have its opposite: they deny a word that it affirms, or affirm one that it
 * denies, or have the opposite of a word. Time is linear in both.
 */
export function contradictsRepeated(claimed: readonly Clause[], text: readonly Clause[]): boolean {
  const { sentences, places } = readSentences(text)
  return readSentences(claimed).sentences.some((clauses) => {
    const opposites = new Set(clauses.flatMap((clause) => clause.opposites.map(({ word }) => word)))
    const all = clauses.flatMap((clause) => clause.words)
    const words = all.filter(([word]) => !opposites.has(word!))
    if (all.length < leastWords || words.length === 0) return false
    const counts = new Map<number, number>()
    for (const keys of words)
      for (const at of new Set(keys.flatMap((key) => places.get(key) ?? []))) counts.set(at, (counts.get(at) ?? 0) + 1)
    const most = Math.max(0, ...counts.values())
    if (most < words.length * repeatedShare) return false
    const best = [...counts].filter(([, count]) => count === most).map(([at]) => sentences[at]!)
    return best.every(
      (sentence) =>
        affirmsDenied(sentence, clauses) || affirmsDenied(clauses, sentence) || hasOppositeWord(clauses, sentence),
    )
  })
}

/** Whether a word that `denying` denies is affirmed by the other sentence, which denies nothing. */
function affirmsDenied(denying: readonly Clause[], other: readonly Clause[]): boolean {
  if (other.some(({ denied }) => denied !== null)) return false
  return denying.some((denial) => {
    if (!denial.isNegated) return false
    const has = (clause: Clause) => denial.denied!.some((key) => keysOf(clause).has(key))
    if (denying.some((clause) => !clause.isNegated && has(clause))) return false
    const affirming = other.filter(has)
    return (
      affirming.length > 0 &&
      affirming.every((clause) => (clause.isCondition || !denial.isCondition) && !agrees(clause, denial))
    )
  })
}

/** Whether one sentence has the opposite of a word of the other and not the word. */
function hasOppositeWord(left: readonly Clause[], right: readonly Clause[]): boolean {
  const ofRight = right.flatMap((clause) => clause.opposites.map((one) => ({ ...one, clause })))
  return left.some((clause) =>
    clause.opposites.some(
      ({ side, isNegation }) =>
        !isNegation &&
        ofRight.some((one) => one.side === -side && !one.isNegation && one.clause.isNegated === clause.isNegated) &&
        !ofRight.some((one) => one.side === side) &&
        !left.some((other) => other.opposites.some((one) => one.side === -side)),
    ),
  )
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
