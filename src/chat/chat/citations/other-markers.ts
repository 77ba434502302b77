import { readMarker, type Verdict } from './brackets.ts'

/** Markers without square brackets: `(Source 1)`, `¹`, `<sup>1</sup>` and `\[1\]`. Pure. */

/** Characters that may begin one. */
export const markerSigns = '(（<¹²³⁴⁵⁶⁷⁸⁹'
/** Longest marker of these forms, UTF-16 units. */
const maximumLength = 48

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'
const notOne: Verdict = { type: 'text', length: 1 }
const undecided: Verdict = { type: 'undecided', inLink: false }

export interface Sign {
  text: string
  at: number
  /** No further text follows. */
  atEnd: boolean
  /** The end of the line's text before the sign. */
  before: string
  resolve: (numbers: readonly number[], isPlain: boolean) => readonly number[] | null
}

export function judgeSign(sign: Sign): Verdict {
  const character = sign.text[sign.at]!
  if (character === '<') return judgeTag(sign)
  if (superscripts.includes(character)) return judgeSuperscript(sign)
  return judgeParenthesis(sign)
}

/** `(Source 1)` and `(Quellen 1, 2)`: a word for sources must be there. */
function judgeParenthesis(sign: Sign): Verdict {
  const window = windowOf(sign)
  const begin = /^[(（]\s?(\p{L}*)/u.exec(window)![1]!.toLowerCase()
  if (begin !== '' && !sourceWords.some((word) => word.startsWith(begin) || begin.startsWith(word))) return notOne
  const close = window.search(/[)）]/u)
  if (close === -1) return canGrow(sign, window) && /^[(（][\p{L}\p{N}\s,;#.:&-]*$/u.test(window) ? undecided : notOne
  const inner = window.slice(1, close)
  const content = /^\s?\p{L}/u.test(inner) ? readMarker(inner) : null
  return content ? resolved(sign, close + 1, content.numbers) : notOne
}

const sourceWords =
  'source sources quelle quellen fuente fuentes fonte fontes fonti bron bronnen źródło источник citation citations ref reference references passage passages 来源 资料 出典 출처'.split(
    ' ',
  )

/** `<sup>1</sup>`, `<sup>1, 2</sup>`. Around brackets the tag is emphasis. */
function judgeTag(sign: Sign): Verdict {
  const window = windowOf(sign)
  const tag = '<sup>'
  if (!tag.startsWith(window.slice(0, tag.length))) return notOne
  const content = /^<sup>\s?(\d{1,3}(?:\s?[,;]\s?\d{1,3})*)\s?<\/sup>/.exec(window)
  if (content) {
    if (isExponent(sign.before)) return { type: 'text', length: content[0].length }
    return resolved(sign, content[0].length, content[1]!.split(/\D+/).map(Number))
  }
  const mayBecome = /^<(?:s(?:u(?:p(?:>[\d\s,;]*(?:<(?:\/(?:s(?:u(?:p)?)?)?)?)?)?)?)?)?$/.test(window)
  return mayBecome && canGrow(sign, window) ? undecided : notOne
}

function judgeSuperscript(sign: Sign): Verdict {
  const digits = /^[⁰¹²³⁴-⁹]+/u.exec(windowOf(sign))![0]
  if (sign.at + digits.length === sign.text.length && !sign.atEnd) return undecided
  const number = Number([...digits].map((digit) => superscripts.indexOf(digit)).join(''))
  if (isExponent(sign.before) || digits.length > 3) return { type: 'text', length: digits.length }
  return resolved(sign, digits.length, [number])
}

/** After a figure, a unit or a variable: `10⁶`, `m²`, `x²`. A marker comes after a word or a sentence. */
function isExponent(before: string): boolean {
  return (
    before === '' ||
    /(?:[\p{N})\]}]|(?<![\p{L}\p{M}])[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]{1,3})$/u.test(before)
  )
}

function resolved({ resolve }: Sign, length: number, numbers: readonly number[]): Verdict {
  const kept = resolve(numbers, false)
  return kept === null ? { type: 'text', length } : { type: 'marker', length, numbers: [...kept] }
}

/** `\[1\]`; null where the backslash escapes anything else. */
export function judgeEscape(sign: Sign): Verdict | null {
  const window = windowOf(sign)
  const found = /^\\\[([^\]\\\n]{1,40})\\\]/.exec(window)
  const content = found && readMarker(found[1]!)
  if (content) return resolved(sign, found[0].length, content.numbers)
  return /^\\(?:\[[\p{L}\p{N}\s,;^#-]*\\?)?$/u.test(window) && canGrow(sign, window) ? undecided : null
}

const windowOf = ({ text, at }: Sign) => text.slice(at, at + maximumLength)
const canGrow = ({ atEnd }: Sign, window: string) => !atEnd && window.length < maximumLength
