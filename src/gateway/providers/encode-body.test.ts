import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bodyBytes, encodeBody, hashBody } from './encode-body.ts'

const joined = (body: string | readonly Buffer[]) => (typeof body === 'string' ? body : Buffer.concat(body).toString())

describe('a body in slices', () => {
  const units = fc.constantFrom('a', '"', '\\', '\u0001', 'é', '漢', '😀', '\ud83d', '\ude00', '\u2028')
  const long = fc
    .array(fc.tuple(units, fc.integer({ min: 1, max: 70_000 })), { minLength: 8, maxLength: 12 })
    .map((runs) => runs.map(([unit, count]) => unit.repeat(count)).join(''))

  it('equals the output of JSON.stringify byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(long, fc.jsonValue({ maxDepth: 3 }), async (text, other) => {
        const value = { messages: [{ content: text }, {}, [], { absent: undefined, content: text }], other, n: -0.5 }
        const body = await encodeBody(value)
        const whole = JSON.stringify(value)
        expect(joined(body) === whole).toBe(true)
        expect(bodyBytes(body)).toBe(Buffer.byteLength(whole))
        expect(await hashBody(body)).toBe(createHash('sha256').update(whole).digest('hex'))
      }),
      { numRuns: 30 },
    )
  })

  it('is one text if the prompt is short', async () => {
    expect(await encodeBody({ a: ['b', null, 1] })).toBe('{"a":["b",null,1]}')
  })
})
