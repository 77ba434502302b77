import { defaultLanguage, detectLatinLanguage, isLatinLanguage, type Language, rulesForWord } from './languages.ts'
import { termHash } from './term-hash.ts'
import { tokenize } from './tokenize.ts'

/** Longest query that is looked at, in UTF-16 units; the rest of a longer one is ignored. */
export const maximumQueryCharacters = 8_000
/** Most different terms of a query; the first ones count. */
export const maximumQueryTerms = 64
/** Most terms of a chunk: far above any chunk size, so that a hostile one cannot make a row of megabytes. */
export const maximumChunkTerms = 16_000

export interface AnalysedChunk {
  /** Sorted, a term as often as it occurs. */
  terms: number[]
  /** Languages whose stemming took part: a query has to be stemmed by the same. */
  languages: Language[]
}

/**
 * Makes the terms of chunks of one document. Words are stemmed by the language of their chunk, told by its function words; a
 * chunk that does not tell (a table, a list) goes by the others.
 */
export function analyseChunks(spaceId: string, texts: readonly string[]): AnalysedChunk[] {
  const words = texts.map((text) => tokenize(text, { singleCharacters: true }).slice(0, maximumChunkTerms))
  const detected = words.map(detectLatinLanguage)
  const usual = mostFrequent(detected.filter((language) => language !== null)) ?? defaultLanguage
  return words.map((chunkWords, index) => {
    const languages = new Set<Language>()
    const terms: number[] = []
    for (const word of chunkWords) {
      const term = toTerm(word, detected[index] ?? usual)
      if (term === null) continue
      if (term.language) languages.add(term.language)
      terms.push(termHash(spaceId, term.language, term.stem))
    }
    return { terms: terms.sort((left, right) => left - right), languages: [...languages] }
  })
}

/** The terms of a query in each of the Space's languages, first words first; empty where only function words are asked for. */
export function analyseQuery(spaceId: string, query: string, languages: readonly Language[]): number[] {
  const latin = languages.filter(isLatinLanguage)
  const terms = new Set<number>()
  for (const word of tokenize(query.slice(0, maximumQueryCharacters), { singleCharacters: false })) {
    for (const language of latin.length > 0 ? latin : [defaultLanguage]) {
      const term = toTerm(word, language)
      if (term) terms.add(termHash(spaceId, term.language, term.stem))
      if (terms.size >= maximumQueryTerms) return [...terms]
    }
  }
  return [...terms]
}

/** Null: a function word, which says nothing about what a text is about. */
function toTerm(word: string, latin: Language): { language: Language; stem: string } | null {
  const found = rulesForWord(word, latin)
  if (!found) return { language: '', stem: withoutMarks(word) }
  if (found.rules.stopWords.has(word)) return null
  return { language: found.language, stem: withoutMarks(found.rules.stem(word)) }
}

// After stemming, because the stemmers know ü from u; people leave marks out in queries.
function withoutMarks(word: string): string {
  return word.normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('ß', 'ss').replaceAll('ø', 'o').replaceAll('ı', 'i')
}

function mostFrequent(values: readonly string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort((left, right) => right[1] - left[1])[0]?.[0]
}
