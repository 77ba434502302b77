import { setImmediate as nextTurn } from 'node:timers/promises'
import { createTimeSlices } from '../../../platform/kernel/index.ts'
import {
  detectLatinLanguage,
  isFunctionWord,
  isLatinLanguage,
  type Language,
  rulesForWord,
  tokenize,
  vietnameseLetter,
  weighLatinLanguages,
} from '../../../platform/language/index.ts'
import type { QueryTerm } from './bm25.ts'

/** Increase it when the same text gets other terms: chunks of an older version are then analysed again in the background. */
export const termsVersion = 2
/** Longest query that is analysed, in UTF-16 units; the API accepts no longer body. The rest is ignored. */
export const maximumQueryCharacters = 1_000_000
/** Most different words of a query that are compared with the Space: the most frequent ones, then the longest. */
export const maximumQueryWords = 40_000
/** Most terms of a chunk: far above any chunk size, so that a hostile one cannot make a row of megabytes. */
const maximumChunkTerms = 16_000
/** A single Han character counts less than the pairs that contain it: it matches other words of the same root. */
const characterWeight = 0.3
/** A word that occurs a thousand times in a query weighs as much as one that occurs nine times; twice is 1.8. */
const saturation = 8
/** Different words by which the language of a query is detected. */
const wordsForLanguage = 1_000
/** Words of a query that are stemmed before the event loop runs. */
const wordsPerTurn = 500
/** Characters of a query that are read before the event loop runs: 2 ms, or 20 ms if each is a ligature of eighteen. */
const charactersPerTurn = 1_000

/** A term of a query, and the word that it was made from. */
export interface QueryWord extends QueryTerm {
  word: string
}

export interface AnalysedChunk {
  /** Sorted, a term as often as it occurs. */
  terms: number[]
  /** Languages whose stemming took part: a query of an unknown language is stemmed by all of them. */
  languages: Language[]
}

/**
 * The terms of chunks of one document. Words are stemmed by the language of their chunk, detected by its function words; a chunk
 * without function words (a table, a list) has the language of the others. A term does not contain its language, and function
 * words are terms too: a chunk whose language is detected wrongly differs in a few endings, and none of its words becomes rare.
 */
export function analyseChunks(spaceId: string, texts: readonly string[]): AnalysedChunk[] {
  const words = texts.map((text) => tokenize(text, { singleCharacters: true }).slice(0, maximumChunkTerms))
  const detected = words.map(detectLatinLanguage)
  const usual = mostFrequent(detected.filter((language) => language !== null)) ?? languageOfNames(texts)
  const makers = new Map<Language, (word: string) => WordTerms>()
  return words.map((chunkWords, index) => {
    const latin = detected[index] ?? usual
    const termsOf = makers.get(latin) ?? createTermMaker(spaceId, latin)
    makers.set(latin, termsOf)
    const languages = new Set<Language>()
    const terms: number[] = []
    for (const word of chunkWords) {
      const { language, terms: own } = termsOf(word)
      if (language !== '') languages.add(language)
      terms.push(...own)
    }
    return { terms: terms.sort((left, right) => left - right), languages: [...languages] }
  })
}

interface WordTerms {
  language: Language
  terms: readonly number[]
}

/** Makes the terms of each word once: half of the words of a text are repeats. */
function createTermMaker(spaceId: string, latin: Language): (word: string) => WordTerms {
  const known = new Map<string, WordTerms>()
  return (word) => {
    const found = known.get(word)
    if (found) return found
    const { language, stem } = stemWord(word, latin)
    const terms = [termHash(spaceId, stem)]
    if (language === vietnamese && hasMarks(word)) terms.push(unmarkedTerm(spaceId, word))
    const made = { language, terms }
    known.set(word, made)
    return made
  }
}

/** Chunks that are analysed together, so that those without function words get the language of their neighbours: about 5 ms. */
const chunksPerAnalysis = 8

/** The terms of the chunks of one document, with pauses in which the event loop runs. */
export async function analyseInSlices(spaceId: string, texts: readonly string[]): Promise<AnalysedChunk[]> {
  const slice = createTimeSlices()
  const analysed: AnalysedChunk[] = []
  for (let start = 0; start < texts.length; start += chunksPerAnalysis) {
    await slice()
    analysed.push(...analyseChunks(spaceId, texts.slice(start, start + chunksPerAnalysis)))
  }
  return analysed
}

/** What the terms of a query depend on in its Space. */
export interface QuerySpace {
  languages: readonly Language[]
  hasFormerTerms?: boolean
}

