import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../../platform/kernel/index.ts'
import type { CompletionEvent, WholeCompletion } from '../../gateway/index.ts'
import { type ReasoningReplay, unwrapReplay } from '../../providers/index.ts'
import { renderMessage } from './render-answer.ts'
import { createMessageStream } from './render-stream.ts'
import { foldEvents } from './testing/fold-events.ts'

const renderError = (error: AppError, request_id: string) => ({
  type: 'error' as const,
  error: { type: 'overloaded_error', message: error.message },
  request_id,
})

const identity = { id: 'msg_1', model: 'm' }
const usage = {
  promptTokens: 100,
  completionTokens: 9,
  cachedTokens: 30,
  cacheWriteTokens: 50,
  cacheWriteHourTokens: 20,
  reasoningTokens: 4,
}
const replay: ReasoningReplay = { format: 'openai', blocks: [{ type: 'reasoning', data: 'x' }] }
const finish = (finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter' = 'stop') =>
  ({ type: 'finish', finishReason, usage, estimated: false }) as CompletionEvent

function write(events: CompletionEvent[], options: { omitsThinking?: boolean } = {}): string {
  const stream = createMessageStream(identity, {
    promptTokensEstimate: 77,
    omitsThinking: false,
    renderError,
    ...options,
  })
  return stream.start() + events.map((event) => stream.event(event)).join('')
}

const fold = (events: CompletionEvent[], options = {}) => foldEvents(write(events, options)).message

function whole(fields: Partial<WholeCompletion>, omitsThinking = false) {
  const completion = { text: '', refusal: null, reasoningText: '', toolCalls: [], citations: [], ...fields }
  return JSON.parse(
    renderMessage({ finishReason: 'stop', usage, ...completion } as WholeCompletion, identity, { omitsThinking }),
  ) as Record<string, unknown>
}

const texts = fc.array(fc.string({ minLength: 1 }), { maxLength: 4 })
const call = fc.record({
  id: fc.string({ minLength: 1 }),
  name: fc.string({ minLength: 1 }),
  input: fc.dictionary(fc.string(), fc.jsonValue()),
  cuts: fc.array(fc.nat(), { maxLength: 4 }),
})

/** A text in pieces, some of them empty. */
function pieces(text: string, cuts: number[]): string[] {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((left, right) => left - right), text.length]
  return places.slice(1).map((place, index) => text.slice(places[index], place))
}

