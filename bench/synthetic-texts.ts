/** Texts that search engines find as hard as real ones in one respect: words with Zipf's frequencies. */
export interface SyntheticTexts {
  /** 0 up to 1, the same for the same seed (Mulberry32). */
  random(): number
  words(count: number): string
}

const vocabularySize = 30_000

export function createSyntheticTexts(seed: number): SyntheticTexts {
  const vocabulary = Array.from({ length: vocabularySize }, (_, rank) => wordOf(rank))
  let state = seed

  function random(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  // The word of rank r comes with a frequency of 1/r.
  const word = () => vocabulary[Math.floor(vocabularySize ** random()) - 1] ?? vocabulary[0]!
  return { random, words: (count) => Array.from({ length: count }, word).join(' ') }
}

function wordOf(rank: number): string {
  let word = ''
  for (let rest = rank + 26 ** 2; rest > 0; rest = Math.floor(rest / 26)) word += String.fromCharCode(97 + (rest % 26))
  return `${word}x`
}
