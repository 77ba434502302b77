import { createOpenAI } from '@ai-sdk/openai'
import {
  defaultSettingsMiddleware,
  generateObject,
  generateText,
  stepCountIs,
  streamText,
  tool,
  wrapProvider,
} from 'ai'
import OpenAI, { BadRequestError, NotFoundError } from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { stagePrices } from '../harness/gateway-stage.ts'
import { startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { anthropicReply, type ModelTurn, openaiReply } from '../upstream/format-replies.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

/** Clients of the Responses API, configured only with the gateway's base address. */

let upstream: Upstream
let portico: TestPortico
let organisation: TestOrganisation
let baseURL: string
let turns: ModelTurn[]

beforeAll(async () => {
  upstream = await startUpstream((request) => {
    const reply = request.path.includes('/messages') ? anthropicReply : openaiReply
    return reply(turns.shift()!, request)
  })
  const limits = { contextTokens: 100_000, maxOutputTokens: 4_000 }
  const provider = { baseUrl: upstream.url, apiKey: 'key', hosting: 'us', models: 'declared' }
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        { id: 'o', ...provider },
        { id: 'a', format: 'anthropic', ...provider },
      ],
      models: [
        { id: 'house-gpt', ...limits, deployments: [{ provider: 'o', wireId: 'gpt-5-mini', prices: stagePrices }] },
        {
          id: 'house-claude',
          ...limits,
          deployments: [{ provider: 'a', wireId: 'claude-sonnet-4-6', prices: stagePrices }],
        },
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
beforeEach(() => {
  turns = []
})

const models = ['house-gpt', 'house-claude']
const weatherCall = { id: 'call_1', name: 'weather', args: { city: 'Rome' } }
const thinking = { reasoning: 'A tool is needed.', calls: [weatherCall] }
// oxlint-disable-next-line typescript/no-explicit-any
const sent = (back = 1): any => JSON.parse(upstream.requests.at(-back)!.body)

describe.each(models)('the openai package with %s', (model) => {
  const client = () => new OpenAI({ apiKey: organisation.apiKey, baseURL, maxRetries: 0 })

  it('creates a response', async () => {
    turns = [{ text: ['Hello', ' you'] }]
    const response = await client().responses.create({ model, instructions: 'Be brief.', input: 'Hi' })
    expect(response.output_text).toBe('Hello you')
    expect(response.usage).toMatchObject({ input_tokens: 11, output_tokens: 7 })
  })

  it('streams a response, and its events make the same response', async () => {
    turns = [{ text: ['Hello', ' you'] }]
    const stream = client().responses.stream({ model, input: 'Hi' })
    let text = ''
    for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta
    const final = await stream.finalResponse()
    expect([text, final.output_text]).toEqual(['Hello you', 'Hello you'])
  })

  it('takes the results of tools from a loop that returns every item', async () => {
    const tools = [
      {
        type: 'function' as const,
        name: 'weather',
        strict: true,
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
          additionalProperties: false,
        },
      },
    ]
    turns = [thinking, { text: ['Sunny.'] }]
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'How is the weather in Rome?' }]
    const request = { model, tools, reasoning: { effort: 'low' as const } }
    const first = await client()
      .responses.stream({ ...request, input })
      .finalResponse()
    input.push(...(first.output as OpenAI.Responses.ResponseInput))
    for (const item of first.output) {
      if (item.type !== 'function_call') continue
      expect(JSON.parse(item.arguments)).toEqual({ city: 'Rome' })
      input.push({ type: 'function_call_output', call_id: item.call_id, output: 'sunny' })
    }
    const second = await client().responses.create({ ...request, input })
    expect(second.output_text).toBe('Sunny.')
    if (model === 'house-claude') expect(sent().messages[1].content[0]).toMatchObject({ signature: 'signed' })
  })

  it('parses a structured answer', async () => {
    turns = [{ text: ['{"name":"Rome"}'] }]
    if (model === 'house-claude') turns = [structured('City', { name: 'Rome' })]
    const City = z.object({ name: z.string() })
    const response = await client().responses.parse({
      model,
      input: 'Where?',
      text: { format: zodTextFormat(City, 'City') },
    })
    expect(response.output_parsed).toEqual({ name: 'Rome' })
  })

  it('counts input tokens', async () => {
    expect(await client().responses.inputTokens.count({ model, input: 'Tell me a joke.' })).toMatchObject({
      input_tokens: 5,
    })
  })

  it('raises refusals as typed errors', async () => {
    await expect(client().responses.create({ model, input: 'Hi', store: true })).rejects.toBeInstanceOf(BadRequestError)
    await expect(client().responses.create({ model: 'none', input: 'Hi' })).rejects.toBeInstanceOf(NotFoundError)
  })
})

/** Anthropic's format has a schema for answers since Claude Sonnet 4.5; older models call a tool. */
const structured = (_name: string, value: object): ModelTurn => ({ text: [JSON.stringify(value)] })

describe.each(models)('@ai-sdk/openai with %s', (model) => {
  const provider = () =>
    wrapProvider({
      provider: createOpenAI({ apiKey: organisation.apiKey, baseURL }),
      languageModelMiddleware: defaultSettingsMiddleware({
        settings: { providerOptions: { openai: { store: false } } },
      }),
    })
  const languageModel = () => provider().languageModel(model)
  const weather = tool({
    description: 'The weather of a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => Promise.resolve(`sunny in ${city}`),
  })

  it('generates a text with tools', async () => {
    turns = [thinking, { text: ['Sunny.'] }]
    const { text, steps } = await generateText({
      model: languageModel(),
      prompt: 'How is the weather in Rome?',
      tools: { weather },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    })
    expect(text).toBe('Sunny.')
    expect(steps[0]!.toolResults).toMatchObject([{ output: 'sunny in Rome' }])
    expect(steps[0]!.reasoningText).toBe('A tool is needed.')
    expect(JSON.stringify(sent())).toContain('sunny in Rome')
    if (model === 'house-claude') expect(sent().messages[1].content[0]).toMatchObject({ signature: 'signed' })
  })

  it('streams a text with tools', async () => {
    turns = [thinking, { text: ['Sun', 'ny.'] }]
    const result = streamText({
      model: languageModel(),
      prompt: 'How is the weather in Rome?',
      tools: { weather },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    })
    let text = ''
    for await (const piece of result.textStream) text += piece
    expect(text).toBe('Sunny.')
    expect(await result.totalUsage).toMatchObject({ inputTokens: 22, outputTokens: 14 })
    if (model === 'house-claude') expect(sent().messages[1].content[0]).toMatchObject({ signature: 'signed' })
  })

  it('generates an object', async () => {
    turns = [structured('City', { name: 'Rome' })]
    const { object } = await generateObject({
      model: languageModel(),
      schema: z.object({ name: z.string() }),
      prompt: 'Where?',
      maxRetries: 0,
    })
    expect(object).toEqual({ name: 'Rome' })
  })
})
