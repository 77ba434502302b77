import type { PdfCharacters } from './character.ts'

/** What is shown of a page. */
export interface PageBox {
  left: number
  right: number
  bottom: number
  top: number
}

/** Fewer letters outside of the box are cut at its edge, or are signs of the program that made the file. */
const minimumOutside = 20
/** A box that leaves out more than this share of a page's letters is not the one that is shown. */
const maximumOutsideShare = 0.8
/** Two equal glyphs are one in bold if they are apart by less than these shares of their height, and of their width. */
const doubledHeights = 0.12
const doubledWidths = 0.6
/** Glyphs before one that it can be the double of: programs draw a bold letter twice, or a short word. */
const doubledReach = 4

/**
 * The indices of the characters that a page shows once: without the second glyph of letters that are drawn twice to look bold, and
 * without text outside of the page's box, which often is the text of the next page. Null where that is all of them.
 */
export function shownCharacters(characters: PdfCharacters, box: PageBox | null): number[] | null {
  const outside = box === null ? [] : charactersOutside(characters, box)
  const dropped = new Set(outside)
  // Most letters have none like them before.
  for (const index of characters.repeatedWithin(doubledReach)) if (isDoubled(characters, index)) dropped.add(index)
  if (dropped.size === 0) return null
  return Array.from({ length: characters.length }, (_, index) => index).filter((index) => !dropped.has(index))
}

function charactersOutside(characters: PdfCharacters, box: PageBox): number[] {
  const outside: number[] = []
  let drawn = 0
  for (let index = 0; index < characters.length; index += 1) {
    if (characters.code(index) <= 0x20 || characters.isGenerated(index)) continue
    drawn += 1
    const isInside =
      !(characters.right(index) < box.left || characters.left(index) > box.right) &&
      !(characters.top(index) < box.bottom || characters.bottom(index) > box.top)
    if (!isInside) outside.push(index)
  }
  return outside.length < minimumOutside || outside.length > drawn * maximumOutsideShare ? [] : outside
}

function isDoubled(characters: PdfCharacters, index: number): boolean {
  const first = Math.max(0, index - doubledReach)
  const code = characters.code(index)
  const left = characters.left(index)
  const right = characters.right(index)
  const bottom = characters.bottom(index)
  const width = right - left
  if (characters.isGenerated(index) || width <= 0) return false
  const height = characters.top(index) - bottom
  const reach = Math.min(height * doubledHeights, width * doubledWidths)
  for (let at = index - 1; at >= first; at -= 1) {
    if (
      characters.code(at) === code &&
      Math.abs(characters.left(at) - left) < reach &&
      Math.abs(characters.right(at) - right) < reach &&
      Math.abs(characters.bottom(at) - bottom) < reach
    )
      // Letters of one ligature have the same place; PDFium leaves out glyphs that are drawn twice there.
      return characters.left(at) !== left || characters.bottom(at) !== bottom
  }
  return false
}
