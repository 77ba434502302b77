import type { ExtractionWarning } from '../../extraction.ts'
import type { PdfCharacters } from './character.ts'
import type { PdfPage } from './document.ts'
import { countImplausibleWords, countPieces } from './implausible-words.ts'
import { isPlausibleText } from './plausible-text.ts'
import type { Segment } from './segment.ts'

/** A page may lose this share of its glyphs without a warning: signs of a formula or of a list. */
const tolerableShare = 0.02
/** Fewer lost glyphs are no word. */
const minimumGlyphs = 4
/** Fewer implausible words than this, and than `tolerableShare`, are names and mistakes of the text. */
const minimumWords = 3
/** Pages with fewer single letters in rows have lists of letters, or formulas. */
const minimumPieces = 20
const tolerablePieces = 0.1
/** In heights. The narrowest letters of usual fonts have four times as much. */
const leastWidth = 0.04
/** A page with more implausible words is read better from its picture. */
const unusableShare = 1 / 3

const unmapped = {
  code: 'damaged_characters',
  message:
    'The fonts of these pages do not state which letters they show, so that words are missing or wrong. Run text recognition (OCR) over the pdf and upload the result.',
} as const satisfies ExtractionWarning

const noLanguage = {
  code: 'damaged_characters',
  message:
    'The text of these pages is no language: their fonts probably state wrong letters. Run text recognition (OCR) over the pdf and upload the result.',
} as const satisfies ExtractionWarning

const mixed = {
  code: 'damaged_characters',
  message:
    'Words of these pages hold letters that do not belong together: their fonts probably state wrong letters. Run text recognition (OCR) over the pdf and upload the result.',
} as const satisfies ExtractionWarning

const inPieces = {
  code: 'damaged_characters',
  message:
    'Many words of these pages are in pieces, with blanks between their letters, and are not found. Run text recognition (OCR) over the pdf and upload the result.',
} as const satisfies ExtractionWarning

const unread = {
  code: 'damaged_parts',
  message: 'These pages show more characters than were read. Compare them with the file.',
} as const satisfies ExtractionWarning

/** Compares what a page draws with the segments that were read of it. `isUsable` is false where most of the text is wrong. */
export function findLosses(
  page: PdfPage,
  read: readonly Segment[],
): { losses: ExtractionWarning[]; isUsable: boolean } {
  const { drawn, unreadable, guesses } = countCharacters(page.characters)
  const isLoss = (count: number) => count >= minimumGlyphs && count > drawn * tolerableShare
  const losses: ExtractionWarning[] = []
  if (isLoss(page.unmappedGlyphs + unreadable)) losses.push(unmapped)
  const kept = read.reduce((sum, segment) => sum + countKept(segment), 0)
  if (isLoss(drawn - kept)) losses.push(unread)
  const text = read.map((segment) => segment.text).join(' ')
  const { words, implausible } = countImplausibleWords(text)
  const isLanguage = isPlausibleText(text)
  if (!isLanguage) losses.push(noLanguage)
  else if (losses.length === 0 && implausible >= minimumWords && implausible > words * tolerableShare)
    losses.push(mixed)
  const { words: all, pieces } = countPieces(text)
  if (pieces >= minimumPieces && pieces > all * tolerablePieces) losses.push(inPieces)
  const isPlausible = isLanguage && implausible <= Math.max(minimumWords, words * unusableShare)
  const isUsable = isPlausible && page.unmappedGlyphs + unreadable <= drawn / 2
  return { losses, isUsable: isUsable || (isPlausible && guesses < drawn / 2) }
}

function countCharacters(characters: PdfCharacters) {
  let drawn = 0
  let unreadable = 0
  let guesses = 0
  for (let at = 0; at < characters.length; at += 1) {
    const code = characters.code(at)
    if (isGlyph(code)) drawn += 1
    if (code === 0 && characters.right(at) > characters.left(at)) unreadable += 1
    if (isGlyph(code) && isSqueezed(characters, at)) unreadable += 1
    if (code < 0x7f) continue
    if (isUnreadable(code)) unreadable += 1
    // PDFium's guess for a glyph without a letter is its number, which is the letter in fonts with one byte for each.
    if (code > 0xff) guesses += 1
  }
  return { drawn, unreadable, guesses }
}

/** True for letters narrower than any: a file that states a whole line of text for one glyph. */
function isSqueezed(characters: PdfCharacters, at: number): boolean {
  const width = characters.right(at) - characters.left(at)
  const height = characters.top(at) - characters.bottom(at)
  return (
    width < height * leastWidth &&
    // Marks that a font takes for letters have no width.
    width > height * leastWidth * 0.01 &&
    /\p{L}/u.test(String.fromCodePoint(characters.code(at)))
  )
}

/** Marks of lost characters, of private fonts (apart from the bullets of Symbol and Wingdings), and controls from DEL on. */
function isUnreadable(code: number): boolean {
  return (
    code === 0xfffd ||
    code > 0x10ffff ||
    (code >= 0x7f && code < 0xa0) ||
    (code >= 0xe000 && code < 0xf000) ||
    code >= 0xf0000
  )
}

function countKept({ characters, table }: Segment): number {
  return table
    ? table.rows.flat(2).reduce((sum, cell) => sum + countGlyphs(cell.characters), 0)
    : countGlyphs(characters)
}

function countGlyphs(characters: PdfCharacters): number {
  let glyphs = 0
  for (let at = 0; at < characters.length; at += 1) if (isGlyph(characters.code(at))) glyphs += 1
  return glyphs
}

/** False for blanks, and for the hyphens that split words at line ends, which are no text. */
function isGlyph(code: number): boolean {
  return code > 0x20 && code !== 0xa0 && code !== 0xad && code !== 0x2010 && code !== 0xfffe
}
