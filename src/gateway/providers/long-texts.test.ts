import { describe, expect, it } from 'vitest'
import { providerFormats } from '../../contract/provider-formats.ts'
import { LongTexts } from '../../platform/bodies/index.ts'
import { shapeMessages } from './accept-call.ts'
import { createAdapter } from './create-provider.ts'
import { bodyBytes, encodeBody, hashBody } from './encode-body.ts'
import type { ProviderMessage, ProviderSettings, WireModel } from './port.ts'
import { Adjustments } from './sampling.ts'

/** Messages as a client sends them, and the same with long texts as bytes that came in pieces of 1,000. */
function messagesOf(contents: [role: ProviderMessage['role'], content: string][]) {
  const plain = contents.map(([role, content]): ProviderMessage => ({ role, content }))
  const bytes = Buffer.from(JSON.stringify({ messages: plain }))
  const texts = new LongTexts()
  for (let start = 0; start < bytes.length; start += 1_000) texts.push(bytes.subarray(start, start + 1_000))
  return { plain, long: (texts.finish() as { messages: ProviderMessage[] }).messages }
}

const text = 'Line one of “this” prompt,\n\tline "two" \\ 漢字 😀 \ud800.\n'
const blank = ' \n'.repeat(400)
const conversations = {
  'one long message': messagesOf([['user', text.repeat(100)]]),
  'instructions, turns and blank texts': messagesOf([
    ['system', text.repeat(40)],
    ['user', text.repeat(900)],
    ['assistant', blank],
    ['assistant', text.repeat(20)],
    ['user', blank],
    ['user', 'short'],
  ]),
  'two instructions, and a long text that begins blank': messagesOf([
    ['system', text.repeat(40)],
    ['developer', 'short'],
    ['user', blank + text.repeat(5_000)],
  ]),
  'several long and short messages of one role': messagesOf([
    ['user', text.repeat(20)],
    ['user', 'short'],
    ['user', text.repeat(30)],
    ['assistant', 'short'],
    ['assistant', 'shorter'],
    ['user', text.repeat(40)],
  ]),
}
const settings = {
  id: 'test',
  apiKey: 'key',
  baseUrl: 'https://host.example',
  region: 'eu-west-1',
  project: 'project',
  credentials: '{}',
  quirks: { promptCaching: true },
}
const models: Partial<Record<string, string>> = {
  anthropic: 'claude-sonnet-4-5',
  bedrock: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
  gemini: 'gemma-3-27b-it',
}

const joined = (body: string | readonly Buffer[]) => (typeof body === 'string' ? body : Buffer.concat(body).toString())

describe.each(providerFormats)('%s', (format) => {
  const id = models[format] ?? 'a-model'
  const model: WireModel = { id, baseModel: id, acceptsTemperature: true, reasoning: false, maxOutputTokens: 1_000 }
  it.each(Object.entries(conversations))('sends the same body for bytes of %s as for texts', async (_, messages) => {
    const { toRequest } = createAdapter({ ...settings, format } as ProviderSettings)
    const encoded = async (of: ProviderMessage[]) => {
      const signal = new AbortController().signal
      const call = { model, request: { messages: of }, signal, requestId: 'req_1' }
      return encodeBody(toRequest(call, { stream: false }).body)
    }
    const body = await encoded(messages.long)
    expect(JSON.parse(joined(body))).toEqual(JSON.parse(joined(await encoded(messages.plain))))
    expect(bodyBytes(body)).toBe(Buffer.byteLength(joined(body)))
    expect(await hashBody(body)).toBe(await hashBody(joined(body)))
  })
})

describe('messages of one role in a row', () => {
  it('become one for hosts that require alternating roles, from bytes as from texts', () => {
    const { plain, long } = conversations['several long and short messages of one role']
    const shape = (messages: ProviderMessage[]) =>
      shapeMessages(messages, { turns: 'alternating' }, new Adjustments()).map(({ role, content }) => ({
        role,
        content: content.toString(),
      }))
    expect(shape(long)).toEqual(shape(plain))
    expect(shape(plain).map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(shape(plain)[0]!.content).toBe([text.repeat(20), 'short', text.repeat(30)].join('\n\n'))
  })
})

describe('a body with long texts', () => {
  it('has their bytes, without a copy of those above 128 KB', async () => {
    const bytes = Buffer.from(`{"messages":[{"content":${JSON.stringify('x'.repeat(200_000))}}]}`)
    const texts = new LongTexts()
    texts.push(bytes)
    const read = texts.finish() as { messages: ProviderMessage[] }
    const sent = (await encodeBody(read)) as readonly Buffer[]
    expect(sent.some((slice) => slice.buffer === bytes.buffer)).toBe(true)
    expect(joined(sent)).toBe(bytes.toString())
  })
})
