import { isFunctionWord, type Language, rulesForWord } from '../language/index.ts'
import { irregularVerbs } from './irregular-verbs.ts'

/** Words are also compared by their first letters, because stems of different forms and languages differ. */
const comparedLetters = 6

/** Stemmers of other languages than English keep the plural of loanwords: "DVDs". */
const loanPlural = /^[a-z]{2,}[b-df-hj-np-rt-z]s$/
/** "and" written together with the article. */
const arabicConjunction = /^و(?=ال.{2})/u
const mark = /\p{M}/gu
/** Vowels change in the plural: "Buch" and "Bücher". */
const withoutMarks = (word: string) => (latinLetter.test(word) ? word.normalize('NFD').replaceAll(mark, '') : word)
const latinLetter = /\p{Script=Latin}/u

/** The word, its stem, its verb if it is an irregular form, and its first letters where it is long. */
export function wordKeys(word: string, latin: Language): string[] {
  const bare = word.replace(arabicConjunction, '')
  const stem = rulesForWord(bare, latin)?.rules.stem(bare) ?? bare
  const verb = latin === 'en' ? irregularVerbs.get(bare) : undefined
  const keys = [
    ...new Set([
      word,
      bare,
      stem,
      ...(verb === undefined ? [] : [verb]),
      ...(loanPlural.test(stem) ? [stem.slice(0, -1)] : []),
    ]),
  ]
  return bare.length > comparedLetters ? [...keys, `${withoutMarks(bare).slice(0, comparedLetters)}*`] : keys
}

/** Pairs of syllables: Vietnamese puts spaces between the syllables of a word, and single syllables are in many words. */
export function compoundsOf(words: readonly string[], latin: Language): string[] {
  return latin === 'vi' ? words.slice(1).map((word, index) => `${words[index]!} ${word}`) : []
}

export function isContentWord(word: string, latin: Language): boolean {
  return !/\p{N}/u.test(word) && !isFunctionWord(word, latin)
}