describe('an answer of any provider', () => {
  test('property: the fold of its events is the whole answer', () => {
    const answer = fc.record({
      reasoning: texts,
      text: texts,
      calls: fc.array(call, { maxLength: 3 }),
      signed: fc.boolean(),
    })
    fc.assert(
      fc.property(answer, ({ reasoning, text, calls, signed }) => {
        const toolCalls = calls.map(({ id, name, input }) => ({ id, name, argumentsJson: JSON.stringify(input) }))
        const events: CompletionEvent[] = [
          ...reasoning.map((part) => ({ type: 'reasoning' as const, text: part })),
          ...(signed ? [{ type: 'replay' as const, replay }] : []),
          ...text.map((part) => ({ type: 'text' as const, text: part })),
          ...toolCalls.flatMap(({ id, name, argumentsJson }, index): CompletionEvent[] => [
            { type: 'tool_call', index, id, name, argumentsDelta: '' },
            ...pieces(argumentsJson, calls[index]!.cuts).map((argumentsDelta) => ({
              type: 'tool_call' as const,
              index,
              argumentsDelta,
            })),
          ]),
          finish(),
        ]
        const plain = { reasoningText: reasoning.join(''), text: text.join(''), toolCalls, ...(signed && { replay }) }
        expect(fold(events)).toEqual(whole(plain))
      }),
    )
  })

  test('has the blocks and the usage of the Messages API', () => {
    expect(
      whole({
        reasoningText: 'Hm',
        text: 'Hi',
        replay,
        toolCalls: [{ id: 't1', name: 'now', argumentsJson: '' }],
        finishReason: 'tool_calls',
      }),
    ).toEqual({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: expect.stringMatching(/^portico\./) as string },
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 't1', name: 'now', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      container: null,
      usage: {
        input_tokens: 20,
        cache_creation_input_tokens: 50,
        cache_read_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 20 },
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
        server_tool_use: null,
        service_tier: null,
      },
    })
  })

  test('begins a stream with message_start and a ping, and ends it with message_stop', () => {
    const { types, message } = foldEvents(write([{ type: 'text', text: 'Hi' }, finish()]))
    expect(types).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(message.usage.output_tokens).toBe(9)
    expect(fold([{ type: 'text', text: 'Hi' }]).usage.input_tokens).toBe(77)
  })

  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['tool_calls', 'tool_use'],
    ['content_filter', 'refusal'],
  ] as const)('ends with %s as %s', (finishReason, stopReason) => {
    expect(whole({ text: 'x', finishReason }).stop_reason).toBe(stopReason)
    expect(fold([{ type: 'text', text: 'x' }, finish(finishReason)]).stop_reason).toBe(stopReason)
  })

  test('that declines is a text with the stop reason refusal', () => {
    const declined = { content: [{ type: 'text', text: 'No.' }], stop_reason: 'refusal' }
    expect(whole({ refusal: 'No.' })).toMatchObject(declined)
    expect(fold([{ type: 'refusal', text: 'No.' }, finish()])).toMatchObject(declined)
  })

  test('returns reasoning that comes at the end as a block that clients send back', () => {
    const { content } = fold([
      { type: 'reasoning', text: 'Hm' },
      { type: 'tool_call', index: 0, id: 't', name: 'now', argumentsDelta: '{}' },
      { type: 'replay', replay },
      finish('tool_calls'),
    ])
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'tool_use', 'redacted_thinking'])
    expect(unwrapReplay(String(content[2]!.data))).toEqual(replay)
  })

  test('shows no thinking to a client that omits it, and keeps the signature', () => {
    const hidden = {
      content: [{ type: 'thinking', thinking: '', signature: expect.stringMatching(/^portico/) as string }],
    }
    expect(whole({ reasoningText: 'Hm', replay }, true)).toMatchObject(hidden)
    const events: CompletionEvent[] = [{ type: 'reasoning', text: 'Hm' }, { type: 'replay', replay }, finish()]
    expect(fold(events, { omitsThinking: true })).toMatchObject(hidden)
  })

  test('keeps the arguments of calls whose pieces are mixed', () => {
    const piece = (index: number, argumentsDelta: string, id?: string) =>
      ({ type: 'tool_call', index, argumentsDelta, ...(id && { id, name: id }) }) as CompletionEvent
    const { content } = fold([
      piece(0, '{"a"', 'x'),
      piece(1, '{"b"', 'y'),
      piece(0, ':1}'),
      piece(2, '{}', 'z'),
      piece(1, ':2}'),
      finish('tool_calls'),
    ])
    expect(content.map(({ id, input }) => [id, input])).toEqual([
      ['x', { a: 1 }],
      ['y', { b: 2 }],
      ['z', {}],
    ])
  })

  test('passes arguments on that are not JSON', () => {
    const toolCalls = [{ id: 't', name: 'f', argumentsJson: '{"a":' }]
    expect(whole({ toolCalls })).toMatchObject({ content: [{ input: { INVALID_JSON: '{"a":' } }] })
  })

  test('has the sources that its provider cites', () => {
    const citations = [{ url: 'https://a.example', title: 'A', startIndex: 0, endIndex: 2 }]
    const cited = {
      content: [{ type: 'text', text: 'Hi!', citations: [{ url: 'https://a.example', title: 'A', cited_text: 'Hi' }] }],
    }
    expect(whole({ text: 'Hi!', citations })).toMatchObject(cited)
    expect(fold([{ type: 'text', text: 'Hi!' }, { type: 'citations', citations }, finish()])).toMatchObject(cited)
  })

  test('that fails in the middle ends with an error event of the API', () => {
    const stream = createMessageStream(identity, { promptTokensEstimate: 1, omitsThinking: false, renderError })
    const { error, types } = foldEvents(
      stream.start() + stream.event({ type: 'text', text: 'x' }) + stream.failed(new AppError('overloaded', 'Later.')),
    )
    expect(error).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Later.' },
      request_id: 'req_1',
    })
    expect(types).not.toContain('message_stop')
  })
})

describe('an answer of a host of this API', () => {
  const blocks = [
    { type: 'thinking', thinking: 'Hm', signature: 's' },
    { type: 'text', text: 'Hi', citations: [{ type: 'char_location', cited_text: 'x' }] },
  ]

  test('keeps its blocks and its end', () => {
    const native = { content: blocks, stop_reason: 'pause_turn', stop_sequence: null }
    expect(whole({ text: 'Hi', native })).toMatchObject({ model: 'm', content: blocks, stop_reason: 'pause_turn' })
  })

  const native = (event: Record<string, unknown>): CompletionEvent => ({ type: 'native', event })

  test('begins with the counts of the host, and our names', () => {
    const usage = { input_tokens: 11, cache_read_input_tokens: 5, output_tokens: 1 }
    const begun = write([native({ type: 'message_start', message: { id: 'theirs', model: 'theirs', usage } })])
    const { id, model } = identity
    expect(foldEvents(begun)).toMatchObject({ types: ['message_start', 'ping'], message: { id, model, usage } })
  })

  test('keeps its events and has the billed usage', () => {
    const message = fold([
      native({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      native({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
      { type: 'text', text: 'Hi' },
      native({ type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: { url: 'u' } } }),
      native({ type: 'content_block_stop', index: 0 }),
      native({ type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: 'x' }, usage: {} }),
      finish(),
    ])
    expect(message).toMatchObject({
      content: [{ type: 'text', text: 'Hi', citations: [{ url: 'u' }] }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'x',
      usage: { input_tokens: 20, output_tokens: 9 },
    })
  })
})
