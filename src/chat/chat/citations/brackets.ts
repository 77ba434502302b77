import { isArrayOfCode, isIndexed } from './index-expressions.ts'
import { definitionEnd, linkEnd, maximumLinkLength } from './links.ts'
import {
  canBeMarker,
  closingBracketPattern,
  type MarkerContent,
  maximumMarkerLength,
  openingBrackets,
  readMarker,
} from './marker-grammar.ts'

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
