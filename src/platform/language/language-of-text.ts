import { type Language, rulesForWord, weighLatinLanguages } from './languages.ts'
import { tokenize } from './tokenize.ts'

/** Part of a text by which its language is detected, UTF-16 units. */
const unitsForLanguage = 2_000

/** Languages that share a script with another one, by letters that only they have. */
const lettersOf: [Language, RegExp][] = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['ko', /\p{Script=Hangul}/u],
  ['uk', /[іїєґ]/iu],
  ['fa', /[پچژگ]/u],
]

/** The most likely language of a short text such as a question. `''`: not known. */
export function languageOfText(text: string): Language {
  const read = text.slice(0, unitsForLanguage)
  const special = lettersOf.find(([, letters]) => letters.test(read))
  if (special) return special[0]
  const words = tokenize(read, { singleCharacters: false })
  const { best, words: latinWords } = weighLatinLanguages(words)
  if (best.length > 0) return best.includes('en') ? 'en' : best[0]!
  if (latinWords >= words.length / 2) return ''
  for (const word of words) {
    const language = rulesForWord(word, '')?.language ?? ''
    if (language !== '') return language
  }
  return ''
}
