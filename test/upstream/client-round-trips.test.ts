import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chatBody } from '../../src/gateway/apis/chat-completions/chat-body.ts'
import { messagesBody } from '../../src/gateway/apis/messages/messages-body.ts'
import { responsesBody } from '../../src/gateway/apis/responses/responses-body.ts'
import { createAdapter } from '../../src/gateway/providers/create-provider.ts'
import type { ProviderRequest } from '../../src/gateway/providers/index.ts'
import { type Fact, readRequest, type WireApi } from '../../src/gateway/providers/testing/read-requests.ts'
import { providerFormats } from '../../src/contract/provider-formats.ts'
import { readBody } from '../../src/platform/bodies/index.ts'
import { providerCall } from '../harness/provider-call.ts'
import { testSeed } from '../harness/seed.ts'

/** One conversation with tools, written as the request of each client API, read by the gateway, and sent in each format. */

interface Call {
  id: string
  name: string
  args: Record<string, unknown>
  result: string
}
interface Round {
  question: string
  /** '' if the model only calls tools. */
  answer: string
  calls: Call[]
}
interface Talk {
  system: string
  rounds: Round[]
}

type Json = Record<string, unknown>
const schema = { type: 'object', properties: { a: { type: 'string' } } }
const namesOf = ({ rounds }: Talk) => [...new Set(rounds.flatMap(({ calls }) => calls.map(({ name }) => name)))]

const clients: Record<string, { write(talk: Talk): Json; read(body: Buffer): { request: ProviderRequest } }> = {
  'chat completions': {
    read: (body) => readBody(body, chatBody, 'json'),
    write: (talk) => ({
      model: 'm',
      messages: [
        { role: 'system', content: talk.system },
        ...talk.rounds.flatMap(({ question, answer, calls }) => [
          { role: 'user', content: question },
          {
            role: 'assistant',
            content: answer === '' ? null : answer,
            ...(calls.length > 0 && {
              tool_calls: calls.map(({ id, name, args }) => ({
                id,
                type: 'function',
                function: { name, arguments: JSON.stringify(args) },
              })),
            }),
          },
          ...calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
        ]),
        { role: 'user', content: 'wEnd' },
      ],
      tools: namesOf(talk).map((name) => ({ type: 'function', function: { name, parameters: schema } })),
    }),
  },
  responses: {
    read: (body) => readBody(body, responsesBody, 'json'),
    write: (talk) => ({
      model: 'm',
      instructions: talk.system,
      input: [
        ...talk.rounds.flatMap(({ question, answer, calls }) => [
          { role: 'user', content: [{ type: 'input_text', text: question }] },
          ...(answer === '' ? [] : [{ role: 'assistant', content: [{ type: 'output_text', text: answer }] }]),
          ...calls.map(({ id, name, args }) => ({
            type: 'function_call',
            call_id: id,
            name,
            arguments: JSON.stringify(args),
          })),
          ...calls.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
        ]),
        { role: 'user', content: 'wEnd' },
      ],
      tools: namesOf(talk).map((name) => ({ type: 'function', name, parameters: schema })),
    }),
  },
  messages: {
    read: (body) => readBody(body, messagesBody, 'json'),
    write: (talk) => ({
      model: 'm',
      max_tokens: 100,
      system: talk.system,
      messages: [
        ...talk.rounds.flatMap(({ question, answer, calls }, number) => {
          const before = talk.rounds[number - 1]?.calls ?? []
          return [
            { role: 'user', content: [...before.map(toResult), { type: 'text', text: question }] },
            {
              role: 'assistant',
              content: [
                ...(answer === '' ? [] : [{ type: 'text', text: answer }]),
                ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
              ],
            },
          ]
        }),
        {
          role: 'user',
          content: [...(talk.rounds.at(-1)?.calls ?? []).map(toResult), { type: 'text', text: 'wEnd' }],
        },
      ],
      tools: namesOf(talk).map((name) => ({ name, input_schema: schema })),
    }),
  },
}

