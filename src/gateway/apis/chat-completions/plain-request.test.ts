import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseChat } from './parse-request.ts'

/** Values of the usual fields, valid and not. */
const value = fc.constantFrom<unknown>(null, true, false, '', 'END', 0, 1, 2, 0.5, -2.01, 2 ** 53, 'x'.repeat(513), {
  include_usage: true,
})
const fields = fc.dictionary(
  fc.constantFrom(
    'stream',
    'stream_options',
    'max_completion_tokens',
    'max_tokens',
    'temperature',
    'top_p',
    'seed',
    'stop',
    'user',
  ),
  value,
  { maxKeys: 3, noNullPrototype: true },
)
const message = fc.record({
  role: fc.constantFrom('user', 'system', 'assistant', 'developer', 'tool'),
  content: fc.oneof(fc.constantFrom('Hello', ' ', '', 'x'.repeat(200_001)), value),
})

const outcome = (read: () => { ignored: string[] }) => {
  try {
    const { ignored, ...others } = read()
    return { read: { ...others, ignored: ignored.filter((name) => name !== 'unread') } }
  } catch (error) {
    const { message: words, param, code } = error as Error & { param?: string; code?: string }
    return { words, param, code }
  }
}

describe('a plain request of chat completions', () => {
  it('is read as any other one, with the same errors', () => {
    let accepted = 0
    fc.assert(
      fc.property(fields, fc.array(message, { minLength: 1, maxLength: 3 }), (more, messages) => {
        const body = () => structuredClone({ model: 'm', messages, ...more })
        const plain = outcome(() => parseChat(body()))
        // A body of which something was left out before is read in the usual way.
        expect(plain).toEqual(outcome(() => parseChat(body(), ['unread'])))
        if ('read' in plain) accepted++
      }),
      { numRuns: 2_000 },
    )
    expect(accepted).toBeGreaterThan(100)
  })
})
