import {
  defaultLanguage,
  detectLatinLanguage,
  isFunctionWord,
  isLatinLanguage,
  type Language,
  nearWords,
  rulesForWord,
  synonyms,
  tokenize,
} from '../language/index.ts'

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

/** Letters and marks of scripts with words, in lower case. */
const letter =
  '[a-zß-öø-ʯ\u0300-\u03ff\u0400-\u058a\u0591-\u05bd\u05bf-\u05f2\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ff\u0900-\u0963\u0970-\u10ff\u1e00-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]'

/**
 * A pattern for text in lower case, with few ranges in the place of `\p{L}`, alone or with `\p{M}`: that takes fifty times as long to compile,
 * and one that ignores case five hundred times.
 */
export const lowerCasePattern = (source: string, flags = 'u') =>
  new RegExp(source.replaceAll(/\[\\p\{L\}\\p\{M\}\]|\\p\{L\}/g, letter), flags)

/** Words that are written with a blank between them. */
export const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '))

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

function scriptOf(word: string): string | null {
  return scripts.find(([, pattern]) => pattern.test(word))?.[0] ?? null
}

/** Whether the words of a text are pairs of characters: other wording shares fewer of them. */
export const hasPairs = ({ script }: TextLanguage) => script === 'east_asian' || script === 'hangul'

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
const arabicAnd = /^و(?=ال.{2})/u
const mark = /\p{M}/gu
/** Vowels change in the plural: "Buch" and "Bücher". */
const withoutMarks = (word: string) => (latinLetter.test(word) ? word.normalize('NFD').replaceAll(mark, '') : word)
const latinLetter = /\p{Script=Latin}/u

const knownKeys = new Map<Language, Map<string, readonly string[]>>()
/** Of one language; texts of one Space have most of their words in common. */
const maximumKnown = 20_000
const longestKnown = 40

/** The word, its stem, the word that it is an irregular form of, and its first letters where it is long. */
export function wordKeys(word: string, latin: Language): readonly string[] {
  const ofLanguage = knownKeys.get(latin) ?? new Map<string, readonly string[]>()
  const known = ofLanguage.get(word)
  if (known) return known
  const keys = readKeys(word, latin)
  if (ofLanguage.size >= maximumKnown) ofLanguage.clear()
  if (word.length <= longestKnown) knownKeys.set(latin, ofLanguage.set(word, keys))
  return keys
}

function readKeys(word: string, latin: Language): string[] {
  const bare = word.replace(arabicAnd, '')
  const stem = rulesForWord(bare, latin)?.rules.stem(bare) ?? bare
  const verb = latin === 'en' ? irregularForms.get(bare) : undefined
  const keys = [
    ...new Set([
      word,
      bare,
      stem,
      ...(verb === undefined ? [] : [verb]),
      ...basesOf(bare, latin),
      ...(sameWords.get(bare) ?? []),
      ...(loanPlural.test(stem) ? [stem.slice(0, -1)] : []),
    ]),
  ]
  return bare.length >= comparedLetters ? [...keys, `${withoutMarks(bare).slice(0, comparedLetters)}*`] : keys
}

/** Whether a key is no beginning of a word: "Bahrain" is not "Bahraini". */
export const isWhole = (key: string) => !key.endsWith('*')

/** "Per year" and "annually" in one key, and "not transferable" and "may not be passed on" with it. */
const sameWords = new Map(
  [
    'year years yearly annual annually jahr jahre jahren jahres jährlich jährliche jährlichen an ans année années annuel annuelle annuels annuelles annuellement año años anual anuales anualmente anno anni annuale annui annua annualmente jaar jaren jaarlijks jaarlijkse ano anos anualmente',
    'month months monthly monat monate monaten monats monatlich monatliche monatlichen mois mensuel mensuelle mensuels mensuellement mes meses mensual mensuales mensualmente mese mesi mensile mensili mensilmente maand maanden maandelijks mês mensal mensais mensalmente',
    'week weeks weekly woche wochen wöchentlich wöchentliche semaine semaines hebdomadaire semana semanas semanal semanales semanalmente settimana settimane settimanale week weken wekelijks',
    'day days daily tag tage tagen tages täglich tägliche jour jours quotidien quotidienne quotidiennement journalier día días diario diaria diariamente giorno giorni giornaliero quotidiano quotidianamente dag dagen dagelijks dia dias diário diariamente',
    'hour hours hourly stunde stunden stündlich heure heures horaire hora horas ora ore orario uur uren',
    'transfer transferred transferable transferring übertragen übertragbar weitergeben weitergegeben weitergabe abtreten abgetreten cessible cessibles céder cédé cédée cédés cédées transférable transférer transférée transferir transferible transferibles ceder cedido cedida cedibile cedere ceduto ceduta trasferibile trasferire trasferita transferível ceder cedido transmissível overdraagbaar overdragen overgedragen doorgeven',
    'refund refunds refunded refundable reimburse reimbursed reimbursement erstatten erstattet erstattung rückerstattet zurückgezahlt rembourser remboursé remboursée remboursés remboursées remboursable remboursables remboursement reembolsar reembolsado reembolsable reembolsables reembolso devolver devuelve devuelven rimborsare rimborsato rimborsabile rimborsabili rimborso reembolsável terugbetaald terugbetalen',
  ].flatMap((words) => words.split(' ').map((word) => [word, [`#${words.split(' ', 1)[0]!}`]] as const)),
)

