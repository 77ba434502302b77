import { lookUp } from '../../../platform/kernel/index.ts'
/** Numbers as people write them in tables. Pure; linear in the text. */

export interface NumberFormat {
  decimal: '.' | ','
}

/** A number of a cell and what surrounds it. */
export interface WrittenNumber {
  value: number
  /** `%`, a currency or a unit of measure, as the cell has it; empty for a bare number. */
  unit: string
}

/** A longer cell is text. */
const maximumNumberLength = 60

/** Currencies that are written with letters; others are one sign (`\p{Sc}`) or three capitals (ISO 4217). */
const currency = String.raw`\p{Sc}|[A-Z]{1,3}\p{Sc}|[A-Z]{3}\b|S?Fr\.?|Rs\.?|kr\.?|zł|Kč|Ft|lei|лв\.?|руб\.?`
const minus = '[-−–‒]'
const digit = String.raw`\d[\d.,'’٬٫\s]*`
/** A word of magnitude or a unit of measure: letters and signs without digits. */
const word = String.raw`[\p{L}°µ%‰][\p{L}°µ/²³.]{0,11}`

/**
 * Sign, currency, digits in groups or without, fraction, exponent; then a minus sign, a magnitude, a percent sign, a currency or a unit; then
 * notes such as `[1]`, `(est.)` and `*`. Brackets around all of it mean a negative amount, as in accounting. `.–` is the Swiss form of `.00`.
 */
const shape = new RegExp(
  String.raw`^(?<open>\()?\s*(?<sign>[+]|${minus})?\s*(?:(?<before>${currency})\s*)?(?<inner>${minus})?` +
    String.raw`(?<digits>${digit}|[.,]\d+)(?<exponent>[eE][-+]?\d{1,3}\b)?(?:(?<=[.,])[-–—]{1,2}|(?<trailing>${minus}))?\s*` +
    String.raw`(?<after>${currency}|${word})?\s*(?<second>${currency})?\s*(?<close>\))?\s*(?:\[[^\]]{0,20}\]|\([^)]{0,30}\)|[*†‡§#^]){0,4}$`,
  'u',
)

