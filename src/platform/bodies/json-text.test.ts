import { expect, it } from 'vitest'
import { expectCost } from '../../../test/harness/timing.ts'
import { JsonText } from './json-text.ts'

const counts = { leads: 0, shortEscapes: 0, longEscapes: 0 }
const textOf = (...slices: Buffer[]) => new JsonText(slices, counts)
const alphabet = /^[A-Za-z0-9+/=\\]$/

it('finds each byte that is not of base64, at each place of a step and of its rest', () => {
  for (let byte = 0; byte < 256; byte++) {
    const isOfBase64 = alphabet.test(String.fromCharCode(byte))
    for (const length of [16, 20, 36]) {
      for (let at = 0; at < length; at++) {
        const bytes = Buffer.alloc(length, 'A')
        bytes[at] = byte
        expect(textOf(bytes).isBase64(), `${byte} at ${at} of ${length}`).toBe(isOfBase64)
      }
    }
  }
})

it('finds a byte that is not of base64 in every slice and behind the bytes of one scan', () => {
  const long = Buffer.alloc(200_000, 'QUJD')
  expect(textOf(long, long).isBase64()).toBe(true)
  for (const at of [65_535, 65_536, 199_999]) {
    const damaged = Buffer.from(long)
    damaged[at] = 0x2d
    expect(textOf(long, damaged).isBase64()).toBe(false)
  }
})

it('counts an escaped slash as one character of base64, and takes no other length', () => {
  expect(new JsonText([Buffer.from('AA\\/A')], { ...counts, shortEscapes: 1 }).isBase64()).toBe(true)
  expect(textOf(Buffer.from('AAAAA')).isBase64()).toBe(false)
  expect(new JsonText([Buffer.from('AAAA')], { ...counts, longEscapes: 1 }).isBase64()).toBe(false)
})

it('checks base64 in less time than it takes to decode it', async () => {
  const bytes = Buffer.alloc(2_000_000, 'QUJD')
  const text = textOf(bytes)
  await expectCost(
    () => expect(text.isBase64()).toBe(true),
    () => Buffer.from(bytes.toString('latin1'), 'base64'),
    1.5,
    'the check',
  )
})
