import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ceilToPicoUsd, formatAttoUsd, formatPicoUsd, parseAttoUsd, parsePicoUsd } from './money.ts'

describe('money', () => {
  it('is read from decimals and powers of ten without losing a digit', () => {
    expect(parseAttoUsd('1.5E-7')).toBe(150_000_000_000n)
    expect(parseAttoUsd(0.0000003)).toBe(300_000_000_000n)
    expect(parsePicoUsd('50.00')).toBe(50_000_000_000_000n)
    expect(parsePicoUsd('-0.5')).toBe(-500_000_000_000n)
  })

  it('is refused where it is no decimal or has more digits than the unit', () => {
    for (const wrong of ['', 'abc', '1,5', '0x10', '1e', 'Infinity', 'NaN', '1.2.3'])
      expect(() => parsePicoUsd(wrong)).toThrow(RangeError)
    expect(() => parsePicoUsd('0.0000000000001')).toThrow('more than 12 decimals')
  })

  it('survives the way to text and back', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), (amount) => {
        expect(parsePicoUsd(formatPicoUsd(amount))).toBe(amount)
        expect(parseAttoUsd(formatAttoUsd(amount))).toBe(amount)
      }),
    )
  })

  it('is rounded up, never down, and by less than one unit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n }), (atto) => {
        const rounded = ceilToPicoUsd(atto) * 1_000_000n
        expect(rounded >= atto && rounded - atto < 1_000_000n).toBe(true)
      }),
    )
  })
})
