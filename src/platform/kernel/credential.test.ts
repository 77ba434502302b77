import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCredential, isWellFormed, lookupHash, storedLookupHash } from './ids.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** A credential from given bytes, so that a failing case can be made again. */
const anyCredential = fc
  .tuple(fc.constantFrom('ptc_' as const, 'pto_' as const), fc.uint8Array({ minLength: 68, maxLength: 68, max: 247 }))
  .map(([prefix, bytes]) => ({ prefix, ...createCredential(prefix, () => bytes) }))

describe('API keys and operator tokens', () => {
  test('have the documented shape and are well formed', () => {
    for (const prefix of ['ptc_', 'pto_'] as const) {
      const { secret, stored } = createCredential(prefix)
      expect(secret).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{40}$`))
      expect(isWellFormed(secret, prefix)).toBe(true)
      expect(stored.prefix).toBe(secret.slice(0, 8))
      expect(stored.lastFour).toBe(secret.slice(-4))
      expect(storedLookupHash(stored.hash)).toBe(lookupHash(secret))
      expect(stored.hash).toHaveLength(32)
    }
  })

  test('any single wrong character is caught', () => {
    fc.assert(
      fc.property(anyCredential, fc.nat(39), fc.constantFrom(...base62), ({ prefix, secret }, position, character) => {
        const at = prefix.length + position
        fc.pre(secret[at] !== character)
        expect(isWellFormed(secret.slice(0, at) + character + secret.slice(at + 1), prefix)).toBe(false)
      }),
      { numRuns: 2_000 },
    )
  })

  test('two neighbours that changed places are caught', () => {
    fc.assert(
      fc.property(anyCredential, fc.nat(38), ({ prefix, secret }, position) => {
        const at = prefix.length + position
        fc.pre(secret[at] !== secret[at + 1])
        const swapped = secret.slice(0, at) + secret[at + 1]! + secret[at]! + secret.slice(at + 2)
        expect(isWellFormed(swapped, prefix)).toBe(false)
      }),
      { numRuns: 2_000 },
    )
  })

  test('one kind never passes for the other', () => {
    const { secret } = createCredential('ptc_')
    expect(isWellFormed(secret, 'pto_')).toBe(false)
    expect(isWellFormed(secret.replace('ptc_', 'pto_'), 'pto_')).toBe(false)
  })

  test('a lost, an added or a foreign character is caught', () => {
    const { secret } = createCredential('ptc_')
    for (const wrong of [
      '',
      'ptc_',
      secret.slice(0, -1),
      `${secret}0`,
      ` ${secret}`,
      `${secret}\n`,
      secret.replace(/.$/, 'é'),
    ]) {
      expect(isWellFormed(wrong, 'ptc_')).toBe(false)
    }
  })

  test('bytes that would favour some characters are not used', () => {
    let calls = 0
    const { secret } = createCredential('ptc_', (size) => new Uint8Array(size).fill(calls++ === 0 ? 255 : 61))
    expect(secret.slice(4, 38)).toBe('z'.repeat(34))
    expect(calls).toBe(2)
  })
})
