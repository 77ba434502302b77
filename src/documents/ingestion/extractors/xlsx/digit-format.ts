import type { Token } from './format-section.ts'

/** Most decimals that are shown. */
const maximumDecimals = 30

interface Pattern {
  /** Places before and after the decimal point, in order. */
  whole: string[]
  decimals: string[]
  hasPoint: boolean
  percents: number
  thousands: number
  isGrouped: boolean
  exponent: { sign: string; places: number } | null
  /** The tokens in order; places of digits refer to `whole` and `decimals`. */
  parts: Part[]
}

type Part =
  | { kind: 'literal'; text: string }
  | { kind: 'whole' | 'decimal'; index: number }
  | { kind: 'point' | 'exponent' }

/** A number in a pattern of `0`, `#` and `?`; null where the pattern is not understood. */
export function formatDigits(value: number, tokens: readonly Token[]): string | null {
  const fraction = tokens.findIndex(({ kind, text }) => kind === 'code' && text === '/')
  if (fraction !== -1) return formatFraction(value, tokens)
  const pattern = readPattern(tokens)
  if (!pattern) return null
  const { whole, decimals, percents, thousands, exponent } = pattern
  if (whole.length + decimals.length === 0) return literalsOf(pattern, value)
  const scaled = Number((Math.abs(value) * 100 ** percents).toPrecision(15)) / 1000 ** thousands
  let mantissa = scaled
  let power = 0
  if (exponent && scaled !== 0) {
    power = Math.floor(Math.log10(scaled))
    mantissa = scaled / 10 ** power
  }
  const rounded = roundTo(mantissa, decimals.length)
  const [integer = '', fractionDigits = ''] = rounded.split('.')
  const isZero = /^[0.]*$/.test(rounded)
  const sign = value < 0 && !isZero ? '-' : ''
  return sign + fill(pattern, integer, fractionDigits, power)
}

function readPattern(tokens: readonly Token[]): Pattern | null {
  const pattern: Pattern = {
    whole: [],
    decimals: [],
    hasPoint: false,
    percents: 0,
    thousands: 0,
    isGrouped: false,
    exponent: null,
    parts: [],
  }
  for (const [index, token] of tokens.entries()) {
    const { kind, text } = token
    if (kind === 'elapsed') return null
    if (kind === 'literal') pattern.parts.push({ kind: 'literal', text })
    else if (/^[0#?]$/.test(text)) addPlace(pattern, text)
    else if (text === '.' && !pattern.hasPoint) {
      pattern.hasPoint = true
      pattern.parts.push({ kind: 'point' })
    } else if (text === ',') {
      const isBetween =
        pattern.whole.length > 0 && tokens.slice(index + 1).some(({ text: next }) => /^[0#?]$/.test(next))
      if (isBetween && !pattern.hasPoint) pattern.isGrouped = true
      else pattern.thousands += 1
    } else if (text === '%') {
      pattern.percents += 1
      pattern.parts.push({ kind: 'literal', text })
    } else if (/^E[+-]$/i.test(text)) {
      pattern.exponent = { sign: text[1]!, places: 0 }
      pattern.parts.push({ kind: 'exponent' })
    } else if (/^General$/i.test(text)) return null
    else pattern.parts.push({ kind: 'literal', text })
  }
  return pattern.decimals.length > maximumDecimals ? null : pattern
}

function addPlace(pattern: Pattern, text: string) {
  if (pattern.exponent) pattern.exponent.places += 1
  else if (pattern.hasPoint) pattern.parts.push({ kind: 'decimal', index: pattern.decimals.push(text) - 1 })
  else pattern.parts.push({ kind: 'whole', index: pattern.whole.push(text) - 1 })
}

/** A section without places, such as `"none"`; `@` shows the number. */
function literalsOf({ parts }: Pattern, value: number): string {
  return parts.map((part) => (part.kind !== 'literal' ? '' : part.text === '@' ? String(value) : part.text)).join('')
}

/** Rounds decimal digits and not their binary form: 1.005 is 1.01. */
function roundTo(value: number, decimals: number): string {
  const shifted = Number(`${value}e${decimals}`)
  if (String(value).includes('e') || shifted >= 1e15) return value.toFixed(decimals)
  const digits = String(Math.round(shifted)).padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

function fill(
  { whole, decimals, isGrouped, exponent, parts }: Pattern,
  integer: string,
  fraction: string,
  power: number,
) {
  const least = whole.filter((place) => place === '0').length
  const digits = (integer === '0' ? '' : integer).padStart(least, '0')
  // The first place takes all digits that the others leave.
  const texts = whole.map((_, index) => {
    const to = digits.length - (whole.length - 1 - index)
    return index === 0 ? digits.slice(0, Math.max(0, to)) : to > 0 ? digits.slice(to - 1, to) : ''
  })
  if (isGrouped) groupDigits(texts, digits.length)
  const shown = Math.max(decimals.findLastIndex((place, index) => place === '0' || fraction[index] !== '0') + 1, 0)
  return parts
    .map((part) => {
      switch (part.kind) {
        case 'literal':
          return part.text
        case 'whole':
          return texts[part.index]!
        case 'decimal':
          return part.index < shown ? fraction[part.index]! : ''
        case 'point':
          return shown > 0 || decimals.length === 0 ? '.' : ''
        case 'exponent': {
          const sign = power < 0 ? '-' : exponent!.sign === '+' ? '+' : ''
          return `E${sign}${String(Math.abs(power)).padStart(exponent!.places, '0')}`
        }
      }
    })
    .join('')
    .trim()
}

/** Puts a comma after every third digit from the right. */
function groupDigits(texts: string[], count: number) {
  let left = count
  for (const [index, text] of texts.entries()) {
    texts[index] = [...text]
      .map((digit) => {
        left -= 1
        return left > 0 && left % 3 === 0 ? `${digit},` : digit
      })
      .join('')
  }
}

/** `# ?/?` and `# ??/??`; larger denominators are shown as the plain number. */
function formatFraction(value: number, tokens: readonly Token[]): string | null {
  const code = tokens.map(({ text }) => text).join('')
  const [, before = '', denominatorCode = ''] = /^(.*?)[#?0]+\/([#?\d]+)$/.exec(code.trim()) ?? []
  if (denominatorCode === '') return null
  const fixed = /^[1-9]\d*$/.test(denominatorCode) ? Number(denominatorCode) : null
  const magnitude = Math.abs(value)
  const integer = /[#?0]/.test(before) ? Math.floor(magnitude) : 0
  const rest = magnitude - integer
  const candidates = fixed
    ? [fixed]
    : Array.from({ length: denominatorCode.length > 1 ? 99 : 9 }, (_, index) => index + 1)
  let best = { numerator: 0, denominator: 1, error: Infinity }
  for (const denominator of candidates) {
    const numerator = Math.round(rest * denominator)
    const error = Math.abs(rest - numerator / denominator)
    if (error < best.error - 1e-12) best = { numerator, denominator, error }
  }
  const { numerator, denominator } = best
  const sign = value < 0 ? '-' : ''
  if (numerator === 0) return `${sign}${integer}`
  if (numerator === denominator && !fixed) return `${sign}${integer + 1}`
  return `${sign}${integer > 0 ? `${integer} ` : ''}${numerator}/${denominator}`
}
