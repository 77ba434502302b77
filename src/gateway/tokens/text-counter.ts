import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createTokenCounter, loadVocabulary } from './token-counter.ts'

/** How an embedder counts tokens, as data: a process that chunks documents counts the same without the embedder itself. */
export type TextCounterSource =
  | { kind: 'word_pieces' }
  | { kind: 'o200k' }
  /** `tokenizer.json` and, where it exists, `tokenizer_config.json` of a model. */
  | { kind: 'tokenizer'; folder: string }

export type CountTokens = (text: string) => number

/** Synchronous counting for processes that chunk documents. Loads tables of some megabytes. */
export async function createTextCounter(source: TextCounterSource): Promise<CountTokens> {
  switch (source.kind) {
    case 'word_pieces':
      return countWordPieces
    case 'o200k': {
      const counter = createTokenCounter(loadVocabulary())
      return (text) => counter.count(text)
    }
    case 'tokenizer': {
      const { Tokenizer } = await import('@huggingface/tokenizers')
      const read = async (file: string) =>
        JSON.parse(await readFile(path.join(source.folder, file), 'utf8')) as Record<string, unknown>
      const settings = await read('tokenizer_config.json').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return {}
        throw error
      })
      return countWithTokenizer(new Tokenizer(await read('tokenizer.json'), settings))
    }
  }
}

/** About what a word-piece tokenizer counts: a piece for every 6 letters of a word, one for each sign and each CJK character. */
export function countWordPieces(text: string): number {
  if (!/\P{ASCII}/u.test(text)) return countAsciiPieces(text)
  let tokens = 0
  for (const [word] of text.matchAll(/[\p{L}\p{N}\p{M}]+|[^\s\p{L}\p{N}\p{M}]/gu)) {
    const wide = word.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu)
    const rest = word.length - (wide?.length ?? 0)
    tokens += (wide?.length ?? 0) + Math.ceil(rest / 6)
  }
  return tokens
}

/** The same without regular expressions, which take ten times as long. */
function countAsciiPieces(text: string): number {
  let tokens = 0
  let letters = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isWord = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39)
    if (isWord) {
      // The first of every 6 letters begins a piece.
      if (letters++ % 6 === 0) tokens++
      continue
    }
    letters = 0
    const isBlank = code === 0x20 || (code >= 0x09 && code <= 0x0d)
    if (!isBlank) tokens++
  }
  return tokens
}

/** Longest text in UTF-16 units that a model's tokenizer encodes at once: some of them are quadratic in the longest word. */
const maximumSegmentUnits = 1024
/** A segment ends at a blank where one is in its last part. */
const blankWindowUnits = 256

/** Counts with the tokenizer of a model, segment by segment, so that the time is linear for every text. */
export function countWithTokenizer(tokenizer: { encode(text: string): { ids: readonly number[] } }): CountTokens {
  const count = (text: string) => tokenizer.encode(text).ids.length
  // Tokens that begin and end every text count once.
  const markers = count('')
  return (text) => {
    if (text.length <= maximumSegmentUnits) return count(text)
    let tokens = markers
    for (let start = 0; start < text.length;) {
      const end = segmentEnd(text, start)
      tokens += count(text.slice(start, end)) - markers
      start = end
    }
    return tokens
  }
}

function segmentEnd(text: string, start: number): number {
  const end = start + maximumSegmentUnits
  if (end >= text.length) return text.length
  for (let index = end; index > end - blankWindowUnits; index--) if (/\s/.test(text[index]!)) return index
  const code = text.charCodeAt(end)
  return code >= 0xdc00 && code <= 0xdfff ? end - 1 : end
}
