import { definitionEnd, linkEnd, maximumLinkLength } from './links.ts'
import { asciiDigits } from '../../../platform/evidence/index.ts'

/** Decides whether a bracket begins a citation marker, a link, a definition, an array or plain text. Pure. */

export interface Bracket {
  /** A text that contains the bracket. */
  text: string
  /** Index of the opening bracket. */
  at: number
  /** No further text follows. */
  atEnd: boolean
  /** The end of the line's text before the bracket. */
  before: string
  /** A link definition may begin here: the bracket is the first character of a block. */
  mayDefine: boolean
  /** Those of the numbers that may be cited; null: the bracket is text. */
  resolve: (numbers: readonly number[], isPlain: boolean) => readonly number[] | null
  /** The numbers of the passages of a file by its name. `mayBegin`: whether a name begins so. */
  names?: { find: (name: string) => readonly number[]; mayBegin: (begin: string) => boolean } | undefined
}

/** `length`: UTF-16 units from the bracket on. */
export type Verdict =
  | { type: 'text'; length: number }
  /** A link reference definition: text, and the end of its paragraph. */
  | { type: 'definition'; length: number }
  | { type: 'marker'; length: number; numbers: number[] }
  /** More text is needed. `inLink`: text without a character that ends part of a link does not change that. */
  | { type: 'undecided'; inLink: boolean }

const undecided: Verdict = { type: 'undecided', inLink: false }
const onlyBracket: Verdict = { type: 'text', length: 1 }

const stopPattern = /[\n`[［【〔]/
/** Arrays such as `[[1, 2], [3, 4]]` and `[1, [2]]`. */
const arrayPattern = /^[\d\s,;.+\-–[\]]*$/

export function judgeBracket(bracket: Bracket): Verdict {
  const { text, at, atEnd, before } = bracket
  const window = text.slice(at, at + maximumMarkerLength)
  const whole = window.length === maximumMarkerLength || atEnd
  const close = window.search(closingBracketPattern)
  const named = judgeName(bracket, window, close, whole)
  if (named) return named
  const stop = window.slice(1).search(stopPattern) + 1
  if (stop > 0 && (close === -1 || stop < close)) {
    return openingBrackets.includes(window[stop]!) ? judgeNested(bracket, window, whole) : onlyBracket
  }
  if (close === -1) {
    const mayClose = canBeMarker(window.slice(1)) || arrayPattern.test(window)
    return whole || !mayClose ? onlyBracket : undecided
  }
  const content = readMarker(window.slice(1, close))
  if (!content) return onlyBracket
  const length = close + 1
  if (content.plain && window.startsWith('[')) {
    if (isIndexed(before) || isArrayOfCode(before, content.numbers.length)) return { type: 'text', length }
    const otherUse = judgeOtherUse(bracket, length, content.numbers)
    if (otherUse) return otherUse
  }
  return judgeNumbers(bracket, length, content)
}

function judgeNumbers({ resolve }: Bracket, length: number, { numbers, plain }: MarkerContent): Verdict {
  const kept = resolve(numbers, plain)
  return kept === null ? { type: 'text', length } : { type: 'marker', length, numbers: [...kept] }
}

/** `[Handbook.pdf]`, the name of a file whose passages were given; null for anything else. */
function judgeName({ names, text, at, atEnd }: Bracket, window: string, close: number, whole: boolean): Verdict | null {
  if (!names || !window.startsWith('[')) return null
  if (close === -1) return !whole && names.mayBegin(window.slice(1)) ? undecided : null
  const numbers = names.find(window.slice(1, close))
  if (numbers.length === 0) return null
  const next = text[at + close + 1]
  if (next === undefined && !atEnd) return undecided
  // The text of a link, or the label of one.
  return next === '(' || next === '[' || next === ':'
    ? null
    : { type: 'marker', length: close + 1, numbers: [...numbers] }
}

/** The link, definition or assignment that the bracket of this length belongs to; null where it belongs to none. */
function judgeOtherUse(bracket: Bracket, length: number, numbers: readonly number[]): Verdict | null {
  const { text, at, atEnd, before, mayDefine } = bracket
  const window = text.slice(at, at + length + maximumLinkLength)
  const whole = window.length === length + maximumLinkLength || atEnd
  if (window.length === length) return atEnd ? null : undecided
  // `rows[1].name`
  if (window[length] === '.' && /[\p{L}\p{N}_$]$/u.test(before)) {
    if (window.length === length + 1 && !atEnd) return undecided
    if (/[a-z_$]/.test(window[length + 1] ?? '')) return { type: 'text', length }
  }
  if (window[length] === '=') return /[\w$]$/.test(before) ? { type: 'text', length } : null
  const defines = window[length] === ':' && mayDefine
  if (window[length] !== '(' && !defines) return null
  const end = defines ? definitionEnd(window, length, whole) : linkEnd(window, length, whole)
  if (end === null) return { type: 'undecided', inLink: true }
  if (end > 0 && !defines && isOwnFragment(window.slice(length, end), numbers)) {
    const kept = bracket.resolve(numbers, true)
    if (kept) return { type: 'marker', length: end, numbers: [...kept] }
  }
  return end > 0 ? { type: defines ? 'definition' : 'text', length: end } : null
}

/** `(#source-1)` after `[1]`: a link to a list of sources that the model imagines. */
function isOwnFragment(target: string, numbers: readonly number[]): boolean {
  const number = /^\(#[\p{L}_-]{0,40}(\d{1,4})\)$/u.exec(target)?.[1]
  return numbers.length === 1 && Number(number) === numbers[0]
}

/** Brackets in brackets: `[[1]]` is a marker, an array is text; of anything else the outer bracket is text. */
function judgeNested(bracket: Bracket, window: string, whole: boolean): Verdict {
  const { text, at, atEnd } = bracket
  const length = balancedEnd(window)
  if (length === 0) return whole ? onlyBracket : undecided
  if (length === -1) return onlyBracket
  const outer = window.slice(0, length)
  const inner = /^\[\[([^[\]［］【】〔〕]*)\]\]$/.exec(outer)?.[1]
  const content = inner === undefined ? null : readMarker(inner)
  if (!content) return arrayPattern.test(outer) ? { type: 'text', length } : onlyBracket
  if (window.length === length && !atEnd) return undecided
  if (text[at + length] === '(') {
    const wide = text.slice(at, at + length + maximumLinkLength)
    const end = linkEnd(wide, length, wide.length === length + maximumLinkLength || atEnd)
    if (end === null) return undecided
    if (end > 0) return { type: 'text', length: end }
  }
  return judgeNumbers(bracket, length, content)
}

/** Deepest array that is recognised; deeper brackets are judged one by one. */
const maximumDepth = 3

/** The index after the bracket that closes the first one; 0: not in this text; -1: it is not closed on this line. */
function balancedEnd(text: string): number {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '\n' || character === '`') return -1
    if (openingBrackets.includes(character) && ++depth > maximumDepth) return -1
    if (closingBracketPattern.test(character) && --depth === 0) return at + 1
  }
  return 0
}

/** Distinguishes `a[1]`, `f(x)[1]` and `[text][1]` from a citation after a word, as in `The sky is blue[1]`. Pure. */

/** Most text before a bracket that is inspected, UTF-16 units. */
export const maximumContextLength = 64

/** Names that are not words of prose, or that are nearly always a variable when a bracket follows. */
const variableNames: ReadonlySet<string> = new Set(
  'arr argv args array buf col dict elem idx items list lst matrix obj ptr tmp tuple vec vector'.split(' '),
)

/** Whether a bracket after `before`, the text of its line so far, is an index or the second half of a reference link. */
function isIndexed(before: string): boolean {
  let text = before
  while (text.endsWith(']')) {
    const open = text.lastIndexOf('[')
    if (open === -1) return false
    const content = text.slice(open + 1, -1)
    // `[2024]` is text like any other; after other brackets `[1]` is the label of a link, or an index of an entry.
    if (!/^[\d\s,;-]*$/.test(content)) return true
    text = text.slice(0, open)
    if (text === '' || !/[\p{L}\p{N}_$)\]]$/u.test(text)) return false
  }
  if (text.endsWith(')')) return isCall(text)
  const word = /\\?[\p{L}\p{N}_$]+$/u.exec(text)?.[0]
  return word !== undefined && isVariable(word, text[text.length - word.length - 1] ?? ' ')
}

