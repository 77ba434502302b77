import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { embed, generateText, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../upstream/upstream.ts'

/** The official clients with the base address of version 2: tools and embeddings, in front of a scripted host. */

let portico: TestPortico
let upstream: Upstream
let organisation: TestOrganisation
let baseURL: string
const model = 'chatty'
const prompt = 'How is the weather in Basel?'
const args = '{"city":"Basel"}'
const answerText = 'It is sunny in Basel.'
const weather = async ({ city }: { city: string }) => `sun in ${city}`
const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }

interface Sent {
  input?: unknown[]
  stream?: boolean
  messages: { role: string; content: unknown }[]
}

/** Calls the tool first, and answers when its result has arrived. */
function answer(sent: Sent): UpstreamReply {
  if (sent.input) {
    const data = sent.input.map((_, index) => ({ index, embedding: [0.5, -1] }))
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data, usage }) }
  }
  const isAnswered = sent.messages.some(({ role }) => role === 'tool')
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: args } }
  const finish = isAnswered ? 'stop' : 'tool_calls'
  const base = { id: 'x', created: 1, model: 'wire' }
  if (!sent.stream) {
    const message = isAnswered ? { content: answerText } : { content: null, tool_calls: [call] }
    const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }]
    const body = JSON.stringify({ ...base, object: 'chat.completion', choices, usage })
    return { headers: { 'content-type': 'application/json' }, body }
  }
  const deltas = isAnswered
    ? answerText.split(/(?= )/).map((content) => ({ content }))
    : [
        { tool_calls: [{ index: 0, ...call, function: { name: 'weather', arguments: '' } }] },
        ...[args.slice(0, 5), args.slice(5)].map((part) => ({
          tool_calls: [{ index: 0, function: { arguments: part } }],
        })),
      ]
  const chunks = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { choices: [], usage },
  ].map((chunk) => `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...chunk })}\n\n`)
  return { headers: { 'content-type': 'text/event-stream' }, body: `${chunks.join('')}data: [DONE]\n\n` }
}

beforeAll(async () => {
  upstream = await startUpstream(({ body }) => answer(JSON.parse(body) as Sent))
  const deployments = [{ provider: 'host', prices: { input: '1', output: '2' } }]
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        {
          id: 'host',
          flavour: 'openai',
          baseUrl: `${upstream.url}/v1`,
          apiKey: 'sk-test',
          hosting: 'us',
          models: 'declared',
        },
      ],
      models: [
        { id: model, kind: 'chat', contextTokens: 100_000, maxOutputTokens: 4_000, deployments },
        { id: 'embed', kind: 'embedding', dimensions: 2, contextTokens: 8_000, deployments },
      ],
    },
  })
  organisation = await portico.createOrganisation()
  baseURL = `${portico.url}/v2/gateway`
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})

describe('the openai package', () => {
  const client = () => new OpenAI({ apiKey: organisation.apiKey, baseURL, maxRetries: 0 })
  const definition = {
    type: 'function' as const,
    function: {
      name: 'weather',
      parse: (input: string) => JSON.parse(input) as { city: string },
      function: weather,
      description: 'The weather of a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  }
  const messages = [{ role: 'user' as const, content: prompt }]

  it('runs tools, whole and streamed', async () => {
    const runner = client().chat.completions.runTools({ model, messages, tools: [definition] })
    expect(await runner.finalContent()).toBe(answerText)
    const streamed = client().chat.completions.runTools({ model, messages, tools: [definition], stream: true })
    expect(await streamed.finalContent()).toBe(answerText)
    expect((await streamed.finalFunctionToolCall())?.arguments).toBe(args)
  })

  it('embeds texts', async () => {
    const { data } = await client().embeddings.create({ model: 'embed', input: ['a', 'b'] })
    expect(data.map(({ embedding }) => embedding)).toEqual([
      [0.5, -1],
      [0.5, -1],
    ])
  })
})

describe('the AI SDK', () => {
  const tools = { weather: tool({ inputSchema: z.object({ city: z.string() }), execute: weather }) }
  const options = { prompt, tools, stopWhen: stepCountIs(3), maxRetries: 0 }
  const models = () => [
    createOpenAICompatible({ name: 'portico', apiKey: organisation.apiKey, baseURL })(model),
    createOpenAI({ apiKey: organisation.apiKey, baseURL }).chat(model),
  ]

  it('runs tools, whole and streamed, with both of its providers', async () => {
    for (const one of models()) {
      const { text, steps } = await generateText({ ...options, model: one })
      expect(text).toBe(answerText)
      expect(steps[0]!.toolResults[0]).toMatchObject({ input: { city: 'Basel' }, output: 'sun in Basel' })
      expect(await streamText({ ...options, model: one }).text).toBe(answerText)
    }
  })

  it('embeds a text', async () => {
    const provider = createOpenAICompatible({ name: 'portico', apiKey: organisation.apiKey, baseURL })
    const { embedding } = await embed({ model: provider.textEmbeddingModel('embed'), value: 'a', maxRetries: 0 })
    expect(embedding).toEqual([0.5, -1])
  })
})

describe('@langchain/openai', () => {
  const fields = () => ({ apiKey: organisation.apiKey, maxRetries: 0, configuration: { baseURL } })

  it('calls tools and takes their results', async () => {
    const chat = new ChatOpenAI({ model, ...fields() }).bindTools([
      { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } },
    ])
    const asked = new HumanMessage(prompt)
    const called = await chat.invoke([asked])
    expect(called.tool_calls).toMatchObject([{ name: 'weather', args: { city: 'Basel' } }])
    const result = new ToolMessage({ content: 'sun', tool_call_id: called.tool_calls![0]!.id! })
    expect((await chat.invoke([asked, called, result])).content).toBe(answerText)
  })

  it('embeds texts', async () => {
    const embeddings = new OpenAIEmbeddings({ model: 'embed', ...fields() })
    expect(await embeddings.embedDocuments(['a', 'b'])).toHaveLength(2)
  })
})
