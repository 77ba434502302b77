/** Precedes the number of a page while a paragraph is read; clean text has no control characters. */
export const pageNumberMark = '\u0001'

/** Most letters of a label, such as "Page 3 of 10". */
const maximumLabel = 12

/** The words of such labels; others are text: "Draft 3" names the draft. */
const labelWords = new Set(
  (
    'page pages pg p pp of seite seiten s von blatt folio sur de du di su página páginas pág pagina pag van blad blz sida sid av side ' +
    'af sivu strona str z ze strana stránka oldal din sayfa stranica od leht lapa puslapis iš trang trên страница стр из сторінка з от ' +
    'σελίδα σελ από صفحة من صفحه از עמוד דף מתוך หน้า จาก पृष्ठ का'
  ).split(' '),
)
const wideLabel = /^[第页頁共总總计計全中のページ쪽페이지총]+$/

/** True for the code of a field that shows the number of the page, or of all pages. */
export function isPageNumber(fieldCode: string): boolean {
  return /^\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b/i.test(fieldCode)
}

/** The text of a header or footer without the parts between tabs that only number the page. */
export function withoutPageNumbers(text: string): string {
  if (!text.includes(pageNumberMark)) return text
  const parts = text.split('\t').filter((part) => {
    if (!part.includes(pageNumberMark)) return true
    if (part.replace(/[^\p{L}]/gu, '').length > maximumLabel) return true
    const words =
      part
        .normalize('NFC')
        .toLowerCase()
        .match(/[\p{L}\p{M}]+/gu) ?? []
    return !words.every((word) => labelWords.has(word) || wideLabel.test(word) || isRoman(word))
  })
  return parts.join('\t')
}

function isRoman(word: string): boolean {
  return /^[ivxlcdm]+$/.test(word)
}
