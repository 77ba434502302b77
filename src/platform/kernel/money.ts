/**
 * Money is a bigint in one of two units, never a float:
 *   picoUsd, 1e-12 US dollar: budgets, holds, ledger entries. int8 in the database, so at most 9.2 million dollars a cell.
 *   attoUsd, 1e-18 US dollar: a price per token, and a sum of them before it is rounded once, up, to picoUsd.
 * Real price tables go down to 1e-8 dollars per token and carry up to 12 decimals (measured on three public tables,
 * 2026-08); 18 leave room for regional factors without losing a digit.
 */

export const picoUsdPerUsd = 1_000_000_000_000n
export const attoUsdPerPicoUsd = 1_000_000n
const attoDecimals = 18
const picoDecimals = 12

/** The largest amount that fits the database's int8 with room for sums: 4 million dollars. */
export const maximumPicoUsd = 4_000_000n * picoUsdPerUsd

/** Reads a decimal such as `2.5`, `0.00000015` or `1.5E-7` as attoUsd. Throws RangeError on anything else or on lost digits. */
export function parseAttoUsd(decimal: string | number): bigint {
  return parseDecimal(decimal, attoDecimals)
}

/** Reads a decimal amount of dollars as picoUsd. Throws RangeError on anything else or on lost digits. */
export function parsePicoUsd(decimal: string | number): bigint {
  return parseDecimal(decimal, picoDecimals)
}

/** Exact decimal text of an amount, without trailing zeros: `0.00045`. */
export function formatPicoUsd(picoUsd: bigint): string {
  return formatDecimal(picoUsd, picoDecimals)
}

export function formatAttoUsd(attoUsd: bigint): string {
  return formatDecimal(attoUsd, attoDecimals)
}

/** Rounds up to the next picoUsd; the only place where a cost is rounded. */
export function ceilToPicoUsd(attoUsd: bigint): bigint {
  return ceilDivide(attoUsd, attoUsdPerPicoUsd)
}

/** Division of non-negative integers that rounds up. */
export function ceilDivide(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

function parseDecimal(decimal: string | number, decimals: number): bigint {
  const match = /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(String(decimal).trim())
  if (!match) throw new RangeError(`not a decimal number: ${String(decimal)}`)
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const shift = decimals - fraction.length + Number(exponent)
  let digits = BigInt(whole + fraction)
  if (shift >= 0) digits *= 10n ** BigInt(shift)
  else {
    const divisor = 10n ** BigInt(-shift)
    if (digits % divisor !== 0n) throw new RangeError(`more than ${decimals} decimals: ${String(decimal)}`)
    digits /= divisor
  }
  return sign === '-' ? -digits : digits
}

/** Exact text of `value` with this many decimals, without trailing zeros. */
export function formatDecimal(value: bigint, decimals: number): string {
  const negative = value < 0n
  const digits = (negative ? -value : value).toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  return `${negative ? '-' : ''}${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`
}
