import type { PdfCharacters } from './character.ts'

/**
 * The signs at the letters of TeX's font for large signs (CMEX10 and those after its pattern), which files name by no letter: PDFium takes
 * the number of the sign for that of a letter.
 */
const signs = new Map(
  Array.from(
    'F⨆G⨆H∮I∮J⨀K⨀L⨁M⨁N⨂O⨂P∑Q∏R∫S⋃T⋂U⨄V⋀W⋁X∑Y∏Z∫[⋃\\⋂]⨄^⋀_⋁`∐a∐h[i]j⌊k⌋l⌈m⌉n{o}p√q√r√s√t√'.matchAll(/(.)(.)/gu),
  ).map(([, letter, sign]) => [letter!.charCodeAt(0), sign!.codePointAt(0)!]),
)
const fontName = /(?:CM|LM|MT|EU|TX|PX)EX\w{0,4}$|MathExtension/i
/** The box of that font is this many times as high as those of others, or more. */
const leastHeight = 2.2
/** PDFium adds two signs for the end of a line. */
const neighbours = [-4, -3, -2, -1, 1, 2, 3, 4]

/** The characters with the large signs of formulas; the same object where a page has none. `fontOf` gives the font's name. */
export function withMathSigns(characters: PdfCharacters, fontOf: (at: number) => string): PdfCharacters {
  const found = new Map<number, number>()
  for (let at = 0; at < characters.length; at += 1) {
    const sign = signs.get(characters.code(at))
    if (sign !== undefined && isTall(characters, at) && fontName.test(fontOf(at))) found.set(at, sign)
  }
  return found.size === 0 ? characters : characters.withCodes(found)
}

/** Most pages have no letter of such a height, so that no font is asked for. */
function isTall(characters: PdfCharacters, at: number): boolean {
  const height = characters.top(at) - characters.bottom(at)
  return neighbours.some((distance) => {
    const near = at + distance
    if (near < 0 || near >= characters.length || characters.isGenerated(near)) return false
    const other = characters.top(near) - characters.bottom(near)
    return other > 0 && height > other * leastHeight
  })
}
