import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { providerCall, weatherTool } from '../../../test/harness/provider-call.ts'
import { testSeed } from '../../../test/harness/seed.ts'
import { providerFormats } from '../../contract/provider-formats.ts'
import { partsOf } from '../conversation/index.ts'
import { createAdapter } from './create-provider.ts'
import type { ContentPart, MediaPart, ProviderMessage } from './port.ts'
import { type Fact, readRequest, type WireApi } from './testing/read-requests.ts'

const bytes = Buffer.from('not a real picture').toString('base64')
const image: MediaPart = { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: bytes } }
const file: MediaPart = {
  type: 'file',
  name: 'a.pdf',
  source: { kind: 'base64', mediaType: 'application/pdf', data: bytes },
}

/** Never blank: blank texts are omitted where a host refuses them. */
const word = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => `w${text}`)
const names = fc.constantFrom('weather', 'find_train', 'a-b', 'x')
const args = fc.dictionary(
  fc.string({ maxLength: 5 }).map((key) => `k${key}`),
  fc.jsonValue({ maxDepth: 3 }),
  { maxKeys: 4 },
)
const result = fc.record({
  text: fc.oneof(
    word,
    args.map((value) => JSON.stringify(value)),
  ),
  isError: fc.boolean(),
  hasImage: fc.boolean(),
})
const round = fc.record({
  question: fc.array(word, { minLength: 1, maxLength: 3 }),
  media: fc.constantFrom<MediaPart[]>([], [image], [image, image], [file]),
  answer: fc.option(word, { nil: '' }),
  calls: fc.array(fc.record({ name: names, args, result }), { maxLength: 3 }),
  order: fc.infiniteStream(fc.nat()),
})
type Round = typeof round extends fc.Arbitrary<infer Value> ? Value : never

function toMessages(
  { question, media, answer, calls, order }: Round,
  number: number,
  format: WireApi,
): ProviderMessage[] {
  const isPlain = format === 'cohere' || format === 'ollama'
  const usable = media.filter(({ type }) => type === 'image' || !isPlain)
  const content: ContentPart[] = [...question.map((text) => ({ type: 'text' as const, text })), ...usable]
  const toolCalls = calls.map((call, index) => ({
    id: `id.${number}/${index}`,
    name: call.name,
    argumentsJson: JSON.stringify(call.args),
  }))
  const results = calls.map(({ result: { text, isError, hasImage } }, index): ProviderMessage => ({
    role: 'tool',
    toolCallId: toolCalls[index]!.id,
    content: hasImage ? [{ type: 'text', text }, image] : text,
    ...(isError && { isError: true }),
  }))
  const shuffled = results
    .map((message) => ({ message, key: order.next().value as number }))
    .sort((a, b) => a.key - b.key)
  return [
    { role: 'user', content },
    { role: 'assistant', content: answer || (calls.length === 0 ? 'w' : ''), ...(calls.length > 0 && { toolCalls }) },
    ...shuffled.map(({ message }) => message),
  ]
}

/** The facts of the conversation itself. */
function factsOf(messages: ProviderMessage[]): Fact[] {
  return messages.flatMap((message): Fact[] => {
    const parts = partsOf(message.content)
    const text = parts.map((part) => (part.type === 'text' ? String(part.text) : '')).join('')
    const media = parts.flatMap((part): Fact[] =>
      'source' in part && part.source.kind === 'base64'
        ? [{ kind: 'media', mediaType: part.source.mediaType, data: String(part.source.data) }]
        : [],
    )
    if (message.role === 'tool')
      return [{ kind: 'result', link: message.toolCallId!, text, isError: message.isError === true }, ...media]
    return [
      { kind: message.role as 'user', text },
      ...media,
      ...(message.toolCalls ?? []).map((call): Fact => {
        return { kind: 'call', link: call.id, name: call.name, arguments: JSON.parse(call.argumentsJson) }
      }),
    ]
  })
}

/**
 * What must be equal: the texts of each speaker, the calls, each result with the number of the call that it answers, and the media. Results
 * are compared in the order of their calls: some formats have no other link.
 */
function essence(facts: Fact[], hasErrors: boolean) {
  const calls = facts.filter((fact) => fact.kind === 'call')
  const plain = (text: string) => text.replaceAll(/\s/gu, '').replaceAll(/Contentofthetoolresult[^:]*:/g, '')
  const spoken = facts.flatMap((fact) =>
    'text' in fact && fact.kind !== 'result' ? [`${fact.kind}: ${plain(fact.text)}`] : [],
  )
  return {
    spoken: mergeSpeakers(spoken),
    calls: calls.map(({ name, arguments: given }) => ({ name, arguments: given })),
    results: facts
      .filter((fact) => fact.kind === 'result')
      .map(({ link, text, isError }) => ({
        of: calls.findIndex((call) => call.link === link),
        text: jsonOr(text),
        isError: hasErrors && isError,
      }))
      .sort((left, right) => left.of - right.of),
    media: facts.filter((fact) => fact.kind === 'media').length,
  }
}

/** Some formats join adjacent texts of one speaker. */
function mergeSpeakers(spoken: string[]): string[] {
  const merged: string[] = []
  for (const line of spoken) {
    const [speaker] = line.split(': ', 1)
    const text = line.slice(speaker!.length + 2)
    if (text === '') continue
    if (merged.at(-1)?.startsWith(`${speaker}: `)) merged[merged.length - 1] += text
    else merged.push(`${speaker}: ${text}`)
  }
  return merged
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Formats with a field for a failed tool; in the others the text states it. */
const marksErrors: ReadonlySet<WireApi> = new Set(['anthropic', 'bedrock', 'gemini', 'vertex'])

describe('a conversation with tools', () => {
  test.each<WireApi>([...providerFormats, 'responses'])(
    'keeps texts, calls, results, links and order in the format %s',
    (format) => {
      const address = { baseUrl: 'https://example.org', region: 'eu-central-1', project: 'p' }
      const adapter = createAdapter({
        id: 'x',
        format: format === 'responses' ? 'openai' : format,
        apiKey: 'test-key',
        ...address,
      })
      const model = {
        ...(format === 'responses' && { traits: { api: 'responses' as const } }),
        id: format === 'bedrock' || format === 'anthropic' ? 'claude-sonnet-4-5' : 'test-model',
      }
      fc.assert(
        fc.property(word, fc.array(round, { minLength: 1, maxLength: 4 }), (system, rounds) => {
          const messages: ProviderMessage[] = [
            { role: 'system', content: system },
            ...rounds.flatMap((each, number) => toMessages(each, number, format)),
            { role: 'user', content: 'wEnd' },
          ]
          const tools = [...new Set(rounds.flatMap(({ calls }) => calls.map(({ name }) => name)))].map((name) => ({
            ...weatherTool,
            name,
          }))
          const { body } = adapter.toRequest(providerCall({ messages, tools }, model), { stream: false })
          const sent = readRequest(format, JSON.parse(JSON.stringify(body)) as Record<string, unknown>)
          const hasErrors = marksErrors.has(format)
          expect(essence(sent, hasErrors)).toEqual(essence(factsOf(messages), hasErrors))
        }),
        { seed: testSeed, numRuns: 60 },
      )
    },
  )
})
