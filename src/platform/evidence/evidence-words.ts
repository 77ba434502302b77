import { isFunctionWord, type Language, rulesForWord } from '../language/index.ts'

/** Words are also compared by their first letters, because stems of different forms and languages differ. */
const comparedLetters = 6

/** The word, its stem, and its first letters where it is long. */
export function wordKeys(word: string, latin: Language): string[] {
  const stem = rulesForWord(word, latin)?.rules.stem(word) ?? word
  const keys = stem === word ? [word] : [word, stem]
  return word.length > comparedLetters ? [...keys, `${word.slice(0, comparedLetters)}*`] : keys
}

/** Pairs of syllables: Vietnamese puts spaces between the syllables of a word, and single syllables are in many words. */
export function compoundsOf(words: readonly string[], latin: Language): string[] {
  return latin === 'vi' ? words.slice(1).map((word, index) => `${words[index]!} ${word}`) : []
}

export function isContentWord(word: string, latin: Language): boolean {
  return !/\p{N}/u.test(word) && !isFunctionWord(word, latin)
}
