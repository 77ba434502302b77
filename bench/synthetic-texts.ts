import { createRandom } from '../test/harness/random.ts'

/** Texts that search engines find as hard as real ones in one respect: words with Zipf's frequencies. */
export interface SyntheticTexts {
  /** 0 up to 1, the same for the same seed. */
  random(): number
  words(count: number): string
}

const madeUpWords = 30_000

/** `vocabulary`: the most frequent words first; default 30,000 made-up ones. */
export function createSyntheticTexts(
  seed: number,
  vocabulary = Array.from({ length: madeUpWords }, (_, rank) => wordOf(rank)),
): SyntheticTexts {
  const random = createRandom(seed)
  // The word of rank r comes with a frequency of 1/r.
  const word = () => vocabulary[Math.floor(vocabulary.length ** random()) - 1] ?? vocabulary[0]!
  return { random, words: (count) => Array.from({ length: count }, word).join(' ') }
}

/** The words of texts by their frequency. Tokenizers, unlike search, take several times longer over words that they don't know. */
export function wordsOf(texts: readonly string[]): string[] {
  const counts = Map.groupBy(
    texts
      .join(' ')
      .toLowerCase()
      .match(/[a-z]{2,}/g) ?? [],
    (word) => word,
  )
  return [...counts].sort(([, left], [, right]) => right.length - left.length).map(([word]) => word)
}

function wordOf(rank: number): string {
  let word = ''
  for (let rest = rank + 26 ** 2; rest > 0; rest = Math.floor(rest / 26)) word += String.fromCharCode(97 + (rest % 26))
  return `${word}x`
}