/** Endings of nouns and adjectives that are made of verbs: "renewal", "Zahlung". */
const derived: Readonly<Record<Language, RegExp>> = {
  en: /(?:al|als|ment|ments|age|ance|ances|able|ible)$/,
  de: /(?:ung(?:en)?|bare?[mnrs]?)$/,
  fr: /[ai]bles?$/,
  es: /[ai]bles?$/,
  it: /[ai]bil[ei]$/,
  pt: /[áí](?:vel|veis)$/,
  nl: /(?:ing(?:en)?|ba(?:ar|re))$/,
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

/** Irregular verbs of English with the forms that no stemmer joins: `verb form form`. Pure data. */
const verbForms =
  'arise arose, bear bore, become became, begin began begun, bend bent, bind bound, bleed bled, blow blew ' +
  'blown, break broke broken, bring brought, build built, buy bought, catch caught, choose chose chosen, come ' +
  'came, deal dealt, draw drew drawn, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, ' +
  'fight fought, find found, fly flew flown, forget forgot forgotten, freeze froze frozen, get got, give gave ' +
  'given, go went gone, grow grew grown, hear heard, hide hid hidden, hold held, keep kept, know knew known, ' +
  'lay laid, lead led, leave left, lend lent, light lit, lose lost loss, make made, mean meant, meet met, pay paid, ' +
  'ride rode, ring rang, rise rose risen, run ran, say said, see saw seen, seek sought, resell resold resale, sell sold sale, send sent, ' +
  'shake shook shaken, shine shone, shoot shot, show shown, sing sang sung, sink sank, sit sat, sleep slept, ' +
  'speak spoke spoken, spend spent, stand stood, steal stole stolen, strike struck, swear swore, sweep swept, ' +
  'swim swam swum, take took taken, teach taught, tell told, think thought, throw threw thrown, understand ' +
  'understood, wake woke, wear wore worn, win won, write wrote written, child children, man men, woman women, foot feet, tooth teeth'

/** The verb or noun of each form. */
const irregularForms: ReadonlyMap<string, string> = new Map(
  verbForms.split(', ').flatMap((line) => {
    const [verb = '', ...forms] = line.split(' ')
    return forms.map((form): [string, string] => [form, verb])
  }),
)

/** Part of a text by which its Latin-script language is detected, UTF-16 units. */
const unitsForLanguage = 2_000

/** The language of a text's Latin words. Short questions without enough function words count as `otherwise`. */
export function latinLanguageOf(text: string, otherwise: Language = defaultLanguage): Language {
  return detectLatinLanguage(tokenize(text.slice(0, unitsForLanguage), { singleCharacters: false })) ?? otherwise
}

/**
 * The forms in which words are compared: stemmed by script and language, cut, without marks that change no word. A Vietnamese word has
 * usually two syllables, so that pairs of syllables are compared too, as with Han characters. `known`: forms of words that were read
 * before in the same language.
 */
export function comparedWords(text: string, latin: Language, known = new Map<string, string>()): string[] {
  const words = tokenize(text, { singleCharacters: true }).map((word) => {
    const form = known.get(word) ?? comparedForm(word, latin)
    known.set(word, form)
    return form
  })
  return latin === vietnamese ? [...words, ...pairsOf(words)] : words
}

/** The compared forms of the words that carry a topic. A text of function words only keeps them. */
export function topicWords(text: string, latin: Language): string[] {
  const words = tokenize(text, { singleCharacters: true })
  const isTopic = words.map((word) => !isFunctionWord(word.replaceAll(arabicMark, ''), latin))
  if (!isTopic.includes(true)) return comparedWords(text, latin)
  const compared = words.map((word) => comparedForm(word, latin))
  const topics = compared.filter((_, index) => isTopic[index])
  if (latin !== vietnamese) return topics
  return [...topics, ...pairsOf(compared).filter((_, index) => isTopic[index] && isTopic[index + 1])]
}

const vietnamese: Language = 'vi'
const hanCharacter = /^\p{Script=Han}$/u
const syllable = /^[\p{L}\p{M}]+$/u
/** Weight of a Han character, and of a Vietnamese syllable, next to the pairs that contain it: it is in many other words. */
const characterWeight = 0.3
const syllableWeight = 0.5

/** Words that nearly any question has. */
const weakWords: Readonly<Record<Language, string>> = {
  en:
    'get got getting go goes going went gone make makes made making put take takes took give gives gave given want wants wanted need needs use uses used using know happen happens ' +
    'happened do done thing things way ways lot much many still now already ever really actually just also anyway away back come comes let say tell see look like possible kind sort mean ' +
    'means keep right off first last work works working allowed able please there somebody someone anyone everyone exactly long often count counts another',
  de: 'bekomme bekommen gehen geht machen mache gibt geben nehmen will möchte brauche brauchen wissen passiert sache jetzt schon noch wirklich eigentlich auch einfach kommen sagen sehen möglich darf genau bitte jemand',
}
const weakForms = new Map<Language, ReadonlySet<string>>()
const weakWeight = 0.5

function isWeak(form: string, latin: Language): boolean {
  const known = weakForms.get(latin) ?? new Set(comparedWords(weakWords[latin] ?? '', latin))
  weakForms.set(latin, known)
  return known.has(form)
}

/** Words that a sentence needs to state a fact and that a passage, a list or a table leaves out. Pure data. */
const lightWords: Readonly<Record<Language, string>> = {
  en: 'cost costs pay pays people person persons someone case cases order charge amount amounts longer except unless',
  de:
    'bereits stehen steht stand standen verfügung erfolgt erfolgen erhalten erhält bekommt nehmen genommen lassen lässt bieten bietet darf dürfen dürft sollen sollte sollten möchten wollen will gilt gelten beträgt betragen ' +
    'liegt person personen menschen leute dann sowie jeweils dabei hierfür dafür nötig notwendig kosten kostet zahlen zahlt bezahlen bezahlt hat haben übernehmen übernimmt übernommen benutzen benutzt nutzen nutzt verwenden verwendet',
  fr: 'droit utiliser utilise utilisé utilisée faut doit doivent devoir avoir être faire fait mettre prendre prend donner obtenir coûte coûtent coûter payer paie paient possible personne personnes gens cas afin',
  es: 'usar usa utilizar utiliza puede pueden poder debe deben deber haber hay hacer hace tener tiene tienen dar estar cuesta cuestan pagar paga pagan posible personas gente caso',
  it: 'usare usa utilizzare utilizza può possono potere deve devono dovere avere fare dare essere costa costano pagare paga pagano possibile persone caso',
  pt: 'usar usa utilizar utiliza pode podem poder deve devem dever haver fazer ter tem dar estar custa custam pagar paga pagam possível pessoas caso',
  nl: 'gebruiken gebruikt kunnen kan kunt moeten moet mogen mag hebben heeft doen gaan krijgt krijgen kosten kost betalen betaalt mogelijk mensen personen geval',
}
const lightSets = new Map<Language, ReadonlySet<string>>()

/** Whether a word (lower case) may be in a sentence that a passage supports and not in the passage. */
export function isLightWord(word: string, latin: Language): boolean {
  const known = lightSets.get(latin) ?? new Set((lightWords[latin] ?? '').split(' '))
  lightSets.set(latin, known)
  return known.has(word) || comparedWords(word, latin).every((form) => isWeak(form, latin))
}

/** The weight of a compared word before its rarity, 0..1. */
export function weightOfForm(word: string, latin: Language): number {
  if (isWeak(word, latin)) return weakWeight
  if (hanCharacter.test(word)) return characterWeight
  return latin === vietnamese && syllable.test(word) ? syllableWeight : 1
}

function pairsOf(words: readonly string[]): string[] {
  return words.slice(1).map((word, index) => `${words[index]!} ${word}`)
}

const arabicMark = /[\u064b-\u065f\u0670]/g
const arabicLetter = /\p{Script=Arabic}/u
/** "and" or "so" written together with the article, which the stemmer keeps. */
const arabicConjunction = /^[وف](?=ال.{2})/u
/** Longer stems are cut: compounds and endings that the stemmer keeps ("Regierungen", "Regierungschef") share their beginning. */
const comparedCharacters = 6
const cutScripts = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{M}]+$/u

