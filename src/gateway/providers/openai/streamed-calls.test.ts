import { describe, expect, test } from 'vitest'
import { bytesOf } from '../../../../test/harness/provider-call.ts'
import { foldStream } from '../../../../test/harness/recorded-wire.ts'
import { createAdapter } from '../create-provider.ts'

type Delta = { index?: number; id?: string; name?: string; args?: unknown }[]

function callsOf(...chunks: Delta[]) {
  const lines = chunks.map((calls) => {
    const tool_calls = calls.map(({ index, id, name, args }) => ({ index, id, function: { name, arguments: args } }))
    return JSON.stringify({ id: 'c', created: 1, choices: [{ index: 0, delta: { tool_calls } }] })
  })
  const end = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })
  const body = bytesOf([...lines, end, '[DONE]'].map((data) => `data: ${data}\n\n`).join(''))
  const adapter = createAdapter({ id: 'x', format: 'openai', flavour: 'generic', baseUrl: 'https://example.org' })
  return foldStream(adapter.createStreamReader(), [body]).toolCalls
}

const argumentsOf = (...chunks: Delta[]) =>
  callsOf(...chunks).map(({ name, argumentsJson }) => `${name} ${argumentsJson}`)

describe('tool calls of a stream', () => {
  test.each<[string, string[], Delta[]]>([
    ['whole', ['a {"x":1}'], [[{ index: 0, id: '1', name: 'a', args: '{"x":1}' }]]],
    ['an object', ['a {"x":1}'], [[{ index: 0, id: '1', name: 'a', args: { x: 1 } }]]],
    [
      'in pieces',
      ['a {"x":1}'],
      [[{ index: 0, id: '1', name: 'a', args: '' }], [{ index: 0, args: '{"x"' }], [{ index: 0, args: ':1}' }]],
    ],
    [
      'cumulative',
      ['a {"x":12}'],
      [
        [{ index: 0, id: '1', name: 'a', args: '{"x"' }],
        [{ index: 0, args: '{"x":1' }],
        [{ index: 0, args: '{"x":12}' }],
      ],
    ],
    [
      'sent twice',
      ['a {"x":1}'],
      [[{ index: 0, id: '1', name: 'a', args: '{"x":' }], [{ index: 0, args: '1}' }], [{ index: 0, args: '{"x":1}' }]],
    ],
    [
      'after an empty object',
      ['a {"x":1}'],
      [[{ index: 0, id: '1', name: 'a', args: '{}' }], [{ index: 0, args: '{"x":1}' }]],
    ],
    ['an empty object', ['a {}'], [[{ index: 0, id: '1', name: 'a', args: '{}' }]]],
    [
      'that repeat their beginning',
      ['a {"x":{"x":1}}'],
      [[{ index: 0, id: '1', name: 'a', args: '{"x":' }], [{ index: 0, args: '{"x":1}' }], [{ index: 0, args: '}' }]],
    ],
    [
      'several in one chunk',
      ['a {}', 'b {"y":2}'],
      [
        [
          { index: 0, id: '1', name: 'a', args: '{}' },
          { index: 1, id: '2', name: 'b', args: '{"y":2}' },
        ],
      ],
    ],
    [
      'several without index and id',
      ['a {"x":1}', 'a {"x":1}'],
      [
        [
          { name: 'a', args: '{"x":1}' },
          { name: 'a', args: '{"x":1}' },
        ],
      ],
    ],
    [
      'one after the other without index and id',
      ['a {"x":1}', 'a {"x":2}'],
      [[{ name: 'a', args: '{"x":1}' }], [{ name: 'a', args: '{"x":2}' }]],
    ],
    [
      'with a repeated name',
      ['a {"x":1}'],
      [[{ index: 0, id: '1', name: 'a', args: '{"x"' }], [{ index: 0, id: '1', name: 'a', args: ':1}' }]],
    ],
    ['not JSON', ['a {"x":'], [[{ index: 0, id: '1', name: 'a', args: '{"x":' }]]],
  ])('have their arguments once: %s', (_, expected, chunks) => expect(argumentsOf(...chunks)).toEqual(expected))

  test('have ids that differ and are the same in each reading, where the host gives none', () => {
    const read = () =>
      callsOf([
        { name: 'a', args: '{}' },
        { name: 'a', args: '{}' },
      ]).map(({ id }) => id)
    expect(new Set(read()).size).toBe(2)
    expect(read()).toEqual(read())
    expect(read().every((id) => /^call_[0-9a-f]{24}$/.test(id))).toBe(true)
  })
})

test('several choices of a stream keep their texts apart, if they were requested', () => {
  const chunks = [
    {
      choices: [
        { index: 1, delta: { content: 'B' } },
        { index: 0, delta: { content: 'A' } },
      ],
    },
    { choices: [{ index: 1, delta: {}, finish_reason: 'length' }] },
    {
      choices: [
        {
          index: 0,
          delta: {},
          finish_reason: 'stop',
          logprobs: { content: [{ token: 'A', logprob: -1, bytes: [65], top_logprobs: [] }] },
        },
      ],
    },
  ]
  const body = bytesOf(
    [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
  )
  const reader = createAdapter({ id: 'x', format: 'openai' }).createStreamReader({ messages: [], choices: 2 })
  expect([...reader.push(body), ...reader.end()]).toEqual([
    { type: 'text', text: 'B', choice: 1 },
    { type: 'text', text: 'A' },
    { type: 'logprobs', logprobs: [{ token: 'A', logprob: -1, bytes: [65], top: [] }] },
    { type: 'choice_finish', choice: 1, finishReason: 'length', wireFinishReason: 'length' },
    { type: 'finish', finishReason: 'stop', wireFinishReason: 'stop' },
  ])
})
