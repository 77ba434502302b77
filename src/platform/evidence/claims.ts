import { defaultLanguage, type Language, tokenize } from '../language/index.ts'
import { compoundsOf, isContentWord, wordKeys } from './evidence-words.ts'
import { type Operation, readOperations } from './derivation-words.ts'
import { type Clause, readClauses } from './clauses.ts'
import { isNegation } from './negation-words.ts'
import { type Figure, readFigures } from './read-figures.ts'
import { type Name, readNames } from './read-names.ts'
import { normaliseNumerals } from './read-number.ts'
import { readQuotes } from './read-quotes.ts'
import { detectTextLanguage, latinOf, type TextLanguage } from './text-language.ts'

/** The parts of a sentence that can be compared with a passage. */
export interface Claims {
  language: TextLanguage
  figures: Figure[]
  /** How the sentence shows that it computes numbers. */
  operations: ReadonlySet<Operation>
  /** Names, each as the keys of its words. */
  names: { words: Name; keys: string[][] }[]
  quotes: string[]
  /** The keys of each different content word. */
  words: string[][]
  /** Its clauses; `language` of the passage, where the sentence does not show its own. */
  clauses: (language: TextLanguage) => readonly Clause[]
}

/** List signs, numbers of list items, and addresses: no statements. */
const listSign = /^\s*(?:[-*+•>#|]+\s+|\d{1,3}[.)]\s+)*/u
const linkPattern = /\]\([^)\s]{1,2000}\)|https?:\/\/\S+/gu
/** "Step 3", "page 5": places in a document or an answer. */
const placePattern =
  /(?<!\p{L})(?:steps?|schritte?|étape|paso|passo|stap|page|pages|seiten?|página|pagina|rows?|zeilen?|section|abschnitt|chapter|kapitel|passage|source|quelle)\s{1,2}\d{1,4}/giu

/** Reads a sentence. `answerLanguage`: the language of the text around it, for sentences that are too short to show theirs. */
export function readClaims(sentence: string, answerLanguage: Language | null = null): Claims {
  const text = normaliseNumerals(sentence)
    .replace(listSign, '')
    .replaceAll(linkPattern, ' ')
    .replaceAll(placePattern, ' ')
  const tokens = tokenize(text, { singleCharacters: false })
  const words = [...new Set(tokens)]
  const detected = detectTextLanguage(tokens)
  const language = detected.script === 'latin' ? { ...detected, latin: detected.latin ?? answerLanguage } : detected
  const latin = latinOf(language, defaultLanguage)
  return {
    language,
    figures: readFigures(text, latin, { asClaims: true, isGuess: language.latin === null }),
    operations: readOperations(text, words),
    names: readNames(text, latin).map((name) => ({ words: name, keys: name.map((word) => wordKeys(word, latin)) })),
    quotes: readQuotes(text),
    words: [
      ...words
        .filter((word) => isContentWord(word, latin) && !isNegation(word, language))
        .map((word) => wordKeys(word, latin)),
      ...[...new Set(compoundsOf(tokens, latin))].map((compound) => [compound]),
    ],
    clauses: readOnce((other) => readClauses(text, language.latin === null ? other : language)),
  }
}

/** The claims of parts of one sentence together. */
export function mergeClaims(parts: readonly Claims[]): Claims {
  const last = parts.at(-1)!
  if (parts.length === 1) return last
  const words = new Map(parts.flatMap(({ words: keys }) => keys.map((one) => [one[0], one])))
  return {
    language: parts.find(({ language }) => language.script !== null)?.language ?? last.language,
    figures: parts.flatMap(({ figures }) => figures),
    operations: new Set(parts.flatMap(({ operations }) => [...operations])),
    names: parts.flatMap(({ names }) => names),
    quotes: parts.flatMap(({ quotes }) => quotes),
    words: [...words.values()],
    clauses: readOnce((other) => parts.flatMap(({ clauses }) => clauses(other))),
  }
}

/** The same for each language; a sentence is compared with many passages. */
function readOnce(read: Claims['clauses']): Claims['clauses'] {
  const known = new Map<string, readonly Clause[]>()
  return (language) => {
    const key = `${language.script} ${language.latin}`
    const clauses = known.get(key) ?? read(language)
    known.set(key, clauses)
    return clauses
  }
}