function toResult({ id, result }: Call) {
  return { type: 'tool_result', tool_use_id: id, content: result }
}

/** Never blank: blank texts are omitted where a host refuses them. */
const word = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => `w${text.toWellFormed()}`)
const call = fc.record({
  name: fc.constantFrom('weather', 'find_train', 'a-b', 'x'),
  args: fc.dictionary(
    fc.string({ maxLength: 5 }).map((key) => `k${key}`),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 4 },
  ),
  result: word,
})
const talks: fc.Arbitrary<Talk> = fc.record({
  system: word,
  rounds: fc
    .array(
      fc.record({ question: word, answer: fc.option(word, { nil: '' }), calls: fc.array(call, { maxLength: 3 }) }),
      { minLength: 1, maxLength: 4 },
    )
    .map((rounds) =>
      rounds.map(({ question, answer, calls }, number) => ({
        question,
        answer: answer === '' && calls.length === 0 ? 'w' : answer,
        // A number of JSON has no minus zero in some formats.
        calls: calls.map((each, index) => ({
          ...each,
          args: JSON.parse(JSON.stringify(each.args)) as Json,
          id: `call_${number}_${index}`,
        })),
      })),
    ),
})

/** Texts of each speaker, calls, and the call that each result answers, in order. */
function essenceOf(facts: Fact[]) {
  const calls = facts.filter((fact) => fact.kind === 'call')
  const plain = (text: string) => text.replaceAll(/\s/gu, '')
  const spoken: string[] = []
  for (const fact of facts) {
    if (fact.kind !== 'system' && fact.kind !== 'user' && fact.kind !== 'assistant') continue
    const last = spoken.at(-1)
    // Some formats join adjacent texts of one speaker.
    if (last?.startsWith(`${fact.kind}: `)) spoken[spoken.length - 1] = last + plain(fact.text)
    else if (plain(fact.text) !== '') spoken.push(`${fact.kind}: ${plain(fact.text)}`)
  }
  return {
    spoken,
    calls: calls.map(({ name, arguments: given }) => ({ name, arguments: given })),
    results: facts
      .filter((fact) => fact.kind === 'result')
      .map(({ link, text }) => ({ of: calls.findIndex((made) => made.link === link), text: plain(text) }))
      .toSorted((left, right) => left.of - right.of),
  }
}

function wanted({ system, rounds }: Talk) {
  const facts: Fact[] = [
    { kind: 'system', text: system },
    ...rounds.flatMap(({ question, answer, calls }): Fact[] => [
      { kind: 'user', text: question },
      { kind: 'assistant', text: answer },
      ...calls.map((made): Fact => ({ kind: 'call', link: made.id, name: made.name, arguments: made.args })),
      ...calls.map((made): Fact => ({ kind: 'result', link: made.id, text: made.result, isError: false })),
    ]),
    { kind: 'user', text: 'wEnd' },
  ]
  return essenceOf(facts)
}

const formats: WireApi[] = [...providerFormats, 'responses']

describe.each(Object.entries(clients))('a conversation with tools from %s', (_api, { write, read }) => {
  test.each(formats)('keeps texts, names, arguments, links and order in the format %s', (format) => {
    const adapter = createAdapter({
      id: 'x',
      format: format === 'responses' ? 'openai' : format,
      apiKey: 'test-key',
      baseUrl: 'https://example.org',
      region: 'eu-central-1',
      project: 'p',
    })
    const model = {
      id: format === 'bedrock' || format === 'anthropic' ? 'claude-sonnet-4-5' : 'test-model',
      ...(format === 'responses' && { traits: { api: 'responses' as const } }),
    }
    fc.assert(
      fc.property(talks, (talk) => {
        const { request } = read(Buffer.from(JSON.stringify(write(talk))))
        const { body } = adapter.toRequest(providerCall(request, model), { stream: false })
        const sent = readRequest(format, JSON.parse(JSON.stringify(body)) as Json)
        expect(essenceOf(sent)).toEqual(wanted(talk))
      }),
      { seed: testSeed, numRuns: 40 },
    )
  })
})
