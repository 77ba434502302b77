import createBidi from 'bidi-js'
import { isBlankCode, isRightToLeftCode, type PdfCharacter, PdfCharacters } from './character.ts'

/** Longer lines keep PDFium's order: no page holds one, and the work stays bounded. */
const maximumLineCharacters = 20_000
/** A gap of this share of the height between two letters is a blank. */
const blankGap = 0.15
/** So is one of the first share in a line that draws no blanks and whose letters are all closer than the second one. */
const narrowBlank = 0.06
const closeLetters = 0.03
/** A drawn blank is at least this wide, in heights. */
const drawnWidth = 0.01
/** Letters of a ligature. A glyph with more has a broken map; its line keeps PDFium's order, since places mean nothing there. */
const maximumLigatureLetters = 4

// The package's types describe an ES module; Node loads its CommonJS build, whose export is the function.
const bidi = (createBidi as unknown as typeof createBidi.default)()

/** True for a line that holds right-to-left text and whose letters have places. */
export function isReorderable(characters: PdfCharacters): boolean {
  if (characters.length > maximumLineCharacters || !characters.hasRightToLeft()) return false
  let letters = 1
  for (let at = 1; at < characters.length; at += 1) {
    const left = characters.left(at)
    const right = characters.right(at)
    const isSame = characters.left(at - 1) === left && characters.right(at - 1) === right && right > left
    letters = isSame ? letters + 1 : 1
    if (letters > maximumLigatureLetters) return false
  }
  return true
}

