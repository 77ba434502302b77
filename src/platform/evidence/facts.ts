import { type Claims, joinWords, readClaims } from './claims.ts'
import type { Evidence } from './evidence.ts'
import { currencyOf, numberSuppliedByWord } from './read-number.ts'
import { compareClaims } from './support.ts'
import { hasPairs, latinOf } from './words.ts'
import { defaultLanguage } from '../language/index.ts'

/**
 * Least share of a fact's content words in an answer. A fact is short and its words were chosen by a person, so that fewer may differ
 * than between a sentence and its source (support.ts). Up to `fewWords` all are needed: half of "blue paint" is another fact.
 */
const minimumWords = 0.75
/** Next to figures, names or quotes that all were found: "12 euros per adult" is in "adults pay 12 euros". */
const minimumWordsWithFacts = 0.5
/** Of scripts without spaces, whose words are pairs of characters: other grammar around a word changes its pairs. */
const minimumPairs = 0.6
const fewWords = 3

/**
 * Whether an answer has an expected fact: every number, month, currency, name and quote of it, and most of its words, compared by stem.
 * Of a fact in another language than the answer only the figures are compared, and without figures it is not found. Deterministic; time
 * is linear in the fact. It does not notice negation.
 */
export function hasFact(answer: Evidence, fact: string): boolean {
  const claims = readClaims(fact)
  const { languages, figures, names, quotes, words } = compareClaims(claims, answer)
  if (figures.includes(false)) return false
  if (languages === 'different' && figures.length > 0) return true
  if (names.includes(false) || quotes.includes(false)) return false
  const facts = figures.length + names.length + quotes.length
  const compared = words.filter((_, index) => !isFigure(claims, index))
  if (compared.length === 0) return facts > 0 || answer.sequence.includes(` ${joinWords(fact)} `)
  const needed = neededShare(claims, compared.length, facts)
  return compared.filter(Boolean).length / compared.length >= needed
}

/** "Twelve" and "euros" are compared as figures: the answer may have "€12". */
function isFigure({ words, language }: Claims, index: number): boolean {
  const [word] = words[index]!
  const latin = latinOf(language, defaultLanguage)
  return word !== undefined && (currencyOf(word) !== undefined || numberSuppliedByWord(word, latin) !== undefined)
}

function neededShare({ language }: Claims, words: number, facts: number): number {
  if (hasPairs(language)) return facts > 0 ? minimumWordsWithFacts : minimumPairs
  if (facts > 0) return minimumWordsWithFacts
  return words <= fewWords ? 1 : minimumWords
}
