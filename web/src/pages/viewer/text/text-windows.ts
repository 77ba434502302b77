import type { DocumentTextBody } from '@contract/document-viewer.ts'

/**
 * A long text is loaded and shown in windows of code points. A window is shown from the start of its first whole line to the end
 * of the line that its last code point is in; neighbours use the same rule, so that no line is cut, lost or shown twice.
 */

/** Code points: about two screens. */
const windowSize = 10_000
/** Longest search for the end of a line; a longer line is cut. */
const maximumOverhang = 2_000

/** The number of the window that shows this code point, or the one after it. */
export function windowAt(codePoint: number): number {
  return Math.floor(codePoint / windowSize)
}

export function windowCount(total: number): number {
  return Math.ceil(total / windowSize)
}

/** The query of the request for a window: one code point before it, and the overhang behind it. */
export function windowQuery(window: number): string {
  const from = Math.max(0, window * windowSize - 1)
  return `from=${from}&to=${(window + 1) * windowSize + maximumOverhang}`
}

export interface TextWindow {
  /** Position of the first code point in the whole text. */
  from: number
  text: string
}

/** The lines of a window from the loaded text, which is that of `windowQuery`. */
export function cutWindow({ from, text }: Pick<DocumentTextBody, 'from' | 'text'>, window: number): TextWindow {
  const points = [...text]
  const start = window === 0 ? 0 : lineStart(points, window * windowSize - from)
  const end = lineStart(points, (window + 1) * windowSize - from)
  return { from: from + start, text: points.slice(start, end).join('') }
}

/** The first start of a line at or behind an index; the index itself where none is near. */
function lineStart(points: readonly string[], index: number): number {
  if (index >= points.length) return points.length
  const end = Math.min(index + maximumOverhang, points.length)
  for (let at = index; at < end; at++) if (points[at - 1] === '\n') return at
  return points.length < index + maximumOverhang ? points.length : index
}
