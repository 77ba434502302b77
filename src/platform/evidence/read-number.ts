/** How numbers are written: group and decimal signs, digits of all scripts. Pure. */

/** Digits with group and decimal signs in between; a space groups after three digits at most: "in 2023 310" has two. Linear: no sign may follow a sign. */
export const numberPattern = String.raw`(?:\d{1,3}(?: \d{3}(?!\d))+|\d+)(?:[.,'’]\d+)*`

/** Code points of the digit zero of other scripts; the other nine follow. */
const zeros = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040, 0x17e0,
]

const fractions: Record<string, string> = { '¼': '.25', '½': '.5', '¾': '.75', '⅓': '.333', '⅔': '.667' }

/** NFKC with ASCII digits, vulgar fractions as decimals, and exponents removed: "5 m²" and "5 m2" have the number 5 only. */
export function normaliseNumerals(text: string): string {
  return text
    .replaceAll(/[⁰¹²³⁴-⁹₀-₉]+|(?<=(?<!\p{L})(?:[kcdm]?m|ft|in))[23](?![\p{L}\p{N}])/gu, ' ')
    .replaceAll(/(\d?)([¼½¾⅓⅔])/gu, (_, whole: string, fraction: string) => `${whole || '0'}${fractions[fraction]}`)
    .normalize('NFKC')
    .replaceAll(/\p{Nd}/gu, toAscii)
}

/** A text with the decimal digits of all scripts as ASCII digits. */
export function asciiDigits(text: string): string {
  return text.replaceAll(/(?![0-9])\p{Nd}/gu, toAscii)
}

function toAscii(digit: string): string {
  const point = digit.codePointAt(0)!
  const zero = zeros.find((start) => point >= start && point < start + 10)
  return zero === undefined ? digit : String(point - zero)
}

/**
 * What a written number may mean: several readings, each of one or more numbers. "1.234" is 1234 or 1.234; "05.03.2019" has three
 * numbers.
 */
export function readNumber(written: string): number[][] {
  const groups = written.split(/\D/)
  if (groups.length === 1) return [[Number(written)]]
  const signs = [...written.replaceAll(/\d/g, '')]
  const lastSign = signs.at(-1)!
  const parts = groups.map(Number)
  const isGrouped = (count: number) =>
    /^[1-9]\d{0,2}$/.test(groups[0]!) && groups.slice(1, count).every((group) => group.length === 3)
  const oneSign = new Set(signs).size === 1
  const decimal = [Number(`${groups.slice(0, -1).join('')}.${groups.at(-1)}`)]
  if (signs.length === 1) {
    if (lastSign === ' ') return isGrouped(2) ? [[Number(groups.join(''))], parts] : [parts]
    const readings = isGrouped(2) ? [[Number(groups.join(''))], decimal] : [decimal]
    // "1990,1991" is a list without spaces.
    return lastSign === ',' && groups[0]!.length > 3 ? [...readings, parts] : readings
  }
  if (oneSign) return isGrouped(groups.length) ? [[Number(groups.join(''))]] : [parts]
  const isDecimal = signs.slice(0, -1).every((sign) => sign === signs[0] && sign !== lastSign)
  return isDecimal && isGrouped(groups.length - 1) ? [decimal] : [parts]
}

/** Rounds away the error of binary fractions: 1.1 * 1e6 is 1100000. */
export function exact(value: number): number {
  return Number(value.toPrecision(12))
}

/** The place of the last digit that is not zero: 1e5 for 1,200,000 and 0.1 for 3.5. */
export function precisionOf(value: number): number {
  if (value === 0) return 1
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  return 10 ** (Number(exponent) - (mantissa.split('.')[1]?.length ?? 0))
}