function comparedForm(word: string, latin: Language): string {
  if (isPlainDigits(word)) return word
  const bare = arabicLetter.test(word) ? word.replaceAll(arabicMark, '').replace(arabicConjunction, '') : word
  const found = rulesForWord(bare, latin)
  if (found === null) return bare
  const stem = found.rules.stem(bare)
  // Vietnamese marks distinguish words; in other languages people leave them out.
  if (!cutScripts.test(stem) || found.language === vietnamese) return stem
  return stem.normalize('NFD').replaceAll(mark, '').slice(0, comparedCharacters)
}

function isPlainDigits(word: string): boolean {
  const first = word.charCodeAt(0)
  return first >= 0x30 && first <= 0x39
}

/** For each language with synonyms: the forms of each meaning, and the meanings of each form. */
const known = new Map<Language, { groups: readonly (readonly string[])[]; ofForm: ReadonlyMap<string, number[]> }>()

function readSynonyms(language: Language) {
  const read = known.get(language)
  if (read) return read
  const groups = (synonyms[language] ?? []).map((words) => words.flatMap((word) => comparedWords(word, language)))
  const ofForm = new Map<string, number[]>()
  for (const [index, forms] of groups.entries())
    for (const form of new Set(forms)) ofForm.set(form, [...(ofForm.get(form) ?? []), index])
  const result = { groups, ofForm }
  known.set(language, result)
  return result
}