/** True where most letters are written from right to left. */
export function isMostlyRightToLeft(characters: PdfCharacters): boolean {
  if (!characters.hasRightToLeft()) return false
  let balance = 0
  for (let at = 0; at < characters.length; at += 1) {
    const code = characters.code(at)
    if (isRightToLeftCode(code)) balance += 1
    else if ((code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code >= 0xc0) balance -= 1
  }
  return balance > 0
}

/** A gap of this share is a blank where PDFium adds one too. */
const confirmedGap = 0.05

/** What moves as one when a line is reordered: a letter with its marks, a ligature, or a blank. */
interface Unit {
  characters: PdfCharacter[]
  left: number
  right: number
  /** One UTF-16 unit with the same bidirectional class as the letter. */
  sign: string
  /** It is the first or the last letter of a word in that order. */
  isFirst?: boolean
  isLast?: boolean
}

/** What the ligatures of Unicode's presentation forms are made of. */
const ligatures = new Set<string>()
for (let code = 0xfb50; code <= 0xfefc; code += 1) {
  const letters = String.fromCharCode(code).normalize('NFKC')
  if (letters.length > 1) ligatures.add(letters)
}

/**
 * Letters of one glyph (ligatures) in the order of reading. PDFium reverses those that a font spells out as several letters, and
 * keeps those that it takes from one presentation form.
 */
export function withOrderedLigatures(characters: PdfCharacters): PdfCharacters {
  const ordered = characters.toArray()
  for (let from = 0; from < ordered.length; from += 1) {
    let to = from
    while (to + 1 < ordered.length && isSameGlyph(ordered[to]!, ordered[to + 1]!)) to += 1
    if (to > from && isRightToLeftCode(ordered[from]!.code)) {
      const letters = ordered.slice(from, to + 1).map(({ code }) => String.fromCodePoint(code))
      if (!ligatures.has(letters.join('')) || ligatures.has(letters.toReversed().join('')))
        reverseRange(ordered, from, to)
    }
    from = to
  }
  return PdfCharacters.of(ordered)
}

function isSameGlyph(one: PdfCharacter, other: PdfCharacter): boolean {
  return one.left === other.left && one.right === other.right && one.right > one.left
}

/** A line's characters from left to right, with a blank wherever the page shows one. */
export function visualOrder(characters: PdfCharacters): PdfCharacters {
  return PdfCharacters.of(visualUnits(characters).flatMap((unit) => unit.characters))
}

/**
 * Restores the order in which a line with right-to-left text is read from the places of its letters. The Unicode bidirectional
 * algorithm gives the runs; where it allows two readings, a number belongs to the Latin words next to it.
 */
export function logicalOrder(characters: PdfCharacters, isPageRightToLeft: boolean): PdfCharacters {
  if (!isReorderable(characters)) return characters
  const units = visualUnits(characters)
  const isRightToLeft = isPageRightToLeft || isMostlyRightToLeft(characters)
  if (isRightToLeft) units.reverse()
  const direction = isRightToLeft ? 'rtl' : 'ltr'
  const signs = units.map(({ sign }) => sign).join('')
  const seen = isRightToLeft ? reversed(signs) : signs
  const asWords = reorder(signs, signs.replace(/[0-9]/g, 'a'), direction)
  const order = reads(asWords, signs, direction) === seen ? asWords : reorder(signs, signs, direction)
  return PdfCharacters.of(withPairedBrackets(order.flatMap((index) => units[index]!.characters)))
}

/** The indices of `signs` in the order of reading: runs against the line's direction are turned round. */
function reorder(signs: string, classes: string, direction: 'ltr' | 'rtl'): number[] {
  const order = Array.from(signs, (_, index) => index)
  const segments = bidi.getReorderSegments(classes, bidi.getEmbeddingLevels(classes, direction))
  for (const [from = 0, to = 0] of segments) reverseRange(order, from, to)
  if (direction === 'rtl') order.reverse()
  return order
}

/** How a text in this order is displayed, from left to right. */
function reads(order: number[], signs: string, direction: 'ltr' | 'rtl'): string {
  const text = order.map((index) => signs[index]).join('')
  const shown = Array.from(text)
  for (const [from = 0, to = 0] of bidi.getReorderSegments(text, bidi.getEmbeddingLevels(text, direction)))
    reverseRange(shown, from, to)
  return shown.join('')
}

function reverseRange<T>(list: T[], from: number, to: number) {
  for (let low = from, high = to; low < high; low += 1, high -= 1) [list[low], list[high]] = [list[high]!, list[low]!]
}

function reversed(text: string): string {
  return Array.from({ length: text.length }, (_, index) => text[text.length - 1 - index]).join('')
}

function visualUnits(characters: PdfCharacters): Unit[] {
  const letters: Unit[] = []
  const marks: PdfCharacter[] = []
  const blanks: PdfCharacter[] = []
  let previous: PdfCharacter | null = null
  for (const character of characters.toArray()) {
    const { code, left, right } = character
    if (isBlankCode(code)) {
      if (!character.generated && right > left) blanks.push(character)
      if (previous) letters.at(-1)!.isLast = true
      previous = null
      continue
    }
    if (previous && isSameGlyph(previous, character)) letters.at(-1)!.characters.push(character)
    else if (isMark(code)) {
      marks.push(character)
      continue
    } else
      letters.push({
        characters: [character],
        left,
        right,
        sign: signOf(code),
        isFirst: previous === null,
        isLast: false,
      })
    previous = character
  }
  letters.sort((one, other) => middle(one) - middle(other))
  attachMarks(letters, marks)
  return withBlanks(letters, blanks)
}

function attachMarks(letters: Unit[], marks: PdfCharacter[]) {
  for (const mark of marks) {
    const at = middle(mark)
    let low = 0
    let high = letters.length - 1
    while (low < high) {
      const between = (low + high) >> 1
      if (middle(letters[between]!) < at) low = between + 1
      else high = between
    }
    const before = letters[low - 1]
    const after = letters[low]
    const nearest = before && (!after || at - middle(before) < middle(after) - at) ? before : after
    if (nearest) nearest.characters.push(mark)
    else letters.push({ characters: [mark], left: mark.left, right: mark.right, sign: 'a' })
  }
}

function withBlanks(letters: Unit[], blanks: PdfCharacter[]): Unit[] {
  const units: Unit[] = []
  const drawn = blanks.toSorted((one, other) => one.left - other.left)
  let next = 0
  const leastConfirmed = drawn.length === 0 ? confirmedGap : blankGap
  const least = drawn.length === 0 && hasClearGaps(letters) ? narrowBlank : blankGap
  for (const letter of letters) {
    const previous = units.at(-1)
    let isDrawn = false
    for (; next < drawn.length && middle(drawn[next]!) < middle(letter); next += 1) isDrawn = true
    const { top, bottom } = letter.characters[0]!
    const height = top - bottom
    const gap = (letter.left - (previous?.right ?? letter.left)) / height
    if (previous && (isDrawn || gap > least || (gap > leastConfirmed && isAcrossBlank(previous, letter)))) {
      const { right: left } = previous
      // A drawn one needs a width to count when the line is ordered again.
      const right = isDrawn ? Math.max(letter.left, left + height * drawnWidth) : letter.left
      units.push({
        characters: [{ code: 0x20, generated: !isDrawn, left, right, bottom, top }],
        left,
        right,
        sign: ' ',
      })
    }
    units.push(letter)
  }
  return units
}

/** True where each gap is either within a word or between two, so that narrow blanks of a justified line are none within words. */
function hasClearGaps(letters: readonly Unit[]): boolean {
  return letters.every(({ left, characters }, index) => {
    const { top, bottom } = characters[0]!
    const gap = index === 0 ? 0 : (left - letters[index - 1]!.right) / (top - bottom)
    return gap < closeLetters || gap > narrowBlank
  })
}

/** True for letters of two words in PDFium's order, which need not have the words in this order. */
function isAcrossBlank(one: Unit | undefined, other: Unit): boolean {
  return (one?.isLast && other.isFirst) || (one?.isFirst && other.isLast) || false
}

function signOf(code: number): string {
  if (code <= 0xffff) return String.fromCharCode(code)
  return isRightToLeftCode(code) ? '\u05d0' : 'a'
}

function isMark(code: number): boolean {
  return code >= 0x300 && code <= 0x10ffff && /\p{M}/u.test(String.fromCodePoint(code))
}

function middle({ left, right }: { left: number; right: number }): number {
  return (left + right) / 2
}

const mirrored = new Map(
  ['()', '[]', '{}', '<>', '«»', '‹›'].flatMap(([one, other]) => [
    [one!.charCodeAt(0), other!.charCodeAt(0)],
    [other!.charCodeAt(0), one!.charCodeAt(0)],
  ]),
)

/** Whether a font names brackets as they look or as they read is up to its maker: they are exchanged where fewer pairs match. */
function withPairedBrackets(characters: PdfCharacter[]): PdfCharacter[] {
  const brackets = characters.map(({ code }) => code).filter((code) => mirrored.has(code))
  if (brackets.length < 2) return characters
  const turned = brackets.map((code) => mirrored.get(code)!)
  if (matchingPairs(turned) <= matchingPairs(brackets)) return characters
  return characters.map(({ code, generated, left, right, bottom, top }) => ({
    code: mirrored.get(code) ?? code,
    generated,
    left,
    right,
    bottom,
    top,
  }))
}

function matchingPairs(brackets: number[]): number {
  const open: number[] = []
  let pairs = 0
  for (const code of brackets) {
    const partner = mirrored.get(code)!
    if (partner > code) open.push(code)
    else if (open.at(-1) === partner) {
      open.pop()
      pairs += 1
    }
  }
  return pairs
}

/** Letters in the shapes of their places, as old fonts name them, become the letters themselves. */
export function plainLetters(text: string): string {
  return text
    .replace(/[\ufb1d-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]+/g, (forms) => forms.normalize('NFKC'))
    .replace(/ (?=[\u064b-\u0652])/g, '')
}
