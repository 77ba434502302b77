import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { stagePrices } from '../harness/gateway-stage.ts'
import { startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { anthropicReply, type FormatReply, geminiReply, openaiReply, turnUsage } from '../upstream/format-replies.ts'
import { startUpstream, type Upstream, type UpstreamReply, type UpstreamRequest } from '../upstream/upstream.ts'

/**
 * What LangChain expects of a chat model, with models of three formats. Its own suite, `@langchain/standard-tests`, is not in the
 * registry; these tests have the same kinds.
 */

const hosts: Record<string, { reply: FormatReply; wireId: string; settings?: object }> = {
  openai: { reply: openaiReply, wireId: 'gpt-4.1', settings: { flavour: 'openai' } },
  anthropic: { reply: anthropicReply, wireId: 'claude-sonnet-4-5' },
  gemini: { reply: geminiReply, wireId: 'gemini-2.5-pro' },
}
const City = z.object({ name: z.string(), population: z.number() })
const city = { name: 'Basel', population: 180_000 }
const pieces = ['It is sunny', ' in Basel.']
const answered = pieces.join('')
const question = 'How is the weather in Basel?'
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const weather = {
  name: 'weather',
  description: 'The weather of a place.',
  schema: z.object({ place: z.string() }),
}

let portico: TestPortico
let upstream: Upstream
let organisation: TestOrganisation

/** Answers in words, with the object of a schema, or with a call of the tool `weather` until its result has arrived. */
function answer(request: UpstreamRequest): UpstreamReply {
  const { reply } = hosts[request.path.split('/')[1]!]!
  const { body } = request
  if (body.includes('population')) {
    const tool = /"name":"([\w-]+)","(?:description|input_schema|parameters)/.exec(body)
    if (tool && body.includes('"tools"'))
      return reply({ calls: [{ id: 'call_1', name: tool[1]!, args: city }] }, request)
    return reply({ text: [JSON.stringify(city)] }, request)
  }
  if (body.includes('"tools"') && !body.includes('sun in Basel'))
    return reply({ calls: [{ id: 'call_1', name: 'weather', args: { place: 'Basel' } }] }, request)
  return reply({ text: pieces }, request)
}

beforeAll(async () => {
  upstream = await startUpstream(answer)
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: Object.entries(hosts).map(([id, { settings }]) => ({
        id,
        format: id,
        baseUrl: `${upstream.url}/${id}`,
        apiKey: 'key',
        hosting: 'us',
        models: 'declared',
        ...settings,
      })),
      models: Object.entries(hosts).map(([id, { wireId }]) => ({
        id,
        contextTokens: 100_000,
        maxOutputTokens: 4_000,
        deployments: [{ provider: id, wireId, prices: stagePrices }],
      })),
    },
  })
  organisation = await portico.createOrganisation()
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})

const clients: Record<string, (model: string) => BaseChatModel> = {
  ChatOpenAI: (model) =>
    new ChatOpenAI({
      model,
      apiKey: organisation.apiKey,
      maxRetries: 0,
      configuration: { baseURL: `${portico.url}/v2/gateway` },
    }),
  ChatAnthropic: (model) =>
    new ChatAnthropic({
      model,
      apiKey: organisation.apiKey,
      maxRetries: 0,
      anthropicApiUrl: `${portico.url}/v2/gateway/anthropic`,
    }),
}
const pairs = Object.keys(clients).flatMap((client) => Object.keys(hosts).map((host) => ({ client, host })))
const counted = {
  input_tokens: turnUsage.prompt,
  output_tokens: turnUsage.completion,
  total_tokens: turnUsage.prompt + turnUsage.completion,
}
/** ChatAnthropic takes the prompt's tokens from the start of a stream, which are estimates unless the host counts them there. */
function countedInStream(client: string, host: string): object {
  if (client === 'ChatOpenAI') return counted
  return host === 'anthropic' ? { input_tokens: turnUsage.prompt } : { output_tokens: turnUsage.completion }
}

describe.each(pairs)('$client with a model of the format $host', ({ client, host }) => {
  const chatOf = clients[client]!
  const chat = () => chatOf(host)
  const lastBody = () => upstream.requests.at(-1)!.body

  it('invokes, with the counted tokens', async () => {
    const message = await chat().invoke([new SystemMessage('Be brief.'), new HumanMessage(question)])
    expect(message.text).toBe(answered)
    expect(message.usage_metadata).toMatchObject(counted)
  })

  it('streams, with the counted tokens', async () => {
    let whole: AIMessageChunk | undefined
    const texts: string[] = []
    for await (const chunk of await chat().stream(question)) {
      if (chunk.text !== '') texts.push(chunk.text)
      whole = whole === undefined ? chunk : whole.concat(chunk)
    }
    expect(texts).toEqual(pieces)
    expect(whole!.usage_metadata).toMatchObject(countedInStream(client, host))
  })

  it('answers a batch in its order', async () => {
    const messages = await chat().batch([question, 'And in Bern?'])
    expect(messages.map(({ text }) => text)).toEqual([answered, answered])
  })

  it('continues a conversation', async () => {
    const turns = [new HumanMessage('Hello.'), new AIMessage('Hello!'), new HumanMessage(question)]
    expect((await chat().invoke(turns)).text).toBe(answered)
    expect(lastBody()).toContain('Hello!')
  })

  it('calls tools, whole and streamed, and takes their results', async () => {
    const bound = chat().bindTools!([weather])
    const asked = new HumanMessage(question)
    const called = await bound.invoke([asked])
    expect(called.tool_calls).toMatchObject([{ name: 'weather', args: { place: 'Basel' } }])
    let streamed
    for await (const chunk of await bound.stream([asked]))
      streamed = streamed === undefined ? chunk : streamed.concat(chunk)
    expect(streamed!.tool_calls).toMatchObject([{ name: 'weather', args: { place: 'Basel' } }])
    const result = new ToolMessage({ content: 'sun in Basel', tool_call_id: called.tool_calls![0]!.id! })
    expect((await bound.invoke([asked, called, result])).text).toBe(answered)
  })

  it('reads structured answers', async () => {
    expect(await chat().withStructuredOutput(City).invoke(question)).toEqual(city)
    const withMessage = await chat().withStructuredOutput(City, { includeRaw: true }).invoke(question)
    expect(withMessage.parsed).toEqual(city)
  })

  it('sends images', async () => {
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${pixel}` } },
    ]
    expect((await chat().invoke([new HumanMessage({ content })])).text).toBe(answered)
    expect(lastBody()).toContain(pixel)
  })

  it('raises a refusal with its status', async () => {
    const unknown = chatOf('no-such-model')
    await expect(unknown.invoke(question)).rejects.toMatchObject({ status: 404 })
  })
})
