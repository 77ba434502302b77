import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesOf } from '../../../../test/harness/provider-call.ts'
import { errorOf } from '../../../../test/harness/recorded-wire.ts'
import { foldStream, pieces, seededRandom } from '../../../../test/upstream/fold-answer.ts'
import type { ProviderEvent } from '../port.ts'
import { createOpenAiAdapter } from './index.ts'

function reader(flavour = 'generic') {
  return createOpenAiAdapter({
    id: 'x',
    format: 'openai',
    flavour,
    baseUrl: 'http://host.test/v1',
  }).createStreamReader()
}

function readAll(body: string, flavour?: string): ProviderEvent[] {
  const stream = reader(flavour)
  return [...stream.push(bytesOf(body)), ...stream.end()]
}

function chunk(delta: object, more: object = {}, choice: object = {}): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null, ...choice }],
    ...more,
  }
}

function sse(chunks: (object | string)[], end = '\n\n'): string {
  return chunks.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}${end}`).join('')
}

const finish = chunk({}, {}, { finish_reason: 'stop' })

describe('text chunks', () => {
  /** Hosts differ in the position of padding, in additional fields and in the spacing of JSON. */
  const shapes: fc.Arbitrary<(text: string, padding: string) => string>[] = [
    fc.constant((text, padding) => JSON.stringify(chunk({ content: text }, { obfuscation: padding }))),
    fc.constant((text, padding) =>
      JSON.stringify({ obfuscation: padding, ...chunk({ content: text, role: 'assistant' }) }),
    ),
    fc.constant((text, padding) => JSON.stringify({ p: padding, ...chunk({ role: 'assistant', content: text }) })),
    fc.constant((text) =>
      JSON.stringify(chunk({ content: text, reasoning_content: null, tool_calls: [] }, { usage: null })),
    ),
    fc.constant((text) => JSON.stringify(chunk({ content: text })).replaceAll(':', ': ')),
    fc.constant((text) => JSON.stringify(chunk({ content: text }, { model: 'content":"' }))),
  ]

  test('give the same text for every shape and every split of the bytes', () => {
    fc.assert(
      fc.property(
        fc.oneof(...shapes),
        fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })), { maxLength: 12 }),
        fc.constantFrom('\n\n', '\r\n\r\n', '\r\r'),
        fc.integer(),
        (shape, texts, end, seed) => {
          // The spacing shape above would change a colon in a text.
          const clean = texts.map((text) => text.replaceAll(':', ';').toWellFormed())
          const body = sse([...clean.map((text, at) => shape(text, 'x'.repeat(at % 4))), finish, '[DONE]'], end)
          const random = seededRandom(seed)
          for (const next of [() => body.length * 4, () => 1, () => 1 + Math.floor(random() * 90)]) {
            const answer = foldStream(reader(), pieces(bytesOf(body), next))
            expect(answer.text).toBe(clean.join(''))
            expect(answer.finishReason).toBe('stop')
          }
        },
      ),
      { numRuns: 150 },
    )
  })

  test('with malformed JSON fail the stream', () => {
    const plain = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    for (const text of ['\\x', '\\u12', 'a\tb']) {
      const stream = reader()
      stream.push(bytesOf(plain + plain))
      const error = errorOf(() => stream.push(bytesOf(plain.replace('"a"', `"${text}"`))))
      expect(error.errorClass).toBe('connection')
    }
  })

  test('of another choice are ignored', () => {
    const other = { ...chunk({ content: 'other' }), choices: [{ index: 1, delta: { content: 'other' } }] }
    const body = sse([chunk({ content: 'a' }), other, other, chunk({ content: 'b' }), finish, '[DONE]'])
    expect(foldStream(reader(), [bytesOf(body)]).text).toBe('ab')
  })
})

describe('the end of a stream', () => {
  test('is a finish reason, with or without [DONE]', () => {
    const text = chunk({ content: 'a' })
    for (const tail of [[finish, '[DONE]'], [finish]]) {
      expect(foldStream(reader(), [bytesOf(sse([text, ...tail]))]).finishReason).toBe('stop')
    }
    for (const tail of [[], ['[DONE]']]) {
      const error = errorOf(() => readAll(sse([text, ...tail])))
      expect(error).toMatchObject({ errorClass: 'connection', afterFirstByte: true, retryable: false })
    }
  })

  test('is recognised if the last event lacks its empty line', () => {
    const body = sse([chunk({ content: 'a' }), finish]) + 'data: [DONE]'
    expect(foldStream(reader(), [bytesOf(body)]).finishReason).toBe('stop')
  })

  test('emits finish and usage once, although hosts repeat them', () => {
    const usage = (completion: number) => ({ usage: { prompt_tokens: 3, completion_tokens: completion } })
    const body = sse([
      chunk({ content: 'a' }, usage(1)),
      chunk({}, usage(2), { finish_reason: 'stop' }),
      chunk({}, usage(5), { finish_reason: 'stop' }),
      '[DONE]',
    ])
    const events = readAll(body)
    expect(events.filter((event) => event.type === 'finish')).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ type: 'usage', usage: { promptTokens: 3, completionTokens: 5 } })
  })

  test('is a failure if the host aborted', () => {
    for (const word of ['error', 'insufficient_system_resource', 'abort']) {
      const body = sse([chunk({ content: 'a' }), chunk({}, {}, { finish_reason: word }), '[DONE]'])
      expect(errorOf(() => readAll(body)).retryable).toBe(false)
    }
  })
})

describe('errors inside a stream', () => {
  test.each([
    [
      'a named event',
      'event: error\ndata: {"error":{"message":"Tool call failed","type":"invalid_request_error"}}\n\n',
      'invalid_request',
    ],
    [
      'an error next to choices',
      sse([{ id: 'x', error: { message: 'Provider down', code: 502 }, choices: [] }]),
      'server_error',
    ],
    [
      'an error in a choice',
      sse([{ choices: [{ index: 0, delta: {}, error: { message: 'Slow down', code: 429 } }] }]),
      'rate_limit',
    ],
    ['a flat error', sse([{ object: 'error', message: 'overloaded', code: 503 }]), 'overloaded'],
    ['a flat message', sse([{ message: 'Service tier capacity exceeded', type: 'rate_limit_error' }]), 'rate_limit'],
  ])('%s ends it with its class', (_what, tail, errorClass) => {
    const stream = reader()
    const events = stream.push(bytesOf(sse([chunk({ content: 'half' })]) + tail))
    expect(events).toMatchObject([{ type: 'text', text: 'half' }])
    expect(stream.pendingError?.()).toMatchObject({ errorClass, afterFirstByte: true, retryable: false })
  })

  test('before any part of an answer are retryable', () => {
    expect(errorOf(() => readAll(sse([{ error: { message: 'Slow down', code: 429 } }])))).toMatchObject({
      errorClass: 'rate_limit',
      retryable: true,
      afterFirstByte: false,
    })
  })
})

describe('tool calls', () => {
  const call = (piece: object) => chunk({ tool_calls: [piece] })

  test('are joined from pieces, whatever the host’s numbering', () => {
    const body = sse([
      call({ index: 0, id: 'a', function: { name: 'one', arguments: '{"x"' } }),
      call({ index: 0, function: { arguments: ':1}' } }),
      call({ index: 0, id: 'b', function: { name: 'two', arguments: '{}' } }),
      call({ id: 'c', function: { name: 'three', arguments: { y: 2 } } }),
      chunk({}, {}, { finish_reason: 'tool_calls' }),
      '[DONE]',
    ])
    expect(foldStream(reader(), [bytesOf(body)]).toolCalls).toEqual([
      { id: 'a', name: 'one', argumentsJson: '{"x":1}' },
      { id: 'b', name: 'two', argumentsJson: '{}' },
      { id: 'c', name: 'three', argumentsJson: '{"y":2}' },
    ])
  })

  test('change a `stop` to tool_calls only for hosts that mean it so', () => {
    const body = sse([call({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } }), finish, '[DONE]'])
    expect(foldStream(reader('ollama'), [bytesOf(body)]).finishReason).toBe('tool_calls')
    expect(foldStream(reader('openai'), [bytesOf(body)]).finishReason).toBe('stop')
  })
})

test('comments, unknown fields, a byte order mark and events without data are ignored', () => {
  const body = `\ufeff: hello\n\nid: 7\nretry: 10\n\nevent: ping\n\n${sse([chunk({ content: 'a' }), finish, '[DONE]'])}`
  expect(foldStream(reader(), [bytesOf(body)]).text).toBe('a')
})