/**
 * The words of a query, each with the terms it may have in the Space: by the query's language if it is detected, else by each of
 * the Space's languages. Function words are left out if other words remain, or always with `contentOnly`.
 */
export async function analyseQuery(
  spaceId: string,
  query: string,
  { languages, hasFormerTerms = false }: QuerySpace,
  { contentOnly = false } = {},
): Promise<QueryWord[]> {
  const counts = await countWords(query.slice(0, maximumQueryCharacters))
  const sample = [...counts.keys()].slice(0, wordsForLanguage)
  const { functionWordsOf, stemmedBy } = queryLanguages(sample, languages)
  const findsUnmarked = stemmedBy.includes(vietnamese) && !sample.some(hasMarks)
  const terms: QueryWord[] = []
  for (const [word, count] of await withoutFunctionWords(counts, functionWordsOf, contentOnly)) {
    const variants = new Set(stemmedBy.map((language) => termHash(spaceId, stemWord(word, language).stem)))
    if (findsUnmarked) variants.add(unmarkedTerm(spaceId, word))
    if (hasFormerTerms) for (const term of formerTerms(spaceId, word, languages)) variants.add(term)
    terms.push({ word, variants: [...variants], weight: (count * (saturation + 1)) / (count + saturation) })
    if (terms.length % wordsPerTurn === 0) await nextTurn()
  }
  return terms
}

/** The frequency of each word. A long query is read in slices, between which the event loop runs. */
async function countWords(query: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (let start = 0; start < query.length;) {
    if (start > 0) await nextTurn()
    const end = endOfSlice(query, start)
    for (const word of tokenize(query.slice(start, end), { singleCharacters: true })) {
      counts.set(word, (counts.get(word) ?? 0) + (isHanCharacter(word) ? characterWeight : 1))
    }
    start = end
  }
  return counts
}

function isHanCharacter(word: string): boolean {
  return word.length <= 2 && /^\p{Script=Han}$/u.test(word)
}

/** Without function words; all words if there are no others, unless `contentOnly`. */
async function withoutFunctionWords(
  counts: Map<string, number>,
  languages: readonly Language[],
  contentOnly: boolean,
): Promise<[word: string, count: number][]> {
  const content: [word: string, count: number][] = []
  let read = 0
  for (const entry of counts) {
    if (!languages.some((language) => isFunctionWord(entry[0], language))) content.push(entry)
    if (++read % wordsPerTurn === 0) await nextTurn()
  }
  return limitWords(content.length > 0 || contentOnly ? content : [...counts])
}

/** The end of a slice: behind a space if one is near, never inside a surrogate pair. */
function endOfSlice(query: string, start: number): number {
  const end = start + charactersPerTurn
  if (end >= query.length) return query.length
  const space = query.lastIndexOf(' ', end)
  if (space > start + charactersPerTurn / 2) return space + 1
  return /[\udc00-\udfff]/.test(query[end]!) ? end + 1 : end
}

interface QueryLanguages {
  functionWordsOf: Language[]
  stemmedBy: Language[]
}

/** A single function word is a weak hint: it counts only for languages of the Space. */
function queryLanguages(words: readonly string[], languages: readonly Language[]): QueryLanguages {
  const held = languages.filter(isLatinLanguage)
  const detected = detectLatinLanguage(words)
  if (detected !== null) {
    if (detected === vietnamese) return { functionWordsOf: [detected], stemmedBy: [detected] }
    return { functionWordsOf: [detected], stemmedBy: [...(held.includes(detected) ? [detected] : held), ''] }
  }
  const hinted = weighLatinLanguages(words).best.filter((language) => held.includes(language))
  return { functionWordsOf: [...hinted, ''], stemmedBy: [...held, ''] }
}

function limitWords(words: [word: string, count: number][]): [word: string, count: number][] {
  if (words.length <= maximumQueryWords) return words
  return words
    .toSorted(([left, leftCount], [right, rightCount]) => rightCount - leftCount || right.length - left.length)
    .slice(0, maximumQueryWords)
}

const vietnamese: Language = 'vi'

/** The language of texts without function words: English if all characters are ASCII. */
function languageOfNames(texts: readonly string[]): Language {
  return texts.every((text) => !notAscii.test(text)) ? 'en' : ''
}

function stemWord(word: string, latin: Language): { language: Language; stem: string } {
  const found = rulesForWord(word, latin)
  if (!found) return { language: '', stem: word }
  const { language, rules } = found
  // After stemming, because stemmers distinguish ü from u. People omit marks in queries, except where marks change the word.
  return { language, stem: marksMakeWord(word, language) ? word : withoutMarks(rules.stem(word)) }
}

