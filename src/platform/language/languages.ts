import { stemmer as stemArabic } from '@orama/stemmers/arabic'
import { stemmer as stemDanish } from '@orama/stemmers/danish'
import { stemmer as stemDutch } from '@orama/stemmers/dutch'
import { stemmer as stemEnglish } from '@orama/stemmers/english'
import { stemmer as stemFinnish } from '@orama/stemmers/finnish'
import { stemmer as stemFrench } from '@orama/stemmers/french'
import { stemmer as stemGerman } from '@orama/stemmers/german'
import { stemmer as stemGreek } from '@orama/stemmers/greek'
import { stemmer as stemHindi } from '@orama/stemmers/indian'
import { stemmer as stemHungarian } from '@orama/stemmers/hungarian'
import { stemmer as stemIndonesian } from '@orama/stemmers/indonesian'
import { stemmer as stemItalian } from '@orama/stemmers/italian'
import { stemmer as stemNorwegian } from '@orama/stemmers/norwegian'
import { stemmer as stemPortuguese } from '@orama/stemmers/portuguese'
import { stemmer as stemRomanian } from '@orama/stemmers/romanian'
import { stemmer as stemRussian } from '@orama/stemmers/russian'
import { stemmer as stemSpanish } from '@orama/stemmers/spanish'
import { stemmer as stemSwedish } from '@orama/stemmers/swedish'
import { stemmer as stemTurkish } from '@orama/stemmers/turkish'
import { stopwords as arabic } from '@orama/stopwords/arabic'
import { stopwords as bulgarian } from '@orama/stopwords/bulgarian'
import { stopwords as danish } from '@orama/stopwords/danish'
import { stopwords as dutch } from '@orama/stopwords/dutch'
import { stopwords as english } from '@orama/stopwords/english'
import { stopwords as finnish } from '@orama/stopwords/finnish'
import { stopwords as french } from '@orama/stopwords/french'
import { stopwords as german } from '@orama/stopwords/german'
import { stopwords as greek } from '@orama/stopwords/greek'
import { stopwords as hindi } from '@orama/stopwords/indian'
import { stopwords as hungarian } from '@orama/stopwords/hungarian'
import { stopwords as indonesian } from '@orama/stopwords/indonesian'
import { stopwords as italian } from '@orama/stopwords/italian'
import { stopwords as norwegian } from '@orama/stopwords/norwegian'
import { stopwords as portuguese } from '@orama/stopwords/portuguese'
import { stopwords as romanian } from '@orama/stopwords/romanian'
import { stopwords as russian } from '@orama/stopwords/russian'
import { stopwords as spanish } from '@orama/stopwords/spanish'
import { stopwords as swedish } from '@orama/stopwords/swedish'
import { stopwords as turkish } from '@orama/stopwords/turkish'
import { stopwords as ukrainian } from '@orama/stopwords/ukrainian'
import {
  catalanFunctionWords,
  chineseFunctionWords,
  czechFunctionWords,
  hebrewFunctionWords,
  persianFunctionWords,
  polishFunctionWords,
  thaiFunctionWords,
  vietnameseFunctionWords,
} from './function-words.ts'

/** ISO 639-1 code of a language, or `''`: unknown, words are not stemmed. */
export type Language = string

export interface LanguageRules {
  stem(word: string): string
  stopWords: ReadonlySet<string>
}

/** Elided articles and pronouns, which the tokenizer separates from their word (l'article, it's); no list has them. */
const elided = ['s', 't', 'd', 'l', 'm', 'n', 'j', 'c', 'qu', 're', 've', 'll']

