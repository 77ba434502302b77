/**
 * The pieces that o200k encodes one by one: words with the sign or space before and the contraction behind them, up to three digits,
 * runs of signs, runs of white space. Equal to the regular expression of the encoding, but linear for every text, without its
 * backtracking.
 */

// What the expression distinguishes. Zero is a character not classified yet.
const unknown = 0
/** Lu and Lt. */
const upper = 1
/** Ll. */
const lower = 2
/** Lm, Lo: fits where upper case does and where lower case does. */
const caseless = 3
/** M: like a caseless letter, and also a sign. */
const mark = 4
const digit = 5
const blank = 6
/** CR and LF. */
const newline = 7
const sign = 8
/** Past the end of the text. */
const nothing = 9

/** Class of each code point, filled as they appear. The pages of unused scripts take no memory. */
const classes = new Uint8Array(0x11_0000)

function classify(codePoint: number): number {
  const character = String.fromCodePoint(codePoint)
  if (character === '\r' || character === '\n') return newline
  // As OpenAI's implementation defines it; JavaScript's \s lacks U+0085 and has U+FEFF.
  if (/\p{White_Space}/u.test(character)) return blank
  if (/[\p{Lu}\p{Lt}]/u.test(character)) return upper
  if (/\p{Ll}/u.test(character)) return lower
  if (/\p{L}/u.test(character)) return caseless
  if (/\p{M}/u.test(character)) return mark
  return /\p{N}/u.test(character) ? digit : sign
}

function classAt(text: string, index: number): number {
  if (index >= text.length) return nothing
  const codePoint = text.codePointAt(index)!
  const known = classes[codePoint]!
  return known === unknown ? (classes[codePoint] = classify(codePoint)) : known
}

/** The index after the character at `index`. */
function after(text: string, index: number): number {
  return index + (text.codePointAt(index)! > 0xffff ? 2 : 1)
}

/** Where the piece that starts at `start` ends; `start` is inside the text. */
export function pieceEnd(text: string, start: number): number {
  const first = classAt(text, start)
  const second = after(text, start)
  const mayLeadWord = first === blank || first === sign || first === mark
  const end =
    (mayLeadWord && endOfLowerWord(text, second)) ||
    endOfLowerWord(text, start) ||
    (mayLeadWord && endOfUpperWord(text, second)) ||
    endOfUpperWord(text, start)
  if (end) return end + contractionLength(text, end)
  if (first === digit) return endOfDigits(text, start)
  if (first === sign || first === mark) return endOfSigns(text, start)
  const afterSpace = text.charCodeAt(start) === 32 ? classAt(text, second) : nothing
  if (afterSpace === sign || afterSpace === mark) return endOfSigns(text, second)
  return endOfBlanks(text, start)
}

/** `[upper caseless mark]* [lower caseless mark]+`, or 0. */
function endOfLowerWord(text: string, start: number): number {
  let index = start
  let endOfLastCaseless = 0
  for (;;) {
    const kind = classAt(text, index)
    if (kind === lower) return endOfLowerRun(text, index)
    if (kind !== upper && kind !== caseless && kind !== mark) return endOfLastCaseless
    index = after(text, index)
    if (kind !== upper) endOfLastCaseless = index
  }
}

/** `[upper caseless mark]+ [lower caseless mark]*`, or 0. */
function endOfUpperWord(text: string, start: number): number {
  let index = start
  for (;;) {
    const kind = classAt(text, index)
    if (kind !== upper && kind !== caseless && kind !== mark) break
    index = after(text, index)
  }
  return index === start ? 0 : endOfLowerRun(text, index)
}

function endOfLowerRun(text: string, start: number): number {
  let index = start
  for (;;) {
    const kind = classAt(text, index)
    if (kind !== lower && kind !== caseless && kind !== mark) return index
    index = after(text, index)
  }
}

/** 2 for 's 'd 'm 't, 3 for 'll 've 're, in either case; otherwise 0. */
function contractionLength(text: string, start: number): number {
  if (text.charCodeAt(start) !== 39) return 0
  if (/^[sdmt]/i.test(text[start + 1] ?? '')) return 2
  return /^(?:ll|ve|re)$/i.test(text.slice(start + 1, start + 3)) ? 3 : 0
}

function endOfDigits(text: string, start: number): number {
  let index = start
  for (let count = 0; count < 3 && classAt(text, index) === digit; count++) index = after(text, index)
  return index
}

/** Signs and marks, then slashes and line ends. */
function endOfSigns(text: string, start: number): number {
  let index = start
  for (;;) {
    const kind = classAt(text, index)
    if (kind !== sign && kind !== mark) break
    index = after(text, index)
  }
  while (index < text.length && '\r\n/'.includes(text[index]!)) index++
  return index
}

/** White space up to its last line end; without one, all but the last character, which leads the next piece. */
function endOfBlanks(text: string, start: number): number {
  let index = start
  let endOfLastLine = 0
  for (;;) {
    const kind = classAt(text, index)
    if (kind !== blank && kind !== newline) break
    // All white space is in the Basic Multilingual Plane: one unit each.
    index++
    if (kind === newline) endOfLastLine = index
  }
  if (endOfLastLine > 0) return endOfLastLine
  return index === text.length || index === start + 1 ? index : index - 1
}
