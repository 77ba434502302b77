import {
  isBlankCode,
  isLetterCode,
  isLineEndCode,
  partingHyphen,
  type PdfCharacter,
  PdfCharacters,
} from './character.ts'

/** Accents that fonts without accented letters (older TeX) draw as separate signs, and the marks that compose with letters. */
const marks = new Map([
  [0x60, '\u0300'],
  [0xb4, '\u0301'],
  [0x2c6, '\u0302'],
  [0x2dc, '\u0303'],
  [0xaf, '\u0304'],
  [0x2c9, '\u0304'],
  [0x2d8, '\u0306'],
  [0x2d9, '\u0307'],
  [0xa8, '\u0308'],
  [0x2da, '\u030a'],
  [0x2dd, '\u030b'],
  [0x2c7, '\u030c'],
  [0xb8, '\u0327'],
  [0x2db, '\u0328'],
])

/** The middle of an accent is at most this share of the wider width away from that of its letter: it leans in italics. */
const maximumShift = 0.35
/** Letters whose boxes overlap by less than this share of their height are of different lines. */
const leastOverlap = 0.5
/** A gap of less than this share of the height is no blank. */
const closeGap = 0.12
/** PDFium moves accents at another height to the end of their line. */
const lineReach = 250

/** The characters with accents that are drawn over letters as parts of the letters, and their places before; null where there are none. */
export function composeAccents(given: PdfCharacters): { characters: PdfCharacters; places: number[] } | null {
  const accents: number[] = []
  for (let at = 0; at < given.length; at += 1) {
    const code = given.code(at)
    if (code >= 0x60 && (code === 0x60 || code > 0x7f) && marks.has(code)) accents.push(at)
  }
  if (accents.length === 0) return null
  const characters = given.toArray()
  const dropped = new Set<number>()
  for (const at of accents) {
    const letter = letterUnder(characters, at)
    if (letter === null) continue
    characters[letter.at] = { ...characters[letter.at]!, code: letter.code }
    dropped.add(at)
    markHyphen(characters, at)
  }
  if (dropped.size === 0) return null
  for (const at of accents) if (dropped.has(at)) dropBlanks(characters, at, dropped)
  const places = Array.from(characters, (_, at) => at).filter((at) => !dropped.has(at))
  return { characters: PdfCharacters.of(places.map((at) => characters[at]!)), places }
}

/** The letter that an accent is drawn over, and the code of both. */
function letterUnder(characters: readonly PdfCharacter[], at: number): { at: number; code: number } | null {
  const next = followingLetter(characters, at)
  for (const near of [next, at - 1]) {
    const code = composed(characters, at, near)
    if (code !== null) return { at: near, code }
  }
  if (!isGenerated(characters[at - 1]) || !isGenerated(characters[at + 1])) return null
  for (let distance = 2; distance <= lineReach; distance += 1)
    for (const far of [at - distance, at + distance]) {
      const code = composed(characters, at, far)
      if (code !== null) return { at: far, code }
    }
  return null
}

/** The place behind an accent, and behind the blank that PDFium sees next to it. */
function followingLetter(characters: readonly PdfCharacter[], at: number): number {
  return isGenerated(characters[at + 1]) ? at + 2 : at + 1
}

const isGenerated = (character: PdfCharacter | undefined) => character === undefined || character.generated

function composed(characters: readonly PdfCharacter[], at: number, near: number): number | null {
  const accent = characters[at]!
  const letter = characters[near]
  if (!letter || letter.code <= 0x40 || letter.code > 0x24f) return null
  const width = Math.max(letter.right - letter.left, accent.right - accent.left)
  const shift = Math.abs(accent.left + accent.right - letter.left - letter.right) / 2
  const overlap = Math.min(accent.top, letter.top) - Math.max(accent.bottom, letter.bottom)
  if (shift > width * maximumShift || overlap < (letter.top - letter.bottom) * leastOverlap) return null
  const plain = String.fromCharCode(letter.code).replace('ı', 'i').replace('ȷ', 'j')
  const both = `${plain}${marks.get(accent.code)!}`.normalize('NFC')
  return both.length === 1 ? both.charCodeAt(0) : null
}

/** Blanks that PDFium sees between an accent and the letters next to it, but that are none between those letters. */
function dropBlanks(characters: readonly PdfCharacter[], at: number, dropped: Set<number>) {
  const isBetween = (place: number) =>
    dropped.has(place) || (characters[place]?.generated === true && characters[place].code === 0x20)
  let before = at - 1
  while (isBetween(before)) before -= 1
  let after = at + 1
  while (isBetween(after)) after += 1
  const [one, other] = [characters[before], characters[after]]
  if (!one || !other || isBlankCode(one.code) || isBlankCode(other.code)) return
  const height = one.top - one.bottom
  const gap = other.left - one.right
  if (gap >= height * closeGap || gap <= -height) return
  for (let place = before + 1; place < after; place += 1) dropped.add(place)
}

/** PDFium does not see that a hyphen ends the line if an accent of the line comes behind it. */
function markHyphen(characters: PdfCharacter[], at: number) {
  let last = at - 1
  while (last > 0 && (isBlankCode(characters[last]!.code) || marks.has(characters[last]!.code))) last -= 1
  let next = at + 1
  while (next < characters.length && isLineEndCode(characters[next]!.code)) next += 1
  const isHyphen =
    characters[last]?.code === 0x2d && isLetterCode(characters[last - 1]?.code) && isLetterCode(characters[next]?.code)
  if (isHyphen && isLineEndCode(characters[at + 1]?.code))
    characters[last] = { ...characters[last]!, code: partingHyphen }
}
