import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { completionRequestSchema } from '../../contract/gateway.ts'
import { readJson, readLongBody } from '../../platform/bodies/index.ts'
import { completionBody, type ReadCompletion } from './parse-completion.ts'
import { readUsualRequest } from './usual-request.ts'

const usual = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }

/** Values of every kind for every field, near their limits, so that the two readers can differ in each rule. */
const anyValue = fc.oneof(
  fc.constantFrom(
    undefined,
    null,
    true,
    false,
    '',
    'END',
    0,
    1,
    2,
    -2,
    0.5,
    -2.01,
    2.01,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    2 ** 53 - 1,
  ),
  fc.constantFrom([], ['a'], {}, { include_usage: true }, { include_usage: null }, { include_usage: 1 }),
  fc.constantFrom({ include_usage: true, include_obfuscation: false }, { include_usage: true, other: 1 }),
  fc.constantFrom('x'.repeat(256), 'x'.repeat(257), 'x'.repeat(512), 'x'.repeat(513)),
)
const anyMessage = fc.oneof(
  fc.record(
    {
      role: fc.constantFrom('user', 'system', 'tool', 1),
      content: fc.oneof(fc.string(), anyValue),
      name: fc.constantFrom('Ann', null),
      refusal: fc.constantFrom('', 'no'),
    },
    { requiredKeys: ['role', 'content'] },
  ),
  fc.record({
    role: fc.constantFrom('user', 'assistant', 'developer'),
    content: fc.array(
      fc.oneof(
        fc.record(
          { type: fc.constantFrom('text', 'image'), text: fc.oneof(fc.string(), anyValue) },
          { requiredKeys: [] },
        ),
        anyValue,
      ),
      { maxLength: 3 },
    ),
    name: anyValue,
  }),
  anyValue,
)
const fieldNames = [...Object.keys(completionRequestSchema.shape), 'toString', '__proto__', 'unknown']
const anyBody = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...fieldNames), anyValue, { maxKeys: 4 }),
    fc.constantFrom(usual, {}),
    fc.option(fc.array(anyMessage, { maxLength: 3 }), { nil: undefined }),
  )
  .map(([fields, base, messages]) => ({ ...fields, ...base, ...(messages && { messages }) }))

