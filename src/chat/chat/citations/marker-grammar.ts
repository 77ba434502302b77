import { asciiDigits } from '../../../platform/evidence/index.ts'

/** Which bracketed texts are citation markers: models write many forms although the prompt shows `[1]`. Pure. */

/** Characters that open and close a marker: ASCII, full-width and CJK brackets. Models mix them. */
export const openingBrackets = '[［【〔'
export const closingBracketPattern = /[\]］】〕]/
/** Longest marker, brackets included, UTF-16 units; a longer one is ordinary text. It bounds the look-ahead. */
export const maximumMarkerLength = 120
/** Most numbers in one marker. */
const maximumNumbers = 50

export interface MarkerContent {
  /** In the written order, with ranges expanded. */
  numbers: number[]
  /** Only digits and separators: such a text may also be an array index, a link or an array. */
  plain: boolean
}

/** Words that models write before a number. */
const keywords = (
  'source sources src ref refs reference references citation citations cite id passage passages document documents doc docs excerpt ' +
  'excerpts quelle quellen fuente fuentes fonte fontes fonti bron bronnen kilde källa źródło источник документ 来源 资料 資料 出典 引用 ' +
  '文档 출처 문서'
).split(' ')
const keyword = `(?:${keywords.toSorted((left, right) => right.length - left.length).join('|')})`
const number = '([1-9]\\d{0,3})'
const prefix = `(?:${keyword} ?[:#=._-]? ?)?[#^"]?`
const range = '[-\u2010-\u2015\u2212~\u301c]'
/** `†source` and `:0†source` as ChatGPT writes them. */
const dagger = '(?:(?::\\d{1,4})?†.*)?'
const itemPattern = new RegExp(`^${prefix}${number}[\\^"]?(?: ?${range} ?${prefix}${number}[\\^"]?)?${dagger}$`, 'iu')
/** `Source 1: Handbook.pdf`. */
const titledPattern = new RegExp(`^${keyword}[ #:]{0,2}${number} ?: ?\\S`, 'iu')
const separatorPattern = / ?[,;、&] ?| (?:and|und|et|y|e|och|en|и|和|与|及) /u
/** A page or row after the number: `[1, p. 3]`. */
const locatorPattern = /^(?:pp?|pages?|s|seiten?|rows?|lines?|zeilen?)\.? ?\d{1,5}(?: ?[-\u2010-\u2015] ?\d{1,5})?$/iu
const plainPattern = /^[\d\s,;-]*$/
/** Zero-width and direction characters. */
const invisiblePattern = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu

/** The numbers of the text between two brackets; null where it does not have the form of a marker. */
export function readMarker(inner: string): MarkerContent | null {
  const text = clean(inner).trim()
  const titled = titledPattern.exec(text)
  if (titled) return { numbers: [Number(titled[1])], plain: false }
  const numbers: number[] = []
  for (const part of text.split(separatorPattern)) {
    if (numbers.length > 0 && locatorPattern.test(part)) continue
    const item = itemPattern.exec(part)
    if (!item) return null
    const from = Number(item[1])
    const to = Number(item[2] ?? item[1])
    if (to < from || numbers.length + to - from >= maximumNumbers) return null
    for (let next = from; next <= to; next++) numbers.push(next)
  }
  return { numbers, plain: plainPattern.test(asciiDigits(inner)) }
}

/** Whether `begin`, the text after an opening bracket, may continue as a marker. */
export function canBeMarker(begin: string): boolean {
  const text = clean(begin).trimStart().toLowerCase()
  if (text === '') return true
  if (/^[#^"]?(?:\d|$)/.test(text)) return true
  const word = /^[#^"]?(\p{L}+)/u.exec(text)?.[1]
  return word !== undefined && keywords.some((known) => known.startsWith(word) || word.startsWith(known))
}

/** Makes white space single spaces and full-width signs ASCII, and removes invisible characters. */
function clean(text: string): string {
  return asciiDigits(text)
    .replaceAll(invisiblePattern, '')
    .replaceAll(/[\uff01-\uff5e]/gu, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0))
    .replaceAll(/\s+/gu, ' ')
}
