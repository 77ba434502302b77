/** A piece of a text with its range in Unicode code points. */
export interface PlacedText {
  from: number
  to: number
  text: string
}

/**
 * The text from `from` to `to` (code points), from pieces in the order of their starts. Pieces may overlap; a gap between two is a line
 * feed, followed by blanks so that positions stay right. Linear in the pieces.
 */
export function joinWindow(pieces: readonly PlacedText[], from: number, to: number): PlacedText {
  const parts: string[] = []
  let at = from
  for (const piece of pieces) {
    if (piece.to <= at || piece.from >= to) continue
    if (piece.from > at) {
      parts.push(`\n${' '.repeat(piece.from - at - 1)}`)
      at = piece.from
    }
    const end = Math.min(piece.to, to)
    parts.push(sliceCodePoints(piece, at, end))
    at = end
  }
  return { from, to: at, text: parts.join('') }
}

/** The range of a chunk in code points, with the pages that it covers. */
export interface PagedChunk {
  pageFrom: number
  /** Where each page after the first begins; null for chunks of an older version. */
  pageStarts: number[] | null
  from: number
  to: number
}

/** The range of a page in code points, from the chunks with a part of it; an empty one if it has no text. */
export function rangeOfPage(chunks: readonly PagedChunk[], page: number): { from: number; to: number } {
  let range: { from: number; to: number } | undefined
  for (const { pageFrom, pageStarts, from, to } of chunks) {
    const starts = pageStarts ?? []
    const begin = page === pageFrom ? from : (starts[page - pageFrom - 1] ?? from)
    const end = starts[page - pageFrom] ?? to
    if (begin >= end) continue
    range = { from: Math.min(range?.from ?? begin, begin), to: Math.max(range?.to ?? end, end) }
  }
  return range ?? { from: 0, to: 0 }
}

/** Code points `from` to `to` of the text that the piece is a part of. */
function sliceCodePoints(piece: PlacedText, from: number, to: number): string {
  const { text } = piece
  if (from === piece.from && to === piece.to) return text
  // Without characters outside of the basic plane, code points are UTF-16 units.
  if (text.length === piece.to - piece.from) return text.slice(from - piece.from, to - piece.from)
  const start = unitAt(text, 0, from - piece.from)
  return text.slice(start, unitAt(text, start, to - from))
}

/** The UTF-16 index `codePoints` behind `start`. */
function unitAt(text: string, start: number, codePoints: number): number {
  let unit = start
  for (let left = codePoints; left > 0 && unit < text.length; left--) {
    unit += text.codePointAt(unit)! > 0xffff ? 2 : 1
  }
  return unit
}
