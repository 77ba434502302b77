import { linkTarget } from '../link-target.ts'
import { isRightToLeftCode, type PdfCharacter, PdfCharacters } from './character.ts'

/** PDFium's functions for link annotations. */
export interface LinkFunctions {
  HEAPU8: Uint8Array
  HEAPF32: Float32Array
  HEAPU32: Uint32Array
  _FPDFLink_Enumerate(page: number, position: number, link: number): number
  _FPDFLink_GetAnnotRect(link: number, rectangle: number): number
  _FPDFLink_GetAction(link: number): number
  _FPDFAction_GetType(action: number): number
  _FPDFAction_GetURIPath(document: number, action: number, buffer: number, bytes: number): number
}

interface PdfLink {
  target: string
  left: number
  right: number
  bottom: number
  top: number
}

/** Links of one page that are read. */
const maximumLinks = 300
/** Pages with more characters keep their text without addresses: each link is compared with each character. */
const maximumCharacters = 30_000
/** PDFACTION_URI of PDFium's public header fpdf_doc.h. */
const uriAction = 3

/** The page's links to addresses outside of the document. Call it before the page's annotations are flattened. */
export function readLinks(
  pdfium: LinkFunctions,
  document: number,
  page: number,
  scratch: number,
  scratchBytes: number,
): PdfLink[] {
  const links: PdfLink[] = []
  const place = scratch / 4
  let position = 0
  for (let count = 0; count < maximumLinks; count += 1) {
    pdfium.HEAPU32[place] = position
    if (pdfium._FPDFLink_Enumerate(page, scratch, scratch + 4) === 0) break
    position = pdfium.HEAPU32[place]!
    const link = pdfium.HEAPU32[place + 1]!
    const action = pdfium._FPDFLink_GetAction(link)
    if (action === 0 || pdfium._FPDFAction_GetType(action) !== uriAction) continue
    const bytes = pdfium._FPDFAction_GetURIPath(document, action, scratch, scratchBytes)
    if (bytes <= 1 || bytes > scratchBytes) continue
    const target = Buffer.from(pdfium.HEAPU8.slice(scratch, scratch + bytes - 1)).toString('utf8')
    if (pdfium._FPDFLink_GetAnnotRect(link, scratch) === 0) continue
    const [left, top, right, bottom] = pdfium.HEAPF32.slice(place, place + 4)
    links.push({ target, left: left!, right: right!, bottom: bottom!, top: top! })
  }
  return links
}

/** Writes the address of each link after the last character of its text,. */
export function placeLinks(
  page: { characters: PdfCharacters; origins: number[] | null },
  links: PdfLink[],
): { characters: PdfCharacters; origins: number[] | null } {
  if (links.length === 0 || page.characters.length > maximumCharacters) return page
  const additions = new Map<number, string>()
  for (const [index, link] of links.entries()) {
    // A link over several lines has an annotation for each: the address follows the last.
    if (links[index + 1]?.target === link.target) continue
    let from = index
    while (from > 0 && links[from - 1]!.target === link.target) from -= 1
    const inside = links.slice(from, index + 1).flatMap((part) => charactersIn(part, page.characters))
    const text = inside.map((at) => String.fromCodePoint(Math.min(page.characters.code(at), 0x10ffff))).join('')
    const last = Math.max(...inside, -1)
    const target = last === -1 ? null : linkTarget(link.target, text)
    if (target !== null) additions.set(last, ` (${target})`)
  }
  const characters: PdfCharacter[] = []
  const origins: number[] = []
  for (const [at, character] of page.characters.toArray().entries()) {
    characters.push(character)
    const origin = page.origins === null ? at : page.origins[at]!
    origins.push(origin)
    const { bottom, top } = character
    const isRightToLeft = isRightToLeftCode(character.code)
    for (const [index, sign] of Array.from(additions.get(at) ?? '').entries()) {
      // Behind a letter from right to left is left of it; the blank next to it keeps a width.
      const width = isRightToLeft ? (top - bottom) * 0.001 : 0
      const right = isRightToLeft ? character.left - (index === 0 ? 0 : width) : character.right
      const left = index === 0 ? right - width : right
      characters.push({ code: sign.codePointAt(0)!, generated: false, left, right, bottom, top })
      origins.push(origin)
    }
  }
  return { characters: PdfCharacters.of(characters), origins }
}

function charactersIn(link: PdfLink, characters: PdfCharacters): number[] {
  const found: number[] = []
  for (let at = 0; at < characters.length; at += 1) {
    const y = (characters.bottom(at) + characters.top(at)) / 2
    if (!(y >= link.bottom && y <= link.top)) continue
    const x = (characters.left(at) + characters.right(at)) / 2
    if (x >= link.left && x <= link.right && characters.code(at) > 0x20) found.push(at)
  }
  return found
}
