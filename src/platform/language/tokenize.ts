import { detectLatinLanguage } from './languages.ts'

/** One sentence: `text` is `source.slice(from, to)`, UTF-16 units, without white space at its ends. */
interface Sentence {
  text: string
  from: number
  to: number
}

/**
 * The end of a line, a stop with closing quotes before white space, or a stop of a script that needs no space after it (CJK,
 * Devanagari, Arabic, Armenian, Khmer, Burmese, Ethiopic). Bounded runs keep the search linear.
 */
const endPattern = /\n|[.!?…]{1,8}["'”’»)\]]{0,4}(?=\s|$)|[。！？｡।॥؟۔։។၊။።][”’」』）》"'»)]{0,4}/gu
const wordBeforePattern = /[\p{L}\p{M}\p{N}.]{1,24}$/u
const lowerCaseStart = /^\s+["'“‘«(]{0,2}\p{Ll}/u
/** The number or letter of a list item, without a sentence yet. */
const enumerator = /^\s*[([]?(?:\p{N}{1,3}|\p{L}|[ivxIVX]{1,4})[.)]?$/u
const initial = /^(?:\p{Lu}\.?){1,4}$/u
const ordinal = /(?:^|\s)\d{1,2}$/
const letterOrDigit = /[\p{L}\p{N}]/u

/** Words that end in a full stop in the middle of a sentence, lower case, without the last stop. */
const abbreviations = new Set(
  (
    'dr mr mrs ms prof st vs etc e.g i.e eg ie cf vol no nr fig figs approx inc ltd co corp dept est gen col capt lt sgt rev hon jr sr ' +
    'jan feb mar apr jun jul aug sep sept oct nov dec ' +
    'z.b d.h u.a u.ä usw bzw ca ggf inkl evtl abs art str hr fr bd hrsg geb gest jh mio mrd ' +
    'm mme mlle mm env sra dª ud uds pág núm av p pp ed eds op cit tp ths ts gs'
  ).split(' '),
)

/** Languages that write "12." for "12th". */
const ordinalLanguages: ReadonlySet<string> = new Set(['de', 'da', 'no', 'fi', 'hu', 'cs', 'tr', 'pl'])
/** UTF-16 units by which the language of a text is detected. */
const unitsForLanguage = 1_000

/**
 * The sentences of a text in any script, in order. A line end ends a sentence. Not after abbreviations, initials, numbers of list items and
 * ordinals. Thai and Lao have no stops: their spaces separate clauses, and clauses are joined up to the length of a usual
 * sentence. Time is linear in the text.
 */
export function splitSentences(text: string): Sentence[] {
  const sentences: Sentence[] = []
  let hasOrdinals: boolean | undefined
  let start = 0
  for (const stop of text.matchAll(endPattern)) {
    const end = stop.index + stop[0].length
    if (stop[0].startsWith('.') && !stop[0].startsWith('..')) {
      const before = text.slice(Math.max(start, stop.index - 24), stop.index)
      if (isInsideSentence(before, text.slice(end, end + 8), text.slice(start, Math.min(stop.index, start + 8))))
        continue
      if (ordinal.test(before) && (hasOrdinals ??= writesOrdinals(text))) continue
    } else if (stop[0] !== '\n' && lowerCaseStart.test(text.slice(end, end + 8))) continue
    addSentence(sentences, text, start, end)
    start = end
  }
  addSentence(sentences, text, start, text.length)
  return sentences
}

/** Whether a full stop is not the end of its sentence; `head` is the beginning of the sentence. */
function isInsideSentence(before: string, after: string, head: string): boolean {
  if (lowerCaseStart.test(after)) return true
  if (enumerator.test(head) && head.trimStart() === before.trimStart()) return true
  const word = wordBeforePattern.exec(before)?.[0] ?? ''
  return initial.test(word) || abbreviations.has(word.toLowerCase())
}

function writesOrdinals(text: string): boolean {
  const words = tokenize(text.slice(0, unitsForLanguage), { singleCharacters: false })
  return ordinalLanguages.has(detectLatinLanguage(words) ?? '')
}

const stoplessScript = /[\p{Script=Thai}\p{Script=Lao}]/u
/** A clause is joined to the next one below this length, UTF-16 units: half of a usual Thai sentence. */
const minimumJoinedUnits = 60
/** A usual sentence is shorter; only longer ones are divided at their spaces. */
const maximumUndividedUnits = 160

function addSentence(sentences: Sentence[], text: string, from: number, to: number) {
  const whole = text.slice(from, to)
  if (!letterOrDigit.test(whole)) return
  if (whole.length <= maximumUndividedUnits || !stoplessScript.test(whole)) return void push(sentences, text, from, to)
  let start = 0
  for (const space of whole.matchAll(/\s+/g)) {
    if (space.index - start < minimumJoinedUnits || whole.length - space.index < minimumJoinedUnits) continue
    push(sentences, text, from + start, from + space.index)
    start = space.index + space[0].length
  }
  push(sentences, text, from + start, to)
}

function push(sentences: Sentence[], text: string, from: number, to: number) {
  const part = text.slice(from, to)
  const trimmed = part.trim()
  if (!letterOrDigit.test(trimmed)) return
  const at = from + part.length - part.trimStart().length
  sentences.push({ text: trimmed, from: at, to: at + trimmed.length })
}

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

interface TokenizeOptions {
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