/** A wanted word that another word stands for, and how well: 1 as a synonym, less as a near word. */
export interface Related {
  word: string
  strength: number
}

/** Words of a question that are looked up: each has dozens of near words. */
const maximumExpandedWords = 48

/** The forms that mean the same as one of `wanted`, or nearly, and are none of them, each with those that it stands for. */
export function relatedForms(text: string, wanted: ReadonlySet<string>, language: Language): Map<string, Related[]> {
  const { groups, ofForm } = readSynonyms(language)
  const related = new Map<string, Related[]>()
  const add = (form: string, word: string, strength: number) => {
    if (wanted.has(form)) return
    const known = related.get(form)
    const same = known?.find((one) => one.word === word)
    if (same) same.strength = Math.max(same.strength, strength)
    else if (known) known.push({ word, strength })
    else related.set(form, [{ word, strength }])
  }
  for (const word of wanted)
    for (const index of ofForm.get(word) ?? [])
      for (const other of groups[index]!) if (other !== word) add(other, word, 1)
  const known = new Map<string, string>()
  const tokens = [...new Set(tokenize(text, { singleCharacters: false }))].slice(0, maximumExpandedWords)
  for (const token of tokens) {
    const [word] = comparedWords(token, language)
    if (word === undefined || !wanted.has(word)) continue
    for (const { word: other, strength } of nearWords(token, language))
      for (const form of comparedWords(other, language, known)) add(form, word, strength)
  }
  return related
}

/** Words that mean the same as a word in lower case. */
export function synonymsOf(word: string, language: Language): string[] {
  const { ofForm } = readSynonyms(language)
  const [form] = comparedWords(word, language)
  return (ofForm.get(form ?? '') ?? []).flatMap((index) => synonyms[language]![index]!)
}

/** Words that mean the same as one of a text and are not in it, without repeats. */
export function synonymsIn(text: string): string[] {
  const language = latinLanguageOf(text)
  const { ofForm } = readSynonyms(language)
  const own = new Set(topicWords(text, language))
  const found = new Set<string>()
  for (const form of own)
    for (const index of ofForm.get(form) ?? []) for (const word of synonyms[language]![index]!) found.add(word)
  return [...found].filter((word) => !comparedWords(word, language).some((form) => own.has(form)))
}
