import { plainLetters } from './bidi.ts'
import { PdfCharacters } from './character.ts'

/** The text of characters in reading order, with plain letters. */
export function textOf(characters: PdfCharacters): string {
  const plain = asciiText(characters)
  if (plain !== null) return plain
  let text = ''
  for (let at = 0; at < characters.length; at += 1) {
    const code = characters.code(at)
    // Codes come as UTF-16 units or whole code points, depending on the font's map.
    if (code <= 0xffff) text += String.fromCharCode(code)
    else if (code <= 0x10ffff) text += String.fromCodePoint(code)
  }
  return plainLetters(text)
}

const asciiBytes = Buffer.alloc(1024)

/** The text of a usual line; null where it has other signs than ASCII, or is longer. A text that grows letter by letter is copied twice. */
function asciiText(characters: PdfCharacters): string | null {
  const { length } = characters
  if (length > asciiBytes.length) return null
  for (let at = 0; at < length; at += 1) {
    const code = characters.code(at)
    if (code > 0x7e) return null
    asciiBytes[at] = code
  }
  return asciiBytes.toString('latin1', 0, length)
}

/** Most digits of the mark of a footnote. */
const maximumMark = 3

/** Parts the mark of a footnote from the word behind it, where typesetters leave no blank. */
export function partFootnoteMark(characters: PdfCharacters): PdfCharacters {
  let end = 0
  while (end < characters.length && isMark(characters.code(end))) end += 1
  if (end === 0) return characters
  const [mark, word] = [characters.slice(0, end), characters.slice(end, characters.length)]
  return isFootnoteMark(mark, word) ? mark.concat(blankBefore(word, mark.right(end - 1)), word) : characters
}

/** True for a small raised number or sign in front of a word: the beginning of a footnote. */
export function isFootnoteMark(mark: PdfCharacters, word: PdfCharacters): boolean {
  if (mark.length > maximumMark || !isWord(word)) return false
  for (let at = 0; at < mark.length; at += 1) if (!isMark(mark.code(at))) return false
  const height = word.top(0) - word.bottom(0)
  return mark.top(0) - mark.bottom(0) < height * 0.85 && mark.bottom(0) > word.bottom(0) + height * 0.15
}

function blankBefore(word: PdfCharacters, left: number): PdfCharacters {
  const place = { left, right: word.left(0), bottom: word.bottom(0), top: word.top(0) }
  return PdfCharacters.of([{ code: 0x20, generated: true, ...place }])
}

/** Digits, asterisks and daggers. */
function isMark(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2a || code === 0x2020 || code === 0x2021
}

/** Two letters: a unit or the sign of an element has one. */
function isWord(word: PdfCharacters): boolean {
  return word.length > 1 && /^\p{L}{2}$/u.test(textOf(word.slice(0, 2)))
}
