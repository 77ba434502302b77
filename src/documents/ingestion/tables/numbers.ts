/** Numbers as people write them in tables. Pure; linear in the text. */

export interface NumberFormat {
  decimal: '.' | ','
}

/** A longer cell is text. */
const maximumNumberLength = 60

/**
 * Sign, currency, digits in groups or without, fraction, exponent; then a percent sign, a currency or notes such as `[1]`, `(est.)` and
 * `*`. Brackets around all of it mean a negative amount, as in accounting.
 */
const shape =
  /^(?<open>\()?\s*(?<sign>[-+−–‒])?\s*(?:\p{Sc}|[A-Z]{3}\s|US\$|C\$|A\$)?\s*(?<inner>[-−–])?(?<digits>\d[\d.,'’\s]*|[.,]\d+)(?<exponent>[eE][-+]?\d{1,3})?\s*(?:%|‰|\p{Sc}|[A-Z]{3}\b)?\s*(?<close>\))?\s*(?:\[[^\]]{0,20}\]|\([^)]{0,30}\)|[*†‡§#^]){0,4}$/u

/** Cells that stand for a missing value. */
const missing = /^(?:[-−–—?.…]{1,3}|n\/?a|n\.a\.|none|null|nil|nan|tba|tbd|unknown)$/i

export function isMissing(text: string): boolean {
  return text === '' || missing.test(text)
}

/** Which character separates the decimals in these cells: a comma only where a cell shows it and none shows a point. */
export function chooseNumberFormat(cells: Iterable<string>): NumberFormat {
  let points = 0
  let commas = 0
  for (const cell of cells) {
    const digits = matchShape(cell)?.digits
    if (digits === undefined) continue
    if (/\.\d{3},\d|\d,\d{1,2}$|^,\d|\d,\d{4,}$/.test(digits) || /\.\d{3}\.\d{3}/.test(digits)) commas += 1
    if (/,\d{3}\.\d|\d\.\d{1,2}$|^\.\d|\d\.\d{4,}$/.test(digits) || /,\d{3},\d{3}/.test(digits)) points += 1
  }
  return { decimal: commas > points ? ',' : '.' }
}

/** The number that a cell shows, without percent sign, currency and notes; null where it shows none. */
export function parseNumber(cell: string, { decimal }: NumberFormat): number | null {
  const match = matchShape(cell)
  if (match === null || (match.open === undefined) !== (match.close === undefined)) return null
  const group = decimal === '.' ? ',' : '.'
  const [whole = '', fraction, ...rest] = match.digits.split(decimal)
  if (rest.length > 0 || (fraction !== undefined && !/^\d*$/.test(fraction))) return null
  const plain = withoutGroups(whole, group)
  if (plain === null) return null
  const value = Number(`${plain || '0'}.${fraction || '0'}${match.exponent ?? ''}`)
  if (!Number.isFinite(value)) return null
  const isNegative = match.open !== undefined || isMinus(match.sign) || isMinus(match.inner)
  return isNegative ? 0 - value : value
}

function matchShape(cell: string) {
  if (cell.length > maximumNumberLength || !/\d/.test(cell)) return null
  const groups = shape.exec(cell.trim())?.groups
  if (!groups) return null
  const { open, close, sign, inner, exponent } = groups
  return { open, close, sign, inner, exponent, digits: groups.digits!.trim() }
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