/** Cells that stand for a missing value. */
const missing =
  /^(?:[-−–—?.…]{1,3}|n\/?a|n\.\s?a\.|#n\/a|none|null|nil|nan|tba|tbd|unknown|k\.\s?a\.|s\/o|n\/?d|н\/д)$/iu

/** Factors of words after a number. A single letter counts only without a space before it or with a currency: `5 m` is a length. */
const magnitudes: Readonly<Record<string, number>> = {
  k: 1e3,
  tsd: 1e3,
  thousand: 1e3,
  m: 1e6,
  mn: 1e6,
  mio: 1e6,
  mln: 1e6,
  million: 1e6,
  millions: 1e6,
  millionen: 1e6,
  bn: 1e9,
  mrd: 1e9,
  billion: 1e9,
  billions: 1e9,
  milliarden: 1e9,
}

export function isMissing(text: string): boolean {
  return text === '' || missing.test(text.trim())
}

/**
 * Which character separates the decimals in these cells; undefined where no cell decides it. A single separator before exactly three digits
 * is ambiguous, except in an amount of money, which has two decimals.
 */
export function findNumberFormat(cells: Iterable<string>): NumberFormat | undefined {
  let points = 0
  let commas = 0
  for (const cell of cells) {
    const match = matchShape(cell)
    if (match === null) continue
    const separator = decimalOf(match)
    if (separator === '.') points += 1
    else if (separator === ',') commas += 1
  }
  return commas === points ? undefined : { decimal: commas > points ? ',' : '.' }
}

/** The decimal separator that these digits prove; null where they prove none. */
function decimalOf({ digits, before, after }: Shape): '.' | ',' | null {
  const other = (separator: string) => (separator === '.' ? ',' : '.')
  const separators = digits.replaceAll(/[^.,]/g, '')
  const last = separators.at(-1)
  if (last === undefined) return null
  if (separators.includes(other(last))) return last as '.' | ','
  if (separators.length > 1) return other(last)
  const [whole = '', fraction = ''] = digits.split(last)
  if (fraction.length !== 3 || whole.length > 3 || whole === '' || whole.startsWith('0')) return last as '.' | ','
  const isMoney = new RegExp(`^(?:${currency})$`, 'u')
  return isMoney.test(before ?? '') || isMoney.test(after ?? '') ? other(last) : null
}

/** The number that a cell shows; null where it shows none. A percentage is its number before the sign. */
export function readNumber(cell: string, { decimal }: NumberFormat): WrittenNumber | null {
  const match = matchShape(cell)
  if (match === null || (match.open === undefined) !== (match.close === undefined)) return null
  const { digits } = match
  const isBoth = digits.includes('.') && digits.includes(',')
  // A cell with both separators decides by itself.
  const separator = isBoth ? decimalOf(match)! : decimal
  const parts = digits.split(separator)
  const [whole = '', fraction = ''] = parts
  if (parts.length > 2 || !/^\d*$/.test(fraction)) return null
  const plain = withoutGroups(whole, separator === '.' ? ',' : '.')
  if (plain === null) return null
  const { factor, unit } = readUnit(match)
  const value = Number(`${plain || '0'}.${fraction || '0'}${match.exponent ?? ''}`) * factor
  if (!Number.isFinite(value)) return null
  const minuses = [match.sign, match.inner, match.trailing].filter(isMinus).length + (match.open === undefined ? 0 : 1)
  return { value: minuses > 0 ? 0 - value : factor === 1 ? value : Number(value.toPrecision(15)), unit }
}

type Shape = NonNullable<ReturnType<typeof matchShape>>

function matchShape(cell: string) {
  if (cell.length > maximumNumberLength) return null
  const text = withAsciiDigits(cell.trim())
  if (!/\d/.test(text)) return null
  const groups = shape.exec(text)?.groups
  if (!groups) return null
  const { open, close, sign, before, inner, exponent, trailing, after, second } = groups
  const digits = groups.digits!.trim().replace(/(?<=\d)[.,]$/, '')
  const isAttached = after !== undefined && !/\s/.test(text[text.indexOf(groups.digits!) + groups.digits!.length - 1]!)
  return { open, close, sign, before, inner, exponent, trailing, after, second, digits, isAttached }
}

function readUnit({ before, after, second, isAttached }: Shape): { factor: number; unit: string } {
  const unit = [before, second].filter((part) => part !== undefined).join(' ')
  if (after === undefined) return { factor: 1, unit }
  const name = after.replace(/\.$/, '').toLowerCase()
  const factor = lookUp(magnitudes, name)
  // `5m` and `5 M` without a currency may be metres; `5k`, `5M` and `$5m` are amounts.
  const isAmount = name.length > 1 || unit !== '' || (isAttached && after !== 'm')
  if (factor !== undefined && isAmount) return { factor, unit }
  return { factor: 1, unit: [unit, after].filter((part) => part !== '').join(' ') }
}

const isMinus = (sign: string | undefined) => sign !== undefined && sign !== '+'

/** Digits without separators of thousands; null where the separators do not part groups of three (or two, as in India). */
function withoutGroups(whole: string, group: string): string | null {
  const parts = whole.split(new RegExp(`[\\s'’${group}]`, 'u'))
  if (!parts.every((part) => /^\d*$/.test(part))) return null
  if (parts.length === 1) return whole
  const [first, ...rest] = parts
  const isGrouped = first !== '' && first!.length <= 3 && rest.at(-1)!.length === 3
  return isGrouped && rest.every((part) => part.length === 3 || part.length === 2) ? parts.join('') : null
}

/** Decimal digits of other scripts, whose blocks begin with their zero (Unicode, general category Nd), and the Arabic separators. */
function withAsciiDigits(text: string): string {
  if (!/[\u0250-\u{10ffff}]/u.test(text)) return text
  return text
    .normalize('NFKC')
    .replaceAll(/(?![0-9])\p{Nd}/gu, (sign) => {
      let zero = sign.codePointAt(0)!
      while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && sign.codePointAt(0)! - zero < 9) zero -= 1
      return String(sign.codePointAt(0)! - zero)
    })
    .replaceAll('٫', '.')
    .replaceAll('٬', ',')
}