/** `f(x)`, but not `a word (in brackets)` and not `file(s)`. */
function isCall(text: string): boolean {
  const open = text.lastIndexOf('(')
  if (open < 1 || /^(?:s|es|n|en|e|r|in|nen)$/.test(text.slice(open + 1, -1))) return false
  return /[\w$]$/.test(text.slice(0, open))
}

function isVariable(word: string, before: string): boolean {
  if (word.startsWith('\\') || /[_$]/.test(word)) return true
  // Not the s of `it's`, nor the end of an abbreviation.
  if (/^[a-z]$/.test(word)) return !/['’.-]/.test(before)
  return /^[a-z]\d{1,2}$/.test(word) || /^[a-z]{2,}(?:[A-Z][a-z]+)+$/.test(word) || variableNames.has(word)
}

const arrayWords =
  'interval intervals range array list vector tuple set matrix coordinates intervall bereich liste feld intervalle plage tableau liste intervalo rango lista intervallo'.split(
    ' ',
  )

/** Whether a bracket with `count` numbers is an array: in the arguments of a call, after an operator, or after a word for one. */
function isArrayOfCode(before: string, count: number): boolean {
  if (/[\p{L}\p{N}_$]\([^()]*$/u.test(before) || /[{=∈∉⊂⊆∪∩≤≥]\s*$/u.test(before)) return true
  const word = /(\p{L}+)\s$/u.exec(before)?.[1]
  return count > 1 && word !== undefined && arrayWords.includes(word.toLowerCase())
}

/** Which bracketed texts are citation markers: models write many forms although the prompt shows `[1]`. Pure. */

/** Characters that open and close a marker: ASCII, full-width and CJK brackets. Models mix them. */
export const openingBrackets = '[［【〔'
const closingBracketPattern = /[\]］】〕]/
/** Longest marker, brackets included, UTF-16 units; a longer one is ordinary text. It bounds the look-ahead. */
const maximumMarkerLength = 120
/** Most numbers in one marker. */
const maximumNumbers = 50

interface MarkerContent {
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
function canBeMarker(begin: string): boolean {
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
