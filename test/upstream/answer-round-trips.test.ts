import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { providerFormats } from '../../src/contract/provider-formats.ts'
import { createChatStream } from '../../src/gateway/apis/chat-completions/render-stream.ts'
import { renderChatCompletion } from '../../src/gateway/apis/chat-completions/render-answer.ts'
import { renderMessage } from '../../src/gateway/apis/messages/render-answer.ts'
import { createMessageStream } from '../../src/gateway/apis/messages/render-stream.ts'
import { renderAnswer } from '../../src/gateway/apis/responses/render-answer.ts'
import { createResponseStream } from '../../src/gateway/apis/responses/render-stream.ts'
import type { CompletionEvent, WholeCompletion } from '../../src/gateway/gateway/index.ts'
import { createAdapter } from '../../src/gateway/providers/create-provider.ts'
import type { ProviderEvent } from '../../src/gateway/providers/index.ts'
import { providerCall } from '../harness/provider-call.ts'
import { testSeed } from '../harness/seed.ts'
import type { ModelTurn } from './format-replies.ts'
import { testedFormats } from './tested-formats.ts'

/** One answer with text and calls, in each provider format, whole and streamed, as the answer of each client API. */

// Answers of three APIs in their own shapes; a wrong place fails the test.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

interface Essence {
  text: string
  calls: { name: string; args: unknown }[]
  /** Ids are different, and the client sends them back. */
  ids: number
}

const identity = { id: 'x_1', createdSeconds: 1, model: 'm' }
const eventsIn = (text: string) =>
  text.split('\n\n').flatMap((block): Json[] => {
    const data = /^data: (\{.*\})$/m.exec(block)?.[1]
    return data === undefined ? [] : [JSON.parse(data)]
  })
const essence = (text: string, calls: { id: string; name: string; args: unknown }[]): Essence => ({
  text,
  calls: calls.map(({ name, args }) => ({ name, args })),
  ids: new Set(calls.map(({ id }) => id).filter((id) => id !== '')).size,
})
const fromBlocks = (blocks: Json[]) =>
  essence(
    blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    blocks.flatMap(({ type, id, name, input }) => (type === 'tool_use' ? [{ id, name, args: input }] : [])),
  )
const fromItems = (items: Json[]) =>
  essence(
    items.flatMap(({ content = [] }) => content.map((part: Json) => part.text ?? '')).join(''),
    items.flatMap(({ type, call_id: id, name, arguments: args }) =>
      type === 'function_call' ? [{ id, name, args: JSON.parse(args) }] : [],
    ),
  )

interface Client {
  whole(completion: WholeCompletion): Essence
  streamed(events: CompletionEvent[]): Essence
}

const responsesOptions = { settings: '"store":false', customTools: [] }
const chatOptions = { showsReasoning: true, isLegacy: false, includeUsage: true }

const clients: Record<string, Client> = {
  'chat completions': {
    whole(completion) {
      const { message } = JSON.parse(renderChatCompletion(completion, identity, chatOptions)).choices[0]
      return essence(
        message.content ?? '',
        (message.tool_calls ?? []).map(({ id, function: called }: Json) => ({
          id,
          name: called.name,
          args: JSON.parse(called.arguments),
        })),
      )
    },
    streamed(events) {
      const stream = createChatStream(identity, chatOptions)
      const calls: { id: string; name: string; args: string }[] = []
      let text = ''
      for (const { choices } of eventsIn(stream.start() + events.map((event) => stream.event(event)).join(''))) {
        const delta = choices[0]?.delta ?? {}
        text += delta.content ?? ''
        for (const { index, id, function: called } of delta.tool_calls ?? []) {
          const call = (calls[index] ??= { id: '', name: '', args: '' })
          call.id += id ?? ''
          call.name += called?.name ?? ''
          call.args += called?.arguments ?? ''
        }
      }
      return essence(
        text,
        calls.map((call) => ({ ...call, args: JSON.parse(call.args) as unknown })),
      )
    },
  },
  responses: {
    whole: (completion) => fromItems(JSON.parse(renderAnswer(completion, responsesOptions, identity, 1)).output),
    streamed(events) {
      const stream = createResponseStream(responsesOptions, identity, () => 1)
      const sent = eventsIn(stream.start() + events.map((event) => stream.event(event)).join(''))
      return fromItems(sent.at(-1).response.output)
    },
  },
  messages: {
    whole: (completion) =>
      fromBlocks(JSON.parse(renderMessage(completion, identity, { omitsThinking: false })).content),
    streamed(events) {
      const options = { promptTokensEstimate: 1, omitsThinking: false, renderError: () => ({}) as never }
      const stream = createMessageStream(identity, options)
      const blocks: Json[] = []
      for (const event of eventsIn(stream.start() + events.map((each) => stream.event(each)).join(''))) {
        if (event.type === 'content_block_start') blocks[event.index] = { ...event.content_block, json: '' }
        if (event.type !== 'content_block_delta') continue
        blocks[event.index].text += event.delta.text ?? ''
        blocks[event.index].json += event.delta.partial_json ?? ''
      }
      return fromBlocks(blocks.map((block) => ({ ...block, ...(block.json && { input: JSON.parse(block.json) }) })))
    },
  },
}

