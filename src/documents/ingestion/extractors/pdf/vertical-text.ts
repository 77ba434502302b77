import type { PdfCharacters } from './character.ts'
import type { Segment } from './segment.ts'

/** Lines that are written from the top down with upright letters, as in Japanese, Chinese and Korean. */

export interface VerticalTextFunctions {
  HEAPF32: Float32Array
  _FPDFPageObj_GetBounds(object: number, left: number, bottom: number, right: number, top: number): number
  _FPDFPageObj_Transform(object: number, a: number, b: number, c: number, d: number, e: number, f: number): void
}

/** PDFium leaves out text objects that are narrower, such as blanks that are drawn one by one. */
export const emptyWidth = 0.01
/** That a leant line gets, in units of the page. */
const leantWidth = 2 * emptyWidth

/**
 * PDFium measures a vertical line of a font that is not in the file as one without width, and leaves it out. Leans such lines a little, so that
 * it reads them. Call it before the text of the page is loaded.
 */
export function widenVerticalText(pdfium: VerticalTextFunctions, objects: readonly number[], scratch: number): void {
  for (const object of objects) {
    if (pdfium._FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0) continue
    const [left = 0, bottom = 0, right = 0, top = 0] = pdfium.HEAPF32.subarray(scratch / 4, scratch / 4 + 4)
    if (right - left >= emptyWidth || top - bottom < emptyWidth) continue
    const lean = leantWidth / (top - bottom)
    pdfium._FPDFPageObj_Transform(object, 1, 0, lean, 1, (-lean * (top + bottom)) / 2, 0)
  }
}

/** Scripts that are written from the top down. */
const written = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u
/** In heights: letters of one line have the same middle. */
const maximumShift = 0.3
/** In heights: letters of one line follow each other. */
const maximumGap = 1
const maximumOverlap = 0.3
/** On average: less are the cells of a narrow column. */
const minimumLetters = 2

/** The lines of upright letters below each other in what PDFium takes for one line. Null where its letters do not follow each other downwards. */
export function verticalLines(line: PdfCharacters): { from: number; to: number }[] | null {
  const lines: { from: number; to: number }[] = []
  let from = -1
  let previous = -1
  let letters = 0
  let isWritten = false
  for (let at = 0; at < line.length; at += 1) {
    if (line.isBlank(at)) continue
    letters += 1
    isWritten ||= line.code(at) > 0x1100 && written.test(String.fromCodePoint(Math.min(line.code(at), 0x10ffff)))
    if (previous === -1) from = at
    else if (!isBelow(line, previous, at)) {
      // Nearly all lines are written along x: they end here.
      if (letters === 2) return null
      lines.push({ from, to: previous + 1 })
      from = at
    }
    previous = at
  }
  if (letters < 2 || !isWritten) return null
  lines.push({ from, to: previous + 1 })
  if (letters < lines.length * minimumLetters) return null
  return lines
}

function isBelow(line: PdfCharacters, previous: number, at: number): boolean {
  const height = line.top(at) - line.bottom(at)
  const shift = (line.left(at) + line.right(at) - line.left(previous) - line.right(previous)) / 2
  const gap = line.bottom(previous) - line.top(at)
  return Math.abs(shift) <= height * maximumShift && gap <= height * maximumGap && gap >= -height * maximumOverlap
}

/** In sizes: lines of one block are not further apart. */
const maximumPitch = 3

/**
 * Puts vertical lines that PDFium returns from left to right in the order of reading, from the right. `isVertical`: of a segment in the frame of
 * writing from the top down, where the next line is below.
 */
export function fromTheRight(segments: readonly Segment[], isVertical: (segment: Segment) => boolean): Segment[] {
  const runs: Segment[][] = []
  for (const segment of segments) {
    const run = runs.at(-1)
    const previous = run?.at(-1)
    const rise = previous === undefined ? 0 : segment.bottom + segment.top - previous.bottom - previous.top
    const continues =
      previous !== undefined &&
      isVertical(previous) &&
      isVertical(segment) &&
      // Not one of the small letters next to a line that state how it is read.
      previous.size === segment.size &&
      rise > 0 &&
      rise / 2 <= segment.size * maximumPitch
    if (run && continues) run.push(segment)
    else runs.push([segment])
  }
  return runs.flatMap((run) => run.toReversed())
}