function rules(stem: (word: string) => string, words: readonly string[], more: readonly string[] = []): LanguageRules {
  // The tokenizer splits a listed "isn't" into "isn" and "t".
  const parts = words.flatMap((word) => word.toLowerCase().split(/['’]/))
  return { stem, stopWords: new Set([...words, ...parts, ...elided, ...more]) }
}

const unstemmed = (word: string): string => word

/** Languages in Latin script, distinguished by their function words. */
const latinLanguages: Record<Language, LanguageRules> = {
  en: rules(stemEnglish, english, ['a']),
  de: rules(stemGerman, german),
  fr: rules(stemFrench, french),
  es: rules(stemSpanish, spanish),
  it: rules(stemItalian, italian),
  pt: rules(stemPortuguese, portuguese),
  nl: rules(stemDutch, dutch),
  sv: rules(stemSwedish, swedish),
  da: rules(stemDanish, danish),
  no: rules(stemNorwegian, norwegian),
  fi: rules(stemFinnish, finnish),
  ro: rules(stemRomanian, romanian),
  tr: rules(stemTurkish, turkish),
  hu: rules(stemHungarian, hungarian),
  id: rules(stemIndonesian, indonesian),
  vi: { stem: unstemmed, stopWords: new Set(vietnameseFunctionWords) },
  pl: rules(unstemmed, polishFunctionWords),
  cs: rules(unstemmed, czechFunctionWords),
  ca: rules(unstemmed, catalanFunctionWords),
}

const unknownLatin = rules(unstemmed, [])

/** Pairs of hiragana are endings and particles. */
const hiraganaPair = /^[\p{Script=Hiragana}ー]+$/u

/** Languages detected by their script. Other languages in the same script have the same rules, in texts and in queries. */
const scriptLanguages: { script: RegExp; language: Language; rules: LanguageRules }[] = [
  { script: /\p{Script=Cyrillic}/u, language: 'ru', rules: rules(stemRussian, russian) },
  { script: /\p{Script=Greek}/u, language: 'el', rules: rules(stemGreek, greek) },
  { script: /\p{Script=Arabic}/u, language: 'ar', rules: rules(stemArabic, arabic) },
  { script: /\p{Script=Devanagari}/u, language: 'hi', rules: rules(stemHindi, hindi) },
  { script: /\p{Script=Hebrew}/u, language: 'he', rules: rules(unstemmed, hebrewFunctionWords) },
  { script: /\p{Script=Thai}/u, language: 'th', rules: rules(unstemmed, thaiFunctionWords) },
  { script: /\p{Script=Han}/u, language: 'zh', rules: rules(unstemmed, chineseFunctionWords) },
]

export const defaultLanguage: Language = 'en'

const latinLetter = /\p{Script=Latin}/u

/** Rules for one word by its script, for Latin script those of `latin`. Null: nothing to stem (digits, other scripts). */
export function rulesForWord(word: string, latin: Language): { language: Language; rules: LanguageRules } | null {
  if (/\p{N}/u.test(word)) return null
  if (latinLetter.test(word)) return { language: latin, rules: latinLanguages[latin] ?? unknownLatin }
  return scriptLanguages.find((candidate) => candidate.script.test(word)) ?? null
}

/** Function words of languages that share a script, and therefore the stemmer, with another language. */
const otherFunctionWords = new Set([...bulgarian, ...ukrainian, ...persianFunctionWords])

/** Whether a word of a query carries no topic. */
export function isFunctionWord(word: string, latin: Language): boolean {
  if (hiraganaPair.test(word) || otherFunctionWords.has(word)) return true
  return rulesForWord(word, latin)?.rules.stopWords.has(word) ?? false
}

export function isLatinLanguage(language: Language): boolean {
  return language in latinLanguages
}

/** The languages of each function word. */
const languagesOfWord = new Map<string, Language[]>()
for (const [language, { stopWords }] of Object.entries(latinLanguages)) {
  for (const word of stopWords) {
    if ([...word].length > 1) languagesOfWord.set(word, [...(languagesOfWord.get(word) ?? []), language])
  }
}

/** Letters of Vietnamese only: every second Vietnamese word has one, names of other languages have none. */
export const vietnameseLetter = /[ơư\u1ea0-\u1ef9]/
const vietnameseOnly: Language[] = ['vi']

const minimumLatinShare = 0.5

export interface LatinEvidence {
  /** The languages whose function words fit best; several with an equal score, none without function words. */
  best: Language[]
  /** Function words of the best language, and words in Latin script. */
  hits: number
  words: number
}

/** Scores languages by the function words among `words` (lower case); a word that few languages share counts more. */
export function weighLatinLanguages(words: readonly string[]): LatinEvidence {
  const scores = new Map<Language, { score: number; hits: number }>()
  let latinWords = 0
  for (const word of words) {
    if (!latinLetter.test(word)) continue
    latinWords++
    const languages = vietnameseLetter.test(word) ? vietnameseOnly : languagesOfWord.get(word)
    if (!languages) continue
    for (const language of languages) {
      const known = scores.get(language) ?? { score: 0, hits: 0 }
      scores.set(language, { score: known.score + 1 + 1 / languages.length, hits: known.hits + 1 })
    }
  }
  // Latin words in a text of another script are names.
  if (latinWords < words.length * minimumLatinShare) return { best: [], hits: 0, words: latinWords }
  const highest = Math.max(0, ...[...scores.values()].map(({ score }) => score))
  const best = [...scores].filter(([, { score }]) => score > highest - 1e-9)
  return { best: best.map(([language]) => language), hits: best[0]?.[1].hits ?? 0, words: latinWords }
}

// Two function words and one word in twelve: a running text has one in three, a table or a list of names none.
const minimumHits = 2
const minimumShare = 1 / 12

/** The Latin-script language of `words` (lower case). Null: too few function words. */
export function detectLatinLanguage(words: readonly string[]): Language | null {
  const { best, hits, words: latinWords } = weighLatinLanguages(words)
  return hits >= Math.max(minimumHits, latinWords * minimumShare) ? best[0]! : null
}
