import { cleanLine } from '../clean-text.ts'

/** Letters next to the number of a page that are only its label, such as "Page 3 of 10". */
const maximumLabel = 12
/** Longest text that Excel allows is 255 characters. */
const maximumCharacters = 1_000

export const pageTextElements: ReadonlySet<string> = new Set([
  'oddHeader',
  'oddFooter',
  'evenHeader',
  'evenFooter',
  'firstHeader',
  'firstFooter',
])

/**
 * The texts of a header or footer of printed pages, from its codes (ECMA-376 part 1, 18.3.1.46): its left, middle and right part without
 * those that only number the page, name the file or state the date of printing.
 */
export function pageTexts(coded: string): string[] {
  const parts = coded.slice(0, maximumCharacters).split(/&[LCR]/)
  return parts.flatMap((part) => {
    let numbersPage = false
    const text = part.replace(/&(?:"[^"]*"|K(?:[\dA-Fa-f]{6}|\d{2}[+-]\d{3})|\d{1,3}|.)/gs, (code) => {
      if (code === '&&') return '&'
      if (code === '&P' || code === '&N') numbersPage = true
      return ''
    })
    const shown = cleanLine(text)
    const letters = shown.replace(/[^\p{L}]/gu, '').length
    return letters === 0 && !/\d/.test(shown) ? [] : numbersPage && letters <= maximumLabel ? [] : [shown]
  })
}
