import { stemmer as stemArabic } from '@orama/stemmers/arabic'
import { stemmer as stemDanish } from '@orama/stemmers/danish'
import { stemmer as stemDutch } from '@orama/stemmers/dutch'
import { stemmer as stemEnglish } from '@orama/stemmers/english'
import { stemmer as stemFinnish } from '@orama/stemmers/finnish'
import { stemmer as stemFrench } from '@orama/stemmers/french'
import { stemmer as stemGerman } from '@orama/stemmers/german'
import { stemmer as stemGreek } from '@orama/stemmers/greek'
import { stemmer as stemItalian } from '@orama/stemmers/italian'
import { stemmer as stemNorwegian } from '@orama/stemmers/norwegian'
import { stemmer as stemPortuguese } from '@orama/stemmers/portuguese'
import { stemmer as stemRomanian } from '@orama/stemmers/romanian'
import { stemmer as stemRussian } from '@orama/stemmers/russian'
import { stemmer as stemSpanish } from '@orama/stemmers/spanish'
import { stemmer as stemSwedish } from '@orama/stemmers/swedish'
import { stemmer as stemTurkish } from '@orama/stemmers/turkish'
import { stopwords as arabic } from '@orama/stopwords/arabic'
import { stopwords as danish } from '@orama/stopwords/danish'
import { stopwords as dutch } from '@orama/stopwords/dutch'
import { stopwords as english } from '@orama/stopwords/english'
import { stopwords as finnish } from '@orama/stopwords/finnish'
import { stopwords as french } from '@orama/stopwords/french'
import { stopwords as german } from '@orama/stopwords/german'
import { stopwords as greek } from '@orama/stopwords/greek'
import { stopwords as italian } from '@orama/stopwords/italian'
import { stopwords as norwegian } from '@orama/stopwords/norwegian'
import { stopwords as portuguese } from '@orama/stopwords/portuguese'
import { stopwords as romanian } from '@orama/stopwords/romanian'
import { stopwords as russian } from '@orama/stopwords/russian'
import { stopwords as spanish } from '@orama/stopwords/spanish'
import { stopwords as swedish } from '@orama/stopwords/swedish'
import { stopwords as turkish } from '@orama/stopwords/turkish'

/** ISO 639-1 code of a language whose words are stemmed. */
export type Language = string

export interface LanguageRules {
  stem(word: string): string
  stopWords: ReadonlySet<string>
}

/** Elided articles and pronouns that the tokenizer parts from their word (l'article, it's), in no list. */
const elided = ['s', 't', 'd', 'l', 'm', 'n', 'j', 'c', 'qu', 're', 've', 'll']

function rules(stem: (word: string) => string, words: readonly string[], more: readonly string[] = []): LanguageRules {
  // A listed "isn't" comes out of the tokenizer as "isn" and "t".
  const parts = words.flatMap((word) => word.toLowerCase().split(/['’]/))
  return { stem, stopWords: new Set([...words, ...parts, ...elided, ...more]) }
}

/** Languages in Latin script: told apart by their function words. The first is taken where nothing speaks for another. */
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
}

/** Languages told by their script alone; a related language in the same script is stemmed by the same rules, on both sides. */
const scriptLanguages: { script: RegExp; language: Language; rules: LanguageRules }[] = [
  { script: /\p{Script=Cyrillic}/u, language: 'ru', rules: rules(stemRussian, russian) },
  { script: /\p{Script=Greek}/u, language: 'el', rules: rules(stemGreek, greek) },
  { script: /\p{Script=Arabic}/u, language: 'ar', rules: rules(stemArabic, arabic) },
]

export const defaultLanguage: Language = 'en'

const latinLetter = /\p{Script=Latin}/u

/** Rules for one word, by its script; `latin` decides for Latin script. Null: nothing to stem (digits, other scripts). */
export function rulesForWord(word: string, latin: Language): { language: Language; rules: LanguageRules } | null {
  if (/\p{N}/u.test(word)) return null
  if (latinLetter.test(word)) {
    const found = latinLanguages[latin]
    return found ? { language: latin, rules: found } : null
  }
  return scriptLanguages.find((candidate) => candidate.script.test(word)) ?? null
}

export function isLatinLanguage(language: Language): boolean {
  return language in latinLanguages
}

// Two function words and one word in twelve: a running text has one in three, a table or a list of names none.
const minimumHits = 2
const minimumShare = 1 / 12

/** The Latin-script language whose function words are the most frequent in `words` (lower case). Null: too few to tell. */
export function detectLatinLanguage(words: readonly string[]): Language | null {
  const latinWords = words.filter((word) => latinLetter.test(word))
  let best: Language | null = null
  let bestHits = Math.max(minimumHits, latinWords.length * minimumShare) - 0.001
  for (const [language, { stopWords }] of Object.entries(latinLanguages)) {
    let hits = 0
    for (const word of latinWords) if (word.length > 1 && stopWords.has(word)) hits++
    if (hits > bestHits) {
      best = language
      bestHits = hits
    }
  }
  return best
}
