import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { chatSettingsSchema } from './gateway-v2-chat.ts'
import { messagesRequestSchema } from './gateway-v2-messages.ts'
import { responsesSettingsSchema } from './gateway-v2-responses.ts'
import { quickReader } from './quick-reader.ts'

type Field = z.core.$ZodType

/** Values near the limits of every kind, for places where the schema wants another one. */
const anyValue = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    '',
    'END',
    'auto',
    'high',
    0,
    1,
    2,
    -2,
    0.5,
    -2.01,
    2.01,
    2 ** 53,
    2 ** 53 - 1,
  ),
  fc.constantFrom<unknown>(
    Number.NaN,
    Number.POSITIVE_INFINITY,
    [],
    ['a'],
    {},
    [null],
    { type: 'text' },
    { type: 'other' },
  ),
  fc.constantFrom('x'.repeat(64), 'x'.repeat(65), '😀'.repeat(40), 'x'.repeat(512), 'x'.repeat(513), '😀'.repeat(300)),
  fc.constantFrom<unknown>({ effort: 'low', other: 1 }, { a: 'b' }, { a: 1 }, JSON.parse('{"__proto__": "a"}')),
)

/** Mostly valid values of a schema, of every alternative. */
function valuesOf(schema: Field, depth = 0): fc.Arbitrary<unknown> {
  const { def } = (schema as z.core.$ZodTypes)._zod
  const inner = (field: Field) => valuesOf(field, depth + 1)
  const mostly = (valid: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 60, arbitrary: valid }, { weight: 1, arbitrary: anyValue })
  switch (def.type) {
    case 'string':
      return mostly(fc.constantFrom('a', 'b_1', 'Hello', 'https://example.org/', 'bash_20250124'))
    case 'number':
      return mostly(fc.constantFrom(0, 1, 5))
    case 'boolean':
      return mostly(fc.boolean())
    case 'literal':
      return mostly(fc.constantFrom(...def.values))
    case 'enum':
      return mostly(fc.constantFrom(...Object.values(def.entries)))
    case 'array':
      return mostly(fc.array(inner(def.element), { minLength: 1, maxLength: 2 }))
    case 'record':
      return mostly(
        fc.dictionary(fc.constantFrom('a', 'b'), inner(def.valueType), { maxKeys: 2, noNullPrototype: true }),
      )
    case 'optional':
      return fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: inner(def.innerType) })
    case 'nullable':
      return fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 5, arbitrary: inner(def.innerType) })
    case 'pipe':
      return inner(def.in)
    case 'union':
      return fc.oneof(...(def.options as readonly Field[]).map((option) => inner(option)))
    case 'object':
      return mostly(objectOf(def.shape, inner))
    default:
      return fc.constantFrom<unknown>('a', 1, { a: [1] }, ['b'], null)
  }
}

/** As in a body: no member is undefined. Sometimes with one that the schema does not have. */
function objectOf(shape: Readonly<Record<string, Field>>, inner: (field: Field) => fc.Arbitrary<unknown>) {
  const members = Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, inner(field)]))
  return fc.tuple(fc.record(members), fc.constantFrom({}, {}, { other: 1 })).map(([read, other]) => ({
    ...Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)),
    ...other,
  }))
}

describe.each([
  ['chat completions', chatSettingsSchema],
  ['responses', responsesSettingsSchema],
  ['messages', messagesRequestSchema],
] as const)('the quick reader of %s', (_name, schema) => {
  const read = quickReader(schema as z.ZodObject)

  it('reads as the schema, or leaves the value to it', () => {
    const seen = { read: 0, left: 0, refused: 0 }
    fc.assert(
      fc.property(valuesOf(schema), (body) => {
        const quick = read(body)
        const parsed = schema.safeParse(body)
        if (!parsed.success) seen.refused++
        if (quick === undefined) {
          seen.left++
          return
        }
        seen.read++
        expect(parsed.success).toBe(true)
        expect(quick).toEqual(parsed.data)
      }),
      { numRuns: 2_000 },
    )
    expect(seen.read).toBeGreaterThan(200)
    expect(seen.refused).toBeGreaterThan(100)
    // Only texts that are long in units and short in characters are left to the schema although they are valid.
    expect(seen.left - seen.refused).toBeLessThan(seen.read / 10)
  })
})

describe('the quick reader', () => {
  it('leaves to the schema what it does not know', () => {
    const schema = z.object({
      when: z.iso.datetime().optional(),
      id: z.string().trim().optional(),
      size: z.coerce.number().optional(),
      list: z.array(z.string()).min(2).optional(),
    })
    const read = quickReader(schema)
    expect(read({ when: '2026-01-01T00:00:00Z', id: ' a ', size: '5', list: ['a', 'b'] })).toEqual({
      when: '2026-01-01T00:00:00Z',
      id: 'a',
      size: 5,
      list: ['a', 'b'],
    })
    expect(read({ when: 'today' })).toBeUndefined()
    expect(read({ list: ['a'] })).toBeUndefined()
  })

  it('reads no object with a default, and nothing else that is not known, without the schema', () => {
    const read = quickReader(z.object({ a: z.string().default('b') }))
    expect(read({})).toEqual({ a: 'b' })
    expect(read([])).toBeUndefined()
    expect(read(null)).toBeUndefined()
  })
})
