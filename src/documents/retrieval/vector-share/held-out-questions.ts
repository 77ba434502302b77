import {
  defaultLanguage,
  detectLatinLanguage,
  isFunctionWord,
  splitSentences,
  tokenize,
} from '../../../platform/language/index.ts'
import type { SampledChunk } from '../corpus/vector-checks.store.ts'

/** A question made from the words of a chunk: a search that works finds this chunk. */
export interface HeldOutQuestion {
  chunkId: string
  text: string
}

/** Characters of a chunk that are read: chunks of the pipeline are shorter. */
const readCharacters = 4_000
/** A sentence with fewer words of content keeps too few of them. */
const minimumWords = 6
/** Few, so that words alone often match other chunks too: what vectors add is seen only there. */
const maximumKeptWords = 3
/**
 * Known-item questions: of each chunk one sentence without half of its words, as a person would remember it, and its heading where no other
 * chunk of the sample has it. Always the same for the same chunks.
 */
export function makeHeldOutQuestions(chunks: readonly SampledChunk[]): HeldOutQuestion[] {
  const headings = new Map<string, number>()
  for (const { headingPath } of chunks) {
    const heading = headingPath.at(-1)
    if (heading !== undefined) headings.set(heading, (headings.get(heading) ?? 0) + 1)
  }
  return chunks.flatMap(({ chunkId, text, headingPath }) => {
    const heading = headingPath.at(-1)
    const isOwn = heading !== undefined && headings.get(heading) === 1 && contentWordsOf(heading).length >= 2
    const remembered = rememberedSentence(text)
    return [...(isOwn ? [heading] : []), ...(remembered === null ? [] : [remembered])].map((question) => ({
      chunkId,
      text: question,
    }))
  })
}

/** Of the middle sentence that has enough words; null: there is none. */
function rememberedSentence(text: string): string | null {
  const sentences = splitSentences(text.slice(0, readCharacters).toWellFormed())
    .map((sentence) => contentWordsOf(sentence.text))
    .filter((words) => words.length >= minimumWords)
  const words = sentences[Math.floor(sentences.length / 2)]
  if (!words) return null
  return words
    .filter((_, index) => index % 2 === 1)
    .slice(0, maximumKeptWords)
    .join(' ')
}

function contentWordsOf(text: string): string[] {
  const words = tokenize(text, { singleCharacters: false })
  const latin = detectLatinLanguage(words) ?? defaultLanguage
  return [...new Set(words)].filter((word) => word.length > 1 && !isFunctionWord(word, latin))
}
