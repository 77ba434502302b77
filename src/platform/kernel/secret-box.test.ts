import { describe, expect, it } from 'vitest'
import { createSecretBox } from './secret-box.ts'

const box = createSecretBox('a secret key of tests, 32 bytes or more')

describe('a sealed secret', () => {
  it('opens with the same key and context, and differs each time', () => {
    const [one, two] = [box.seal('sk-live', 'provider:a'), box.seal('sk-live', 'provider:a')]
    expect(one).not.toBe(two)
    expect(one).not.toContain('sk-live')
    expect(box.open(one, 'provider:a')).toBe('sk-live')
  })

  it('does not open in another place, with another key, or changed', () => {
    const sealed = box.seal('sk-live', 'provider:a')
    expect(() => box.open(sealed, 'provider:b')).toThrow()
    expect(() => createSecretBox('another secret key of 32 bytes or more').open(sealed, 'provider:a')).toThrow()
    for (let index = 3; index < sealed.length; index++) {
      const changed = sealed.slice(0, index) + (sealed[index] === 'A' ? 'B' : 'A') + sealed.slice(index + 1)
      // the last base64 character may carry bits that no byte holds
      if (Buffer.from(changed.slice(3), 'base64url').equals(Buffer.from(sealed.slice(3), 'base64url'))) continue
      expect(() => box.open(changed, 'provider:a')).toThrow()
    }
  })

  it('opens with the second key too, and is sealed with the first one again', () => {
    const former = box.seal('sk-live', 'provider:a')
    const next = createSecretBox('another secret key of 32 bytes or more', 'a secret key of tests, 32 bytes or more')
    expect(next.open(former, 'provider:a')).toBe('sk-live')
    const resealed = next.reseal(former, 'provider:a')!
    expect(() => box.open(resealed, 'provider:a')).toThrow()
    expect(next.open(resealed, 'provider:a')).toBe('sk-live')
    expect(next.reseal(resealed, 'provider:a')).toBeUndefined()
    expect(() => next.reseal(former, 'provider:b')).toThrow()
  })

  it('needs a key of at least 32 bytes', () => {
    expect(() => createSecretBox('short')).toThrow('32 bytes')
  })
})
