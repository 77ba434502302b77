import { englishSynonyms } from './english-synonyms.ts'
import { germanSynonyms } from './german-synonyms.ts'

/**
 * Words that people use for each other when they ask about rules, products and services: each line is one meaning. Everyday words
 * first, then those of handbooks. Only words that are wrong in few contexts, because a line holds in both directions.
 */

function lines(text: string): string[][] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
}

/** By language, ISO 639-1. */
export const synonyms: Readonly<Record<string, readonly (readonly string[])[]>> = {
  en: lines(englishSynonyms),
  de: lines(germanSynonyms),
}
