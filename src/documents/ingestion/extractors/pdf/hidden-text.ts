import type { PdfCharacter } from './character.ts'
import type { PathFunctions } from './tables/drawn-rules.ts'

export interface HiddenTextFunctions extends PathFunctions {
  HEAPU8: Uint8Array
  _FPDFText_GetFillColor(
    textPage: number,
    index: number,
    red: number,
    green: number,
    blue: number,
    alpha: number,
  ): number
  _FPDFPage_GetRotation(page: number): number
  _FPDFPage_GetCropBox(page: number, left: number, bottom: number, right: number, top: number): number
  _FPDFPage_GetMediaBox(page: number, left: number, bottom: number, right: number, top: number): number
}

/** Fewer letters are signs of the program that made the file, such as markers of bookmarks. */
const minimumLetters = 20
/** Height of a line, in 1/72 inch, that cannot be read on paper or screen. */
const unreadableHeight = 1.5
const nearlyWhite = 250
const textObject = 1

/**
 * True for a page with text that is tiny, outside of the page, or white where nothing but text is drawn: on a page with drawings it may
 * have a dark ground. Text that is not painted (render mode 3) is not counted: scans with recognised text have it.
 */
export function hasHiddenText(
  pdfium: HiddenTextFunctions,
  { page, textPage, scratch }: { page: number; textPage: number; scratch: number },
  characters: readonly PdfCharacter[],
): boolean {
  const box = readBox(pdfium, page, scratch)
  let isPlain: boolean | null = null
  let hidden = 0
  for (const [index, { code, left, right, bottom, top }] of characters.entries()) {
    if (code <= 0x20 || code > 0x10ffff || !/[\p{L}\p{N}]/u.test(String.fromCodePoint(code))) continue
    const isOutside = box !== null && (right < box.left || left > box.right || top < box.bottom || bottom > box.top)
    if (top - bottom < unreadableHeight || isOutside) hidden++
    else if (isWhite(pdfium, textPage, index, scratch) && (isPlain ??= showsOnlyText(pdfium, page))) hidden++
    if (hidden >= minimumLetters) return true
  }
  return false
}

function isWhite(pdfium: HiddenTextFunctions, textPage: number, index: number, scratch: number): boolean {
  if (pdfium._FPDFText_GetFillColor(textPage, index, scratch, scratch + 4, scratch + 8, scratch + 12) === 0)
    return false
  const values = pdfium.HEAPU8
  return [0, 4, 8].every((offset) => values[scratch + offset]! >= nearlyWhite)
}

function showsOnlyText(pdfium: HiddenTextFunctions, page: number): boolean {
  const count = pdfium._FPDFPage_CountObjects(page)
  for (let index = 0; index < count; index++) {
    if (pdfium._FPDFPageObj_GetType(pdfium._FPDFPage_GetObject(page, index)) !== textObject) return false
  }
  return true
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
