import { detectLatinLanguage, isFunctionWord, isLatinLanguage, type Language, rulesForWord } from '../language/index.ts'
import { irregularVerbs } from './irregular-verbs.ts'

/** Scripts that are distinguished; kana and Han are one, because Japanese mixes them. */
const scripts: [string, RegExp][] = [
  ['latin', /\p{Script=Latin}/u],
  ['cyrillic', /\p{Script=Cyrillic}/u],
  ['greek', /\p{Script=Greek}/u],
  ['arabic', /\p{Script=Arabic}/u],
  ['devanagari', /\p{Script=Devanagari}/u],
  ['hebrew', /\p{Script=Hebrew}/u],
  ['thai', /\p{Script=Thai}/u],
  ['hangul', /\p{Script=Hangul}/u],
  ['east_asian', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u],
]

export interface TextLanguage {
  /** The script of most words; null without letters. */
  script: string | null
  /** The language of a text in Latin script; null where too few function words show it. */
  latin: Language | null
}

/** The script and language of `words` in lower case. */
export function detectTextLanguage(words: readonly string[]): TextLanguage {
  const counts = new Map<string, number>()
  for (const word of words) {
    const script = scriptOf(word)
    if (script !== null) counts.set(script, (counts.get(script) ?? 0) + 1)
  }
  let best: string | null = null
  for (const [script, count] of counts) if (best === null || count > counts.get(best)!) best = script
  return { script: best, latin: best === 'latin' ? detectLatinLanguage(words) : null }
}

export function scriptOf(word: string): string | null {
  return scripts.find(([, pattern]) => pattern.test(word))?.[0] ?? null
}

/** Whether two texts have words in common when they mean the same. `unknown`: a table, or too few function words. */
export function compareLanguages(left: TextLanguage, right: TextLanguage): 'same' | 'different' | 'unknown' {
  if (left.script === null || right.script === null) return 'unknown'
  if (left.script !== right.script) return 'different'
  if (left.script !== 'latin') return 'same'
  if (left.latin === null || right.latin === null) return 'unknown'
  return left.latin === right.latin ? 'same' : 'different'
}

export function latinOf({ latin }: TextLanguage, otherwise: Language): Language {
  return latin !== null && isLatinLanguage(latin) ? latin : otherwise
}

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
      ...basesOf(bare, latin),
      ...(periods.get(bare) ?? []),
      ...(loanPlural.test(stem) ? [stem.slice(0, -1)] : []),
    ]),
  ]
  return bare.length >= comparedLetters ? [...keys, `${withoutMarks(bare).slice(0, comparedLetters)}*`] : keys
}

/** "Per year" and "annually" in one key. */
const periods = new Map(
  [
    'year years yearly annual annually jahr jahre jahren jahres jährlich jährliche jährlichen an ans année années annuel annuelle annuels annuelles annuellement año años anual anuales anualmente anno anni annuale annui annua annualmente jaar jaren jaarlijks jaarlijkse ano anos anualmente',
    'month months monthly monat monate monaten monats monatlich monatliche monatlichen mois mensuel mensuelle mensuels mensuellement mes meses mensual mensuales mensualmente mese mesi mensile mensili mensilmente maand maanden maandelijks mês mensal mensais mensalmente',
    'week weeks weekly woche wochen wöchentlich wöchentliche semaine semaines hebdomadaire semana semanas semanal semanales semanalmente settimana settimane settimanale week weken wekelijks',
    'day days daily tag tage tagen tages täglich tägliche jour jours quotidien quotidienne quotidiennement journalier día días diario diaria diariamente giorno giorni giornaliero quotidiano quotidianamente dag dagen dagelijks dia dias diário diariamente',
    'hour hours hourly stunde stunden stündlich heure heures horaire hora horas ora ore orario uur uren',
  ].flatMap((words) => words.split(' ').map((word) => [word, [`#${words.split(' ', 1)[0]!}`]] as const)),
)

/** Endings of nouns and adjectives that are made of verbs: "renewal", "Zahlung". */
const derived: Readonly<Record<Language, RegExp>> = {
  en: /(?:al|als|ment|ments|age|ance|ances|able|ible)$/,
  de: /ung(?:en)?$/,
  nl: /ing(?:en)?$/,
}
const leastLettersOfBase = 4

function basesOf(word: string, latin: Language): string[] {
  const at = derived[latin]?.exec(word)?.index ?? 0
  if (at < leastLettersOfBase) return []
  const base = word.slice(0, at)
  return [base, `${base}e`, ...(latin === 'en' ? [] : [`${base}en`])]
}

/** Pairs of syllables: Vietnamese puts spaces between the syllables of a word, and single syllables are in many words. */
export function compoundsOf(words: readonly string[], latin: Language): string[] {
  return latin === 'vi' ? words.slice(1).map((word, index) => `${words[index]!} ${word}`) : []
}

export function isContentWord(word: string, latin: Language): boolean {
  return !/\p{N}/u.test(word) && !isFunctionWord(word, latin)
}
