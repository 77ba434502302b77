import { isReorderable, visualOrder } from './bidi.ts'
import type { PdfCharacters } from './character.ts'
import { toSegment, type Segment } from './segment.ts'

/** A gap of this many character heights separates columns or table cells; blanks in justified text stay below it. */
export const wideGap = 1.25
/** Gaps between the columns of a narrow table can be as small as this; the widest blanks of justified text are as large. */
export const narrowGap = 0.65

export interface Part {
  characters: PdfCharacters
  hasNarrowGaps: boolean
  from: number
  to: number
}

/** Splits characters where a gap is more than `share` of their height. */
export function splitAtGaps(characters: PdfCharacters, share: number): Part[] {
  const parts: Part[] = []
  let from = 0
  let previous = -1
  let previousHeight = 0
  let blank = -1
  let hasNarrowGaps = false
  for (let index = 0; index < characters.length; index += 1) {
    if (characters.isBlank(index)) {
      blank = index
      continue
    }
    const ownHeight = characters.top(index) - characters.bottom(index)
    if (previous !== -1) {
      const height = Math.max(ownHeight, previousHeight)
      const gap = gapBetween(characters, previous, blank, index)
      if (gap > share * height && height > 0) {
        parts.push(trimPart(characters, from, index, hasNarrowGaps))
        from = index
        hasNarrowGaps = false
      } else if (gap > narrowGap * height) hasNarrowGaps = true
    }
    previous = index
    previousHeight = ownHeight
    blank = -1
  }
  parts.push(trimPart(characters, from, characters.length, hasNarrowGaps))
  return parts
}

/**
 * The width of the space between two letters; `blank` is the place of the blank between them, or -1. PDFium gives no width to letters
 * that the pdf states for several glyphs at once (`ActualText`, as in Indic scripts): behind them only blanks are space.
 */
function gapBetween(characters: PdfCharacters, one: number, blank: number, other: number): number {
  const hasWidth = characters.right(one) > characters.left(one)
  if (!hasWidth && blank === -1) return 0
  const from = hasWidth || characters.isGenerated(blank) ? one : blank
  return Math.max(characters.left(other) - characters.right(from), characters.left(from) - characters.right(other))
}

function trimPart(characters: PdfCharacters, from: number, to: number, hasNarrowGaps: boolean): Part {
  let last = to
  while (last > from + 1 && characters.isBlank(last - 1)) last -= 1
  const isWhole = from === 0 && last === characters.length
  return { characters: isWhole ? characters : characters.slice(from, last), from, to: last, hasNarrowGaps }
}

/**
 * Splits a segment between words: all words for which `place` gives the same number, one after the other, stay together. Null
 * where they all do.
 */
export function splitSegment(
  segment: Segment,
  place: (word: { left: number; right: number }) => number,
): Segment[] | null {
  const { characters } = segment
  const parts: { from: number; to: number; place: number }[] = []
  for (const word of wordRanges(characters)) {
    let left = Infinity
    let right = -Infinity
    for (let index = word.from; index < word.to; index += 1) {
      left = Math.min(left, characters.left(index))
      right = Math.max(right, characters.right(index))
    }
    const at = place({ left, right })
    const last = parts.at(-1)
    if (last?.place === at) last.to = word.to
    else parts.push({ ...word, place: at })
  }
  return parts.length < 2 ? null : partsOf(segment, parts)
}

/** Splits a segment at gaps narrower than those that separate it from its neighbours; null where it has none. */
export function splitAtNarrowGaps(segment: Segment): Segment[] | null {
  if (!segment.hasNarrowGaps) return null
  if (!isReorderable(segment.characters)) {
    const parts = splitAtGaps(segment.characters, narrowGap)
    return parts.length < 2 ? null : partsOf(segment, parts)
  }
  const characters = visualOrder(segment.characters)
  const parts = splitAtGaps(characters, narrowGap)
  return parts.length < 2 ? null : partsOf({ ...segment, characters }, parts)
}

function partsOf(segment: Segment, parts: { from: number; to: number }[]): Segment[] {
  const isReordered = isReorderable(segment.characters)
  return parts.flatMap(({ from, to }, index) => {
    const slice = segment.characters.slice(from, to)
    // A number in a right-to-left line is in the order of that line; in a cell it is alone.
    const isAlone = isReordered && !slice.hasRightToLeft()
    const part = toSegment(isAlone ? visualOrder(slice) : slice, segment.onRightToLeftPage)
    if (!part) return []
    part.bold = segment.bold
    part.hyphenated = segment.hyphenated && index === parts.length - 1
    return [part]
  })
}

function* wordRanges(characters: PdfCharacters): Generator<{ from: number; to: number }> {
  let from = 0
  for (let index = 0; index <= characters.length; index += 1) {
    if (index < characters.length && !characters.isBlank(index)) continue
    if (index > from) yield { from, to: index }
    from = index + 1
  }
}
