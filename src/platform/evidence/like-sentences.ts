import type { Clause } from './clauses.ts'

interface Sentences {
  sentences: readonly (readonly Clause[])[]
  /** By their place in `sentences`: those that have a word, by its keys. */
  places: ReadonlyMap<string, readonly number[]>
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
export function groupSentences(clauses: readonly Clause[]): Sentences['sentences'] {
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
