import { lookUp } from '../../../platform/kernel/index.ts'
/** The parts of Markdown and HTML that can name an address. Pure. */

/** Longest link, image or tag that is recognised, UTF-16 units; it bounds the look-ahead. */
export const maximumSyntaxLength = 500
/** Deepest brackets in the text of a link. */
const maximumDepth = 8

/** The characters that an address may contain, of those that character references can hide. */
const addressCharacter = /^[A-Za-z0-9:/.?=@\\%&_#-]$/
const namedReferences: Record<string, string> = {
  amp: '&',
  AMP: '&',
  bsol: '\\',
  colon: ':',
  commat: '@',
  equals: '=',
  lowbar: '_',
  num: '#',
  percnt: '%',
  period: '.',
  quest: '?',
  sol: '/',
}
const referencePattern = /^&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{2,31}));/
/** Longest character reference. */
const maximumReferenceLength = 34

/** The character of the reference at the beginning of `text`, where an address may contain it; null: there is none; `more`: it may continue. */
export function readReference(text: string, atEnd: boolean): { character: string; length: number } | 'more' | null {
  const found = referencePattern.exec(text.slice(0, maximumReferenceLength))
  if (!found) {
    const isPart = text.length < maximumReferenceLength && /^&#?[A-Za-z0-9]*$/.test(text)
    return isPart && !atEnd ? 'more' : null
  }
  const [raw, decimal, hexadecimal, name] = found
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? 'x', 16) : Number.parseInt(decimal, 10)
  const character =
    name === undefined ? (code < 128 ? String.fromCharCode(code) : '') : (lookUp(namedReferences, name) ?? '')
  return addressCharacter.test(character) ? { character, length: raw.length } : null
}

/** A destination as a client follows it: without angle brackets, escapes and character references. */
export function decodeDestination(destination: string): string {
  const bare = /^<.*>$/s.test(destination) ? destination.slice(1, -1) : destination
  return decodeReferences(bare).replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
}

/** Longest beginning of an address that is recognised, with some of its characters as references, UTF-16 units. */
export const maximumStartLength = 80
const starts = ['https://', 'http://', 'www.']
const startPattern = /^(?:[A-Za-z:/.]|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});){0,8}/

/** The beginning of a web address at the beginning of `text`, decoded; `length` is what it takes in `text`. Null: there is none. */
export function readAddressStart(text: string, atEnd: boolean): { text: string; length: number } | 'more' | null {
  const raw = startPattern.exec(text)![0]
  const decoded = decodeReferences(raw)
  const begin = decoded.toLowerCase()
  if (starts.some((start) => begin.startsWith(start))) return { text: decoded, length: raw.length }
  const isPart = /^(?:&[#A-Za-z0-9]{0,32})?$/.test(text.slice(raw.length)) && text.length < maximumStartLength
  return isPart && !atEnd && starts.some((start) => start.startsWith(begin)) ? 'more' : null
}

/** The text with the references that `readReference` knows. */
function decodeReferences(text: string): string {
  return text.replaceAll(/&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});/g, (raw) => {
    const read = readReference(raw, true)
    return read === null || read === 'more' ? raw : read.character
  })
}

/** The index after the bracket that closes the one at `at`; -1: none on its line within the limit; null where more text is needed. */
export function closingBracket(text: string, at: number, atEnd: boolean): number | null {
  const limit = at + maximumSyntaxLength
  let depth = 0
  for (let index = at; index < text.length && index < limit; index++) {
    const character = text[index]
    if (character === '\\') index++
    else if (character === '[' && ++depth > maximumDepth) return -1
    else if (character === ']' && --depth === 0) return index + 1
    else if (character === '\n') return -1
  }
  return atEnd || text.length >= limit ? -1 : null
}

/** Tags that only change how text looks. Without attributes they name no address. */
const plainTags = new Set([
  'b',
  'br',
  'code',
  'del',
  'em',
  'i',
  'kbd',
  'mark',
  's',
  'small',
  'strong',
  'sub',
  'sup',
  'u',
])

export type AngleBracket =
  | { type: 'text' }
  /** A tag without attributes that only changes how text looks. */
  | { type: 'tag'; length: number }
  /** Any other tag, comment or declaration. */
  | { type: 'markup' }
  | { type: 'autolink'; length: number; target: string }

/** What the `<` at the beginning of `text` opens; null where more text is needed. */
export function readAngleBracket(text: string, atEnd: boolean): AngleBracket | null {
  const window = text.slice(0, maximumSyntaxLength)
  const whole = atEnd || window.length === maximumSyntaxLength
  const autolink = /^<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)(>?)/.exec(window)
  if (autolink) {
    if (autolink[2] === '>') return { type: 'autolink', length: autolink[0].length, target: autolink[1]! }
    return autolink[0].length === window.length && !whole ? null : { type: 'text' }
  }
  const tag = /^<\/?([A-Za-z][A-Za-z0-9-]*) {0,4}\/?>/.exec(window)
  if (tag) return plainTags.has(tag[1]!.toLowerCase()) ? { type: 'tag', length: tag[0].length } : { type: 'markup' }
  const opening = /^<\/?(?:[A-Za-z][A-Za-z0-9+.-]*)? {0,4}\/?/.exec(window)![0]
  if (opening.length === window.length && !whole) return null
  return /^<(?:[!?]|\/?[A-Za-z][A-Za-z0-9-]*[\s/>])/.test(window) ? { type: 'markup' } : { type: 'text' }
}
