import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  expectResponse,
  foldResponseEvents,
  readResponseEvents,
  type ResponseEvent,
} from '../../../../test/harness/response-events.ts'
import '../../../../test/harness/seed-properties.ts'
import type { CompletionEvent } from '../../gateway/index.ts'
import type { ReasoningReplay, TokenUsage, ToolCall } from '../../providers/index.ts'
import { parseResponses } from './parse-request.ts'
import { renderAnswer, type RenderedAnswer } from './render-answer.ts'
import { createResponseStream } from './render-stream.ts'

const identity = { id: 'resp_0123abcd', createdSeconds: 1_760_000_000, model: 'some/model' }
const now = 1_760_000_003
const usage: TokenUsage = {
  promptTokens: 10,
  completionTokens: 20,
  cachedTokens: 4,
  cacheWriteTokens: 1,
  reasoningTokens: 7,
}
const receipt = {} as (CompletionEvent & { type: 'finish' })['receipt']
const custom = { type: 'custom', name: 'patch', format: { type: 'text' } }
const request = parseResponses({
  model: 'm',
  input: 'Hello',
  instructions: 'Be kind.',
  tools: [{ type: 'function', name: 'weather', parameters: { type: 'object' }, strict: true }, custom],
  text: { format: { type: 'json_schema', name: 'Book', schema: { type: 'object' }, strict: true } },
  metadata: { team: 'blue' },
  user: 'someone',
})

const finishOf = (finishReason: RenderedAnswer['finishReason']): CompletionEvent => ({
  type: 'finish',
  finishReason,
  usage,
  estimated: false,
  receipt,
})

function streamOf(events: readonly CompletionEvent[]): ResponseEvent[] {
  const stream = createResponseStream(request, identity, () => now)
  return readResponseEvents(stream.start() + events.map((event) => stream.event(event)).join(''))
}

/** The answer that a provider would return instead of these events. */
function answerOf(events: readonly CompletionEvent[]): RenderedAnswer {
  const answer = {
    text: '',
    reasoningText: '',
    refusal: null as string | null,
    citations: [],
    usage,
  } as unknown as RenderedAnswer & {
    toolCalls: ToolCall[]
  }
  const calls = new Map<number, ToolCall>()
  for (const event of events) {
    if (event.type === 'text') answer.text += event.text
    if (event.type === 'reasoning') answer.reasoningText += event.text
    if (event.type === 'refusal') answer.refusal = (answer.refusal ?? '') + event.text
    if (event.type === 'citations') answer.citations = event.citations
    if (event.type === 'replay') answer.replay = event.replay
    if (event.type === 'finish') answer.finishReason = event.finishReason
    if (event.type === 'logprobs') answer.logprobs = [...(answer.logprobs ?? []), ...event.logprobs]
    if (event.type === 'tool_call') {
      const call = calls.get(event.index) ?? { id: '', name: '', argumentsJson: '' }
      calls.set(event.index, call)
      call.id = event.id ?? call.id
      call.name = event.name ?? call.name
      call.argumentsJson += event.argumentsDelta
    }
  }
  answer.toolCalls = [...calls.values()]
  return answer
}

const whole = (answer: RenderedAnswer): ResponseEvent => JSON.parse(renderAnswer(answer, request, identity, now))

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const callEvents = fc
  .array(
    fc.record({
      name: fc.constantFrom('weather', 'patch'),
      value: fc.dictionary(text, text, { maxKeys: 3 }),
      input: text,
      cut: fc.nat(20),
    }),
    { maxLength: 3 },
  )
  .map((calls) =>
    calls.map(({ name, value, input, cut }, index) => {
      const json = JSON.stringify(name === 'patch' ? { input } : value)
      return [
        { type: 'tool_call', index, id: `call_${index}`, name, argumentsDelta: json.slice(0, cut) },
        { type: 'tool_call', index, argumentsDelta: json.slice(cut) },
      ] satisfies CompletionEvent[]
    }),
  )
const replay = fc
  .constantFrom('anthropic' as const, 'gemini' as const)
  .map((format): ReasoningReplay => ({ format, blocks: [{ a: 1 }] }))

