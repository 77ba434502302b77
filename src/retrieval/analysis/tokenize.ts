/**
 * Words of any script. Scripts without spaces become pieces that the same query cuts the same way: Han, kana and Hangul
 * overlapping pairs, Thai and its neighbours dictionary words.
 */
const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
const pairedScripts = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu
const hanCharacter = /\p{Script=Han}/u
const spacelessScripts = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** Longest word that is a word; longer ones (base64, hashes) are cut, so that they still match themselves. */
const maximumWordCharacters = 64

export interface TokenizeOptions {
  /** Documents also get single Han characters, so that a query of one character finds them. */
  singleCharacters: boolean
}

/** Lower-case words in reading order, NFKC, with their marks. */
export function tokenize(text: string, { singleCharacters }: TokenizeOptions): string[] {
  const tokens: string[] = []
  // Made at need: loading the dictionaries takes time that most texts never need.
  let segmenter: Intl.Segmenter | undefined
  const folded = text.normalize('NFKC').toLowerCase().replaceAll('\u00ad', '').replaceAll('\u0640', '')
  for (const [word] of folded.matchAll(wordPattern)) {
    if (isAscii(word)) tokens.push(word.slice(0, maximumWordCharacters))
    else if (spacelessScripts.test(word)) {
      segmenter ??= new Intl.Segmenter('th', { granularity: 'word' })
      tokens.push(...dictionaryWords(segmenter, word))
    } else tokens.push(...splitPairedScripts(word, singleCharacters))
  }
  return tokens
}

function isAscii(word: string): boolean {
  for (let index = 0; index < word.length; index++) if (word.charCodeAt(index) > 0x7f) return false
  return true
}

function dictionaryWords(segmenter: Intl.Segmenter, word: string): string[] {
  return [...segmenter.segment(word)].filter((part) => part.isWordLike).map((part) => part.segment)
}

function splitPairedScripts(word: string, singleCharacters: boolean): string[] {
  const tokens: string[] = []
  let end = 0
  for (const match of word.matchAll(pairedScripts)) {
    if (match.index > end) tokens.push(cut(word.slice(end, match.index)))
    tokens.push(...pairs(match[0], singleCharacters))
    end = match.index + match[0].length
  }
  if (end < word.length) tokens.push(cut(word.slice(end)))
  return tokens
}

function pairs(run: string, singleCharacters: boolean): string[] {
  const characters = [...run]
  if (characters.length === 1) return characters
  const tokens = characters.slice(1).map((character, index) => characters[index]! + character)
  return singleCharacters ? [...tokens, ...characters.filter((character) => hanCharacter.test(character))] : tokens
}

function cut(word: string): string {
  return word.length <= maximumWordCharacters ? word : [...word].slice(0, maximumWordCharacters).join('')
}
