import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonText, readJson, readLongBody } from '../../platform/bodies/index.ts'
import { chatBody, type ReadChat, readConversation } from './chat-body.ts'

const outcome = (read: () => unknown) => {
  try {
    return { read: JSON.parse(JSON.stringify(read())) as ReadChat }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

describe('the body of a chat', () => {
  it('with long texts reads while it arrives and in a thread as the schema reads it', () => {
    const long = fc
      .tuple(fc.constantFrom('a ', '\n', '"', '漢', ' ', '😀', '\ud83d'), fc.integer({ min: 1, max: 700 }))
      .map(([unit, count]) => unit.repeat(count))
    /** Rarely something that is not valid or not usual. */
    const mostly = <T, U>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<U>) =>
      fc.oneof({ weight: 15, arbitrary: usual }, rare)
    const usual = fc.record({
      role: mostly(fc.constant('user'), fc.oneof(fc.constant('assistant'), long)),
      content: mostly(long, fc.constantFrom(null, 5, [], {})),
    })
    const message = mostly(usual, fc.oneof(long, fc.record({ role: fc.constant('user'), content: long, name: long })))
    const other = mostly(
      fc.constantFrom({}, { streaming: true }, { streaming: null }),
      fc.constantFrom({ streaming: 'yes' }, { unknown: 'a '.repeat(400) }),
    )
    let arrived = 0
    fc.assert(
      fc.property(other, fc.array(message, { maxLength: 3 }), (fields, messages) => {
        const bytes = Buffer.from(JSON.stringify({ ...fields, messages }))
        const expected = outcome(() => readJson(Buffer.from(bytes), chatBody))
        expect(outcome(() => readLongBody(Buffer.from(bytes), chatBody, 'json'))).toEqual(expected)
        const arriving = chatBody.startLong!()
        arriving.push(bytes.subarray(0, 300))
        arriving.push(bytes.subarray(300))
        const found = arriving.finish()
        if (!found) return
        arrived++
        expect({ read: JSON.parse(JSON.stringify(found)) }).toEqual(expected)
      }),
      { numRuns: 1_500 },
    )
    // 900 on average.
    expect(arrived).toBeGreaterThan(200)
  })

  it('has a text decoded that may have too many characters', () => {
    const body = (content: string) => Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }))
    const longest = '漢'.repeat(200_000)
    const { content } = readLongBody(body(longest), chatBody, 'json').messages[0]!
    expect((content as JsonText).toString()).toBe(longest)
    expect(() => readLongBody(body(`${longest}x`), chatBody, 'json')).toThrow('200000')
  })
})

describe('the conversation of a chat', () => {
  it('has its latest messages, as many as a model could read', async () => {
    const text = 'x'.repeat(200_000)
    const messages = Array.from({ length: 1_024 }, (_, index) => ({
      role: 'user' as const,
      content: `${index} ${text}`,
    }))
    const recent = await readConversation(messages)
    expect(recent.length).toBeGreaterThan(300)
    expect(recent.length).toBeLessThan(400)
    expect(recent.at(-1)).toEqual(messages.at(-1))
    expect(recent[0]).toEqual(messages.at(-recent.length))
  })
})