/** Streams as providers send them: reasoning, then text, refusal and calls, which may be mixed; sources and replay at the end. */
const streams = fc
  .record({
    reasoning: fc.array(text, { maxLength: 3 }),
    texts: fc.array(text, { maxLength: 4 }),
    refusals: fc.array(text, { maxLength: 2 }),
    calls: callEvents,
    isMixed: fc.boolean(),
    citations: fc.nat(2),
    replay: fc.option(replay),
    finishReason: fc.constantFrom('stop' as const, 'length' as const, 'content_filter' as const, 'tool_calls' as const),
  })
  .map(({ reasoning, texts, refusals, calls, isMixed, citations, replay: replayed, finishReason }) => {
    const visible: CompletionEvent[] = [
      ...texts.map((piece): CompletionEvent => ({ type: 'text', text: piece })),
      ...refusals.map((piece): CompletionEvent => ({ type: 'refusal', text: piece })),
    ]
    const called: CompletionEvent[] = isMixed
      ? [...calls.map(([first]) => first!), ...calls.map(([, second]) => second!)]
      : calls.flat()
    const sources = [...Array(citations).keys()].map((index) => ({
      url: `https://a.test/${index}`,
      title: `Page ${index}`,
      startIndex: 0,
      endIndex: index,
    }))
    return [
      ...reasoning.map((piece): CompletionEvent => ({ type: 'reasoning', text: piece })),
      ...visible,
      ...called,
      ...(citations > 0 && texts.length > 0
        ? [{ type: 'citations', citations: sources } satisfies CompletionEvent]
        : []),
      ...(replayed ? [{ type: 'replay', replay: replayed } satisfies CompletionEvent] : []),
      finishOf(finishReason),
    ]
  })

describe('a streamed response', () => {
  test('is valid in every event, and its deltas make the response at its end', () => {
    fc.assert(
      fc.property(streams, (events) => {
        const written = streamOf(events)
        const end = written.at(-1)
        expect(written.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress'])
        expect(foldResponseEvents(written)).toEqual(end.response.output)
        expect(end.type).toBe(`response.${end.response.status}`)
      }),
      { numRuns: 40 },
    )
  })

  test('has the content of the whole answer', () => {
    fc.assert(
      fc.property(streams, (events) => {
        const streamed = streamOf(events).at(-1).response
        const plain = whole(answerOf(events))
        expectResponse(plain)
        // The stream knows only at its end what must be sent back of the reasoning: a second item has it.
        expect({ ...streamed, output: null }).toEqual({ ...plain, output: null })
        expect(contentOf(streamed)).toEqual(contentOf(plain))
      }),
      { numRuns: 40 },
    )
  })

  test('that fails has an error event and a failed response with the items that were complete', () => {
    const stream = createResponseStream(request, identity, () => now)
    const written = readResponseEvents(
      stream.start() +
        stream.event({ type: 'reasoning', text: 'Hm.' }) +
        stream.event({ type: 'text', text: 'Hel' }) +
        stream.failed({ type: 'api_error', code: 'upstream_error', message: 'The provider failed.', param: null }),
    )
    expect(written.slice(-2)).toMatchObject([
      { type: 'error', code: 'upstream_error', message: 'The provider failed.', param: null },
      {
        type: 'response.failed',
        response: {
          status: 'failed',
          completed_at: null,
          error: { code: 'server_error', message: 'The provider failed.' },
          output: [{ type: 'reasoning' }],
        },
      },
    ])
  })

  test('begins a call when its name is known', () => {
    const written = streamOf([
      { type: 'tool_call', index: 0, id: 'c', argumentsDelta: '{"a"' },
      { type: 'tool_call', index: 0, name: 'weather', argumentsDelta: ':1}' },
      finishOf('tool_calls'),
    ])
    expect(written.at(-1).response.output).toMatchObject([{ call_id: 'c', name: 'weather', arguments: '{"a":1}' }])
  })
})

describe('a whole response', () => {
  test('repeats the request', () => {
    const response = whole(answerOf([{ type: 'text', text: 'Hi' }, finishOf('stop')]))
    expect(response).toMatchObject({
      id: identity.id,
      status: 'completed',
      completed_at: now,
      instructions: 'Be kind.',
      metadata: { team: 'blue' },
      user: 'someone',
      store: false,
      tools: [{ name: 'weather', strict: true, description: null }, custom],
      text: { format: { type: 'json_schema', name: 'Book' }, verbosity: 'medium' },
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 7 },
        total_tokens: 30,
      },
    })
  })

  test.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ] as const)('that ended by %s is incomplete', (finishReason, reason) => {
    const response = whole(answerOf([{ type: 'text', text: 'Hi' }, finishOf(finishReason)]))
    expect(response).toMatchObject({ status: 'incomplete', completed_at: null, incomplete_details: { reason } })
    expect(response.output).toMatchObject([{ status: 'incomplete' }])
  })

  test('without any output has an empty message', () => {
    const response = whole(answerOf([finishOf('stop')]))
    expect(response.output).toMatchObject([{ type: 'message', content: [{ type: 'output_text', text: '' }] }])
  })
})

/** The content of the items, in an order that plain and streamed answers share. */
function contentOf({ output }: ResponseEvent) {
  const reasoning = output.filter(({ type }: ResponseEvent) => type === 'reasoning')
  const rest = output.filter(({ type }: ResponseEvent) => type !== 'reasoning')
  return {
    summary: reasoning.flatMap(({ summary }: ResponseEvent) => summary),
    encrypted: reasoning.at(-1)?.encrypted_content,
    rest: rest.map(({ id: _id, ...item }: ResponseEvent) => item),
  }
}
