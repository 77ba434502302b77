/** Precedes the number of a page while a paragraph is read; clean text has no control characters. */
export const pageNumberMark = '\u0001'

/** Letters next to the number of a page that are only its label, such as "Page 3 of 10". */
const maximumLabel = 12

/** True for the code of a field that shows the number of the page, or of all pages. */
export function isPageNumber(fieldCode: string): boolean {
  return /^\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b/i.test(fieldCode)
}

/** The text of a header or footer without the parts between tabs that only number the page. */
export function withoutPageNumbers(text: string): string {
  if (!text.includes(pageNumberMark)) return text
  const parts = text.split('\t').filter((part) => {
    if (!part.includes(pageNumberMark)) return true
    return part.replace(/[^\p{L}]/gu, '').length > maximumLabel
  })
  return parts.join('\t')
}
