/**
 * Words of any script. Scripts without spaces are cut into pieces, the same in texts and in queries: Han, kana and Hangul into
 * overlapping pairs, Thai, Lao, Khmer and Burmese into dictionary words.
 */
const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
const pairedScripts = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu
const hanCharacter = /\p{Script=Han}/u
const spacelessScripts = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** Longer words (base64, hashes) are cut, so that they still match themselves. */
const maximumWordCharacters = 64

/** Longest normalised text as a multiple of the original. */
const maximumExpansion = 2

export interface TokenizeOptions {
  /** Also single Han characters, so that a query of one character finds them. */
  singleCharacters: boolean
}

/** Lower-case words in reading order, NFKC, with their marks. */
export function tokenize(text: string, { singleCharacters }: TokenizeOptions): string[] {
  const tokens: string[] = []
  // Created on first use: loading the dictionaries takes time, and few texts need them.
  let segmenter: Intl.Segmenter | undefined
  // Some characters expand to 18 letters; a text of nothing else would cost 18 times its size.
  const normalised = text.normalize('NFKC').slice(0, text.length * maximumExpansion)
  const folded = normalised.toLowerCase().replaceAll('\u00ad', '').replaceAll('\u0640', '')
  for (const [word] of folded.matchAll(wordPattern)) {
    if (isAscii(word)) tokens.push(word.slice(0, maximumWordCharacters))
    else if (spacelessScripts.test(word)) {
      segmenter ??= new Intl.Segmenter('th', { granularity: 'word' })
      addDictionaryWords(tokens, segmenter, word)
    } else addPairedScripts(tokens, word, singleCharacters)
  }
  return tokens
}

function isAscii(word: string): boolean {
  for (let index = 0; index < word.length; index++) if (word.charCodeAt(index) > 0x7f) return false
  return true
}

// The functions below add to `tokens` one by one: a run of a script without spaces may be a whole text, and spreading that many
// arguments overflows the stack.

function addDictionaryWords(tokens: string[], segmenter: Intl.Segmenter, word: string): void {
  for (const { segment, isWordLike } of segmenter.segment(word)) if (isWordLike) tokens.push(segment)
}

function addPairedScripts(tokens: string[], word: string, singleCharacters: boolean): void {
  let end = 0
  for (const match of word.matchAll(pairedScripts)) {
    if (match.index > end) tokens.push(cut(word.slice(end, match.index)))
    addPairs(tokens, match[0], singleCharacters)
    end = match.index + match[0].length
  }
  if (end < word.length) tokens.push(cut(word.slice(end)))
}

function addPairs(tokens: string[], run: string, singleCharacters: boolean): void {
  const characters = [...run]
  if (characters.length === 1) return void tokens.push(run)
  for (let index = 1; index < characters.length; index++) tokens.push(characters[index - 1]! + characters[index]!)
  if (!singleCharacters) return
  for (const character of characters) if (hanCharacter.test(character)) tokens.push(character)
}

function cut(word: string): string {
  return word.length <= maximumWordCharacters
    ? word
    : Array.from(word.slice(0, maximumWordCharacters * 2))
        .slice(0, maximumWordCharacters)
        .join('')
}