const turns: fc.Arbitrary<ModelTurn> = fc
  .record({
    text: fc.array(
      fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => `w${text.toWellFormed()}`),
      { maxLength: 3 },
    ),
    calls: fc.array(
      fc.record({
        name: fc.constantFrom('weather', 'find_train', 'x'),
        args: fc.dictionary(
          fc.string({ maxLength: 5 }).map((key) => `k${key}`),
          fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
          { maxKeys: 4 },
        ),
      }),
      { maxLength: 3 },
    ),
  })
  .filter(({ text, calls }) => text.length + calls.length > 0)
  .map(({ text, calls }) => ({ text, calls: calls.map((call, index) => ({ ...call, id: `call_${index}` })) }))

const bytesOf = (body: unknown) => (typeof body === 'string' ? new TextEncoder().encode(body) : (body as Uint8Array))

describe.each(providerFormats)('an answer in the format %s', (format) => {
  const adapter = createAdapter({
    id: 'x',
    format,
    apiKey: 'test-key',
    baseUrl: 'https://example.org',
    region: 'eu-central-1',
    project: 'p',
  })
  const { request, model } = providerCall({}, { id: format === 'bedrock' ? 'claude-sonnet-4-5' : 'test-model' })
  const replyTo = (turn: ModelTurn, stream: boolean) => {
    const { url, body } = adapter.toRequest({ ...providerCall(), request, model }, { stream })
    const sent = { index: 0, method: 'POST', path: new URL(url).pathname, headers: {}, aborted: false }
    return bytesOf(testedFormats[format].reply(turn, { ...sent, body: JSON.stringify(body) }).body)
  }

  test.each(Object.entries(clients))('has its text, names, arguments and order in %s', (_api, client) => {
    fc.assert(
      fc.property(turns, (turn) => {
        const calls = (turn.calls ?? []).map(({ name, args }) => ({ name, args }))
        const wanted: Essence = { text: (turn.text ?? []).join(''), calls, ids: calls.length }
        const answer = adapter.fromResponse(replyTo(turn, false), request, model)
        const usage = answer.usage!
        const whole = { ...answer, citations: [], usage, mismatch: null } as unknown as WholeCompletion
        expect(client.whole(whole)).toEqual(wanted)

        const reader = adapter.createStreamReader(request, model)
        const events: ProviderEvent[] = [...reader.push(replyTo(turn, true)), ...reader.end()]
        const shown = events.filter(
          ({ type }) => type !== 'finish' && type !== 'usage' && type !== 'hosted_use',
        ) as CompletionEvent[]
        const { finishReason } = events.find((event) => event.type === 'finish')!
        const finish = { type: 'finish', finishReason, usage, estimated: false } as unknown as CompletionEvent
        expect(client.streamed([...shown, finish])).toEqual(wanted)
      }),
      { seed: testSeed, numRuns: 40 },
    )
  })
})