function marksMakeWord(word: string, language: Language): boolean {
  return language === vietnamese || vietnameseLetter.test(word)
}

const notAscii = /[^\p{ASCII}]/u
const foldedScripts = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}]/u

/** Only in scripts where a mark modifies a letter: in Hindi or Thai a mark is a vowel. */
function withoutMarks(word: string): string {
  if (!notAscii.test(word) || !foldedScripts.test(word)) return word
  return word
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .replaceAll('ı', 'i')
    .replaceAll('đ', 'd')
}

function hasMarks(word: string): boolean {
  return notAscii.test(word) && word !== withoutMarks(word)
}

/** The term of a Vietnamese word that is typed without its marks; different from words that have no marks. */
function unmarkedTerm(spaceId: string, word: string): number {
  return termHash(spaceId, `~${withoutMarks(word)}`)
}

function mostFrequent(values: readonly string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort((left, right) => right[1] - left[1])[0]?.[0]
}

/**
 * A term as 31 bits of a hash. The Space is part of the hash: Spaces share no postings, and statistics of one reveal nothing about
 * another. Two terms of a Space with 100,000 words collide with a chance of 1 in 20,000.
 */
function termHash(spaceId: string, stem: string): number {
  return murmur3(`${spaceId} ${stem}`) & 0x7fffffff
}

/** MurmurHash3 (x86, 32 bits; Austin Appleby, public domain) over UTF-16 units; unsigned. */
export function murmur3(text: string, seed = 0): number {
  let hash = seed
  for (let index = 0; index < text.length; index += 2) {
    const second = index + 1 < text.length ? text.charCodeAt(index + 1) : 0
    let block = (text.charCodeAt(index) | (second << 16)) >>> 0
    block = Math.imul(block, 0xcc9e2d51)
    block = (block << 15) | (block >>> 17)
    hash ^= Math.imul(block, 0x1b873593)
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  hash ^= text.length
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  hash ^= hash >>> 16
  return hash >>> 0
}

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

/** A text around a query, such as an earlier turn of its conversation. */
export interface ContextText {
  text: string
  /** Weight of each of its words, 0..1, where a word of the query weighs 1. Words of a long text weigh less. */
  weight: number
}

/**
 * Words of a context text that have its full weight. The words of a longer text share the weight of this many, so that a long
 * answer does not outweigh a short question. Chosen on two sets of conversations: docs/decisions/0058-weighted-conversation-queries.md.
 */
const wordsOfFullWeight = 8

/**
 * The words of a query and, with their weights, those of the texts around it. A word of several context texts has its highest
 * weight; a word that is in the query as well adds that weight to its own. Each text is read in its own language. Without
 * context the result is that of `analyseQuery`.
 */
export async function analyseWithContext(
  spaceId: string,
  query: string,
  context: readonly ContextText[],
  space: QuerySpace,
): Promise<QueryWord[]> {
  const added = new Map<string, QueryWord>()
  for (const { text, weight } of context) {
    const words = await analyseQuery(spaceId, text, space, { contentOnly: true })
    for (const word of weigh(words, weight)) {
      const known = added.get(word.word)
      if (!known || known.weight < word.weight) added.set(word.word, word)
    }
  }
  if (added.size === 0) return analyseQuery(spaceId, query, space)
  const merged = new Map<string, QueryWord>()
  // "And what about that?" alone is searched by its function words; next to a context they would only add noise.
  for (const own of await analyseQuery(spaceId, query, space, { contentOnly: true })) {
    const around = added.get(own.word)
    merged.set(own.word, around ? join(own, around) : own)
  }
  for (const [word, around] of added) if (!merged.has(word)) merged.set(word, around)
  return [...merged.values()]
}

/** Repeats within a context text do not count: a long answer repeats its topic. */
function weigh(words: readonly QueryWord[], weight: number): QueryWord[] {
  const shares = words.map((word) => Math.min(1, word.weight))
  const total = shares.reduce((sum, share) => sum + share, 0)
  const scale = weight * Math.min(1, wordsOfFullWeight / Math.max(total, 1))
  return words.map((word, index) => ({ ...word, weight: shares[index]! * scale }))
}

function join(own: QueryWord, around: QueryWord): QueryWord {
  const variants = [...new Set([...own.variants, ...around.variants])]
  return { word: own.word, variants, weight: own.weight + around.weight }
}
