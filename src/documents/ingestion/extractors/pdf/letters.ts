import { plainLetters } from './bidi.ts'
import type { PdfCharacter } from './character.ts'

/** The text of characters in reading order, with composed accents and plain letters. */
export function textOf(characters: PdfCharacter[]): string {
  const plain = asciiText(characters)
  if (plain !== null) return plain
  let text = ''
  for (const { code } of characters) {
    // Codes come as UTF-16 units or whole code points, depending on the font's map.
    if (code <= 0xffff) text += String.fromCharCode(code)
    else if (code <= 0x10ffff) text += String.fromCodePoint(code)
  }
  return plainLetters(composeAccents(text))
}

const asciiBytes = Buffer.alloc(1024)

/** The text of a usual line; null where it has other signs than ASCII, or is longer. A text that grows letter by letter is copied twice. */
function asciiText(characters: readonly PdfCharacter[]): string | null {
  const { length } = characters
  if (length > asciiBytes.length) return null
  for (let at = 0; at < length; at += 1) {
    const { code } = characters[at]!
    if (code > 0x7e) return null
    asciiBytes[at] = code
  }
  return asciiBytes.toString('latin1', 0, length)
}

/** Accents that fonts without accented letters (older TeX) set as separate signs in front of the letter. */
const combiningAccents: Record<string, string> = {
  '´': '\u0301',
  ˆ: '\u0302',
  '˜': '\u0303',
  '¨': '\u0308',
  '˚': '\u030a',
  ˇ: '\u030c',
}

function composeAccents(text: string): string {
  return text.replace(/(?<=\p{L})([´ˆ˜¨˚ˇ])(\p{L})/gu, (pair, accent: string, letter: string) => {
    const composed = `${letter.replace('ı', 'i').replace('ȷ', 'j')}${combiningAccents[accent]}`.normalize('NFC')
    return composed.length === 1 ? composed : pair
  })
}

/**
 * Letter-spaced words (`C H A P T E R`): PDFium adds a blank between all letters. A run of four or more single letters at even
 * distances is one word; a clearly wider gap inside it is the blank between two words.
 */
export function joinSpacedLetters(characters: PdfCharacter[]): PdfCharacter[] {
  if (!hasSpacedLetters(characters)) return characters
  const isLetter = (character: PdfCharacter | undefined) =>
    character !== undefined && /\p{L}/u.test(String.fromCodePoint(Math.min(character.code, 0x10ffff)))
  const dropped = new Set<number>()
  let index = 0
  while (index < characters.length) {
    let end = index
    const blanks: { at: number; gap: number; height: number }[] = []
    while (isLetter(characters[end]) && characters[end + 1]?.generated && isLetter(characters[end + 2])) {
      const one = characters[end]!
      const other = characters[end + 2]!
      const gap = Math.max(other.left - one.right, one.left - other.right)
      blanks.push({ at: end + 1, gap, height: one.top - one.bottom })
      end += 2
    }
    if (blanks.length >= 3 && (end + 1 >= characters.length || isBlank(characters[end + 1]!))) {
      const typical = blanks.map(({ gap }) => gap).sort((one, other) => one - other)[Math.floor(blanks.length / 2)]!
      for (const { at, gap, height } of blanks) if (gap <= typical * 1.5 && gap < height * 0.6) dropped.add(at)
    }
    index = end + 1
  }
  return dropped.size === 0 ? characters : characters.filter((_, at) => !dropped.has(at))
}

/** A quick check for three added blanks at every other place, because letter-spaced lines are rare. */
function hasSpacedLetters(characters: PdfCharacter[]): boolean {
  for (let index = 1; index + 4 < characters.length; index += 1)
    if (characters[index]!.generated && characters[index + 2]!.generated && characters[index + 4]!.generated)
      return true
  return false
}

/** True for blanks, tabs and characters without a code. */
export function isBlank(character: PdfCharacter): boolean {
  return character.code === 0x20 || character.code === 0x09 || character.code === 0xa0 || character.code === 0
}
