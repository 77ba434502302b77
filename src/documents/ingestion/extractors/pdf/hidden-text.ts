import type { PdfCharacters } from './character.ts'
import { objectTypes, type PathFunctions } from './tables/drawn-rules.ts'

export interface HiddenTextFunctions extends PathFunctions {
  HEAPU8: Uint8Array
  HEAPF64: Float64Array
  _FPDFText_GetCharBox(
    textPage: number,
    index: number,
    left: number,
    right: number,
    bottom: number,
    top: number,
  ): number
  _FPDFText_GetFillColor(
    textPage: number,
    index: number,
    red: number,
    green: number,
    blue: number,
    alpha: number,
  ): number
  _FPDFPageObj_GetFillColor(object: number, red: number, green: number, blue: number, alpha: number): number
  _FPDFPage_GetRotation(page: number): number
  _FPDFPage_GetCropBox(page: number, left: number, bottom: number, right: number, top: number): number
  _FPDFPage_GetMediaBox(page: number, left: number, bottom: number, right: number, top: number): number
}

/** Fewer letters are signs of the program that made the file, such as markers of bookmarks. */
const minimumLetters = 20
/** Height of a line, in 1/72 inch, that cannot be read on paper or screen. */
const unreadableHeight = 1.5
const nearlyWhite = 250

/**
 * True for a page with text that is tiny, outside of the page, or white where nothing but text is drawn: on a page with drawings it may
 * have a dark ground. Text that is not painted (render mode 3) is not counted: scans with recognised text have it.
 */
export function hasHiddenText(
  pdfium: HiddenTextFunctions,
  { page, textPage, scratch }: { page: number; textPage: number; scratch: number },
  characters: PdfCharacters,
): boolean {
  const box = readBox(pdfium, page, scratch)
  // A page has far fewer pieces of text than letters, and seldom a white one.
  const hasWhite = showsWhiteTextAlone(pdfium, page, scratch)
  let hidden = 0
  for (let index = 0; index < characters.length; index += 1) {
    const bottom = characters.bottom(index)
    const top = characters.top(index)
    const isOutside =
      box !== null &&
      (characters.right(index) < box.left || characters.left(index) > box.right || top < box.bottom || bottom > box.top)
    const isHidden =
      isOutside ||
      (top - bottom < unreadableHeight && isTiny(pdfium, textPage, index, scratch)) ||
      (hasWhite && isWhite(pdfium, textPage, index, scratch))
    if (isHidden && isLetter(characters.code(index))) hidden++
    if (hidden >= minimumLetters) return true
  }
  return false
}

/** Some producers state a wrong height of a font: what is drawn counts. */
function isTiny(pdfium: HiddenTextFunctions, textPage: number, index: number, scratch: number): boolean {
  if (pdfium._FPDFText_GetCharBox(textPage, index, scratch, scratch + 8, scratch + 16, scratch + 24) === 0) return true
  const [left = 0, right = 0, bottom = 0, top = 0] = pdfium.HEAPF64.subarray(scratch / 8, scratch / 8 + 4)
  return top - bottom < unreadableHeight && right - left < unreadableHeight
}

function isLetter(code: number): boolean {
  return code > 0x20 && code <= 0x10ffff && /[\p{L}\p{N}]/u.test(String.fromCodePoint(code))
}

function isWhite(pdfium: HiddenTextFunctions, textPage: number, index: number, scratch: number): boolean {
  const found = pdfium._FPDFText_GetFillColor(textPage, index, scratch, scratch + 4, scratch + 8, scratch + 12)
  return found !== 0 && hasWhiteAt(pdfium, scratch)
}

/** Red, green and blue as whole numbers of 4 bytes. */
function hasWhiteAt({ HEAPU8: values }: HiddenTextFunctions, scratch: number): boolean {
  return [0, 4, 8].every((offset) => values[scratch + offset]! >= nearlyWhite)
}

/** True for a page with nothing but text, some of it white. */
function showsWhiteTextAlone(pdfium: HiddenTextFunctions, page: number, scratch: number): boolean {
  const count = pdfium._FPDFPage_CountObjects(page)
  let hasWhite = false
  for (let index = 0; index < count; index++) {
    const object = pdfium._FPDFPage_GetObject(page, index)
    if (pdfium._FPDFPageObj_GetType(object) !== objectTypes.text) return false
    if (hasWhite) continue
    const found = pdfium._FPDFPageObj_GetFillColor(object, scratch, scratch + 4, scratch + 8, scratch + 12)
    hasWhite = found !== 0 && hasWhiteAt(pdfium, scratch)
  }
  return hasWhite
}

/** What is shown of the page; null where the file does not state it, and for turned pages. */
function readBox(pdfium: HiddenTextFunctions, page: number, scratch: number) {
  if (pdfium._FPDFPage_GetRotation(page) !== 0) return null
  const pointers = [scratch, scratch + 4, scratch + 8, scratch + 12] as const
  if (pdfium._FPDFPage_GetCropBox(page, ...pointers) === 0 && pdfium._FPDFPage_GetMediaBox(page, ...pointers) === 0) {
    return null
  }
  const [left = 0, bottom = 0, right = 0, top = 0] = pdfium.HEAPF32.subarray(scratch / 4, scratch / 4 + 4)
  return { left, bottom, right, top }
}
