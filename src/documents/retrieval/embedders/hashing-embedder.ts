import { createTimeSlices } from '../../../platform/kernel/index.ts'
import { countWordPieces } from '../../../gateway/tokens/index.ts'
import { defaultLanguage, type LanguageRules, rulesForWord, tokenize } from '../../../platform/language/index.ts'
import { murmur3 } from '../lexical/analyse-text.ts'
import type { Embedder } from './embedder.ts'

export interface HashingEmbedderOptions {
  /** Default 384: in a chunk of 200 words, one word in 20 shares a dimension with another one. */
  dimensions?: number
  maximumTokens?: number
}

const defaultDimensions = 384
const defaultMaximumTokens = 512
/** Pieces of words find misspellings and compounds; they weigh less than words because there are many. */
const pieceWeight = 0.25
const pieceCharacters = 4
const pieceMark = '\u0001'

/**
 * The embedder that needs no model: words and pieces of words hashed into a vector. Texts that share spelling are near each
 * other; texts that share only meaning are not.
 */
export function createHashingEmbedder(options: HashingEmbedderOptions = {}): Embedder {
  const { dimensions = defaultDimensions, maximumTokens = defaultMaximumTokens } = options
  return {
    id: `hashing-1:${dimensions}`,
    label: `built-in lexical hashing (${dimensions} dimensions): for trying out, no semantics`,
    semantics: false,
    dimensions,
    maximumTokens,
    countTokens: countWordPieces,
    counter: { kind: 'word_pieces' },
    async embed({ texts, signal }) {
      const vectors: Float32Array[] = []
      const slice = createTimeSlices()
      for (const text of texts) {
        await slice()
        signal.throwIfAborted()
        vectors.push(hashText(text, dimensions))
      }
      return vectors
    },
    async close() {},
  }
}

/** Unit length; all zero where the text has no word. */
function hashText(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  for (const [feature, count] of countFeatures(text)) {
    const hash = murmur3(feature, 1)
    // The sign depends on another bit than the dimension, so that collisions cancel out on average.
    const sign = hash & 0x80000000 ? -1 : 1
    const weight = feature.startsWith(pieceMark) ? pieceWeight : 1
    vector[hash % dimensions]! += sign * weight * (1 + Math.log(count))
  }
  return normalise(vector)
}

function countFeatures(text: string): Map<string, number> {
  const words = tokenize(text, { singleCharacters: false })
  const contentWords = words.filter((word) => !rulesOf(word)?.stopWords.has(word))
  const counts = new Map<string, number>()
  for (const word of contentWords.length > 0 ? contentWords : words) {
    // One stemmer for all: it must not depend on the other words of the text. Pieces match the endings of other languages.
    const stem = rulesOf(word)?.stem(word) ?? word
    for (const feature of [stem, ...pieces(stem)]) counts.set(feature, (counts.get(feature) ?? 0) + 1)
  }
  return counts
}

/** Part of the meaning of the embedder's id: another set would make other vectors. */
const languages = new Set([defaultLanguage, 'ru', 'el', 'ar'])

function rulesOf(word: string): LanguageRules | undefined {
  const found = rulesForWord(word, defaultLanguage)
  return found && languages.has(found.language) ? found.rules : undefined
}

function pieces(word: string): string[] {
  const marked = `\u0002${word}\u0003`
  const found: string[] = []
  for (let start = 0; start + pieceCharacters <= marked.length; start++) {
    found.push(pieceMark + marked.slice(start, start + pieceCharacters))
  }
  return found
}

/** Scales to unit length in place; a zero vector stays zero. */
export function normalise(vector: Float32Array): Float32Array {
  let sum = 0
  for (const value of vector) sum += value * value
  if (sum === 0) return vector
  const scale = 1 / Math.sqrt(sum)
  for (let index = 0; index < vector.length; index++) vector[index]! *= scale
  return vector
}