const outcome = (read: () => unknown) => {
  try {
    return { read: read() }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

describe('a request of usual fields', () => {
  it('reads as the schema reads it, or is left to the schema', () => {
    fc.assert(
      fc.property(anyBody, (body) => {
        const read = readUsualRequest(body)
        if (read !== undefined) expect(read).toEqual(completionRequestSchema.parse(body))
      }),
      { numRuns: 3_000 },
    )
  })

  it('reads as the scan and the schema read it, or is left to them', () => {
    let usualOnes = 0
    fc.assert(
      fc.property(anyBody, (body) => {
        const text = JSON.stringify(body)
        const found = outcome(() => completionBody.readUsual!(JSON.parse(text)))
        if ('read' in found && found.read === undefined) return
        usualOnes++
        expect(found).toEqual(outcome(() => readJson(Buffer.from(text), completionBody)))
      }),
      { numRuns: 3_000 },
    )
    // 59 on average.
    expect(usualOnes).toBeGreaterThan(20)
  })

  it('with long texts reads while it arrives as the scan and the schema read it, or is left to them', () => {
    const long = fc
      .tuple(fc.constantFrom('a ', '\n', '"', '漢', ' ', '😀'), fc.integer({ min: 100, max: 700 }))
      .map(([unit, count]) => unit.repeat(count))
    const messages = fc.array(
      fc.record({ role: fc.constantFrom('user', 'system', 'assistant'), content: fc.oneof(long, fc.string()) }),
      { minLength: 1, maxLength: 4 },
    )
    let read = 0
    fc.assert(
      fc.property(anyBody, messages, (fields, of) => {
        const bytes = Buffer.from(JSON.stringify({ ...fields, model: 'm', messages: of }))
        const arriving = completionBody.startLong!()
        arriving.push(bytes.subarray(0, bytes.length / 2))
        arriving.push(bytes.subarray(bytes.length / 2))
        const found = outcome(() => arriving.finish())
        if ('read' in found && found.read === undefined) return
        read++
        const expected = outcome(() => readJson(Buffer.from(bytes), completionBody))
        // The estimates differ: those of texts that are not decoded are of a sample.
        const comparable = (value: object) =>
          JSON.parse(JSON.stringify(value, (name, member) => (name === 'promptEstimate' ? undefined : member)))
        expect(comparable(found)).toEqual(comparable(expected))
        const bound = (value: object) => (value as { read?: ReadCompletion }).read?.promptEstimate.bound ?? 0
        expect(bound(found)).toBeGreaterThanOrEqual(bound(expected))
      }),
      { numRuns: 1_000 },
    )
    expect(read).toBeGreaterThan(50)
  })

  it('with long texts reads in a thread as the scan and the schema read it', () => {
    const long = fc
      .tuple(fc.constantFrom('a ', '\n', '"', '漢', ' ', '😀', '\ud83d'), fc.integer({ min: 1, max: 700 }))
      .map(([unit, count]) => unit.repeat(count))
    /** Rarely something that is not valid. */
    const mostly = <T, U>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<U>) =>
      fc.oneof({ weight: 30, arbitrary: usual }, rare)
    const part = fc.record({ type: mostly(fc.constant('text'), long), text: mostly(long, anyValue) })
    const parts = fc.array(part, { minLength: 1, maxLength: 3 })
    const message = fc.record(
      {
        role: mostly(fc.constant('user'), fc.oneof(fc.constant('system'), long)),
        content: mostly(fc.oneof(long, parts), anyValue),
        name: long,
        refusal: mostly(fc.constant(''), fc.option(long)),
      },
      { requiredKeys: ['role', 'content'] },
    )
    const field = fc.tuple(fc.constantFrom(...fieldNames), fc.oneof(anyValue, long))
    const fields = mostly(
      fc.constantFrom({}, { metadata: { a: 'b' } }, { stop: ['a', 'b'] }),
      fc.array(field, { minLength: 1, maxLength: 2 }).map((entries) => Object.fromEntries(entries) as object),
    )
    const messages = mostly(fc.array(mostly(message, long), { minLength: 1, maxLength: 3 }), long)
    const statuses = new Map<string, number>()
    fc.assert(
      fc.property(fields, messages, (other, of) => {
        const bytes = Buffer.from(JSON.stringify({ ...other, model: 'm', messages: of }))
        const found = outcome(() => readLongBody(Buffer.from(bytes), completionBody, 'json'))
        const expected = outcome(() => readJson(Buffer.from(bytes), completionBody))
        const comparable = (value: object) =>
          JSON.parse(JSON.stringify(value, (name, member) => (name === 'promptEstimate' ? undefined : member)))
        expect(comparable(found)).toEqual(comparable(expected))
        const kind = 'read' in found ? 'read' : 'refused'
        statuses.set(kind, (statuses.get(kind) ?? 0) + 1)
      }),
      { numRuns: 1_500 },
    )
    // 820 and 680 on average.
    expect(statuses.get('read')).toBeGreaterThan(200)
    expect(statuses.get('refused')).toBeGreaterThan(100)
  })

  it('leaves a text to the schema that may have too many characters', () => {
    const finish = (content: string) => {
      const arriving = completionBody.startLong!()
      arriving.push(Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })))
      return arriving.finish()
    }
    expect(finish('漢'.repeat(200_000))).toBeDefined()
    expect(finish('漢'.repeat(200_001))).toBeUndefined()
  })

  it('is not left to the schema', () => {
    const fields = {
      ...usual,
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 5,
      max_tokens: null,
      temperature: 2,
      top_p: 0,
      presence_penalty: -2,
      frequency_penalty: 2,
      seed: -7,
      stop: 'END',
      user: 'u'.repeat(512),
    }
    expect(readUsualRequest(fields)).toEqual(completionRequestSchema.parse(fields))
    const parts = { ...usual, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }] }
    expect(readUsualRequest(parts)).toEqual(completionRequestSchema.parse(parts))
  })
})
