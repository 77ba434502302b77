import type { PdfCharacter } from './character.ts'

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
export function shownCharacters(characters: readonly PdfCharacter[], box: PageBox | null): number[] | null {
  const outside = box === null ? [] : charactersOutside(characters, box)
  const dropped = new Set(outside)
  for (let index = 1; index < characters.length; index += 1) {
    if (isDoubled(characters, index)) dropped.add(index)
  }
  if (dropped.size === 0) return null
  return Array.from(characters.keys()).filter((index) => !dropped.has(index))
}

function charactersOutside(characters: readonly PdfCharacter[], box: PageBox): number[] {
  const outside: number[] = []
  let drawn = 0
  for (let index = 0; index < characters.length; index += 1) {
    const { code, generated, left, right, bottom, top } = characters[index]!
    if (generated || code <= 0x20) continue
    drawn += 1
    if (right < box.left || left > box.right || top < box.bottom || bottom > box.top) outside.push(index)
  }
  return outside.length < minimumOutside || outside.length > drawn * maximumOutsideShare ? [] : outside
}

function isDoubled(characters: readonly PdfCharacter[], index: number): boolean {
  let at = index - 1
  const first = Math.max(0, index - doubledReach)
  while (at >= first && characters[at]!.code !== characters[index]!.code) at -= 1
  // Most letters have none like them before.
  if (at < first) return false
  const { code, generated, left, right, bottom, top } = characters[index]!
  const width = right - left
  if (generated || code <= 0x20 || width <= 0) return false
  const height = top - bottom
  const reach = Math.min(height * doubledHeights, width * doubledWidths)
  for (; at >= first; at -= 1) {
    const other = characters[at]!
    if (
      other.code === code &&
      Math.abs(other.left - left) < reach &&
      Math.abs(other.right - right) < reach &&
      Math.abs(other.bottom - bottom) < reach
    )
      // Letters of one ligature have the same place; PDFium leaves out glyphs that are drawn twice there.
      return other.left !== left || other.bottom !== bottom
  }
  return false
}
