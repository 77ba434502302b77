import { type Language, rulesForWord } from '../../../platform/language/index.ts'
import { murmur3 } from './term-hash.ts'

/** Languages that the first version of text analysis stemmed; in its terms the language was part of the hash. */
const stemmedLanguages = new Set('en de fr es it pt nl sv da no fi ro tr ru el ar'.split(' '))

/** The terms of a word in documents that the first version analysed. */
export function formerTerms(spaceId: string, word: string, languages: readonly Language[]): number[] {
  const terms = languages.map((latin) => {
    const found = rulesForWord(word, latin)
    if (!found || !stemmedLanguages.has(found.language)) return formerHash(spaceId, '', word)
    return formerHash(spaceId, found.language, found.rules.stem(word))
  })
  return [...new Set(terms)]
}

function formerHash(spaceId: string, language: Language, stem: string): number {
  const folded = stem
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .replaceAll('ı', 'i')
  return murmur3(`${spaceId} ${language} ${folded}`) & 0x7fffffff
}
