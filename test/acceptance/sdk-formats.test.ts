import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { HumanMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { generateObject, generateText, stepCountIs, streamObject, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ProviderFormat } from '../../src/contract/provider-formats.ts'
import { stagePrices } from '../harness/gateway-stage.ts'
import { startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { testedFormats } from '../upstream/tested-formats.ts'
import { startUpstream, type Upstream, type UpstreamReply, type UpstreamRequest } from '../upstream/upstream.ts'

/** Helpers of the official clients (tool runners, parsed answers, objects) with a model of each provider format. */

/** Where it is not the address of another format with the same bodies. */
const addresses: Partial<Record<ProviderFormat, string>> = {
  azure: '/azure/openai/deployments/house-chat/chat/completions?api-version=',
  vertex: '/vertex/v1/projects/p/locations/us-central1/publishers/google/models/gemini-2.5-pro:',
}

const city = { name: 'Basel', population: 180_000 }
const City = z.object({ name: z.string(), population: z.number() })
const question = 'How is the weather in Basel?'
const report = 'sun in Basel'
const answered = 'It is sunny in Basel.'
const weather = ({ place }: { place: string }) => `sun in ${place}`

let portico: TestPortico
let upstream: Upstream
let organisation: TestOrganisation
let baseURL: string

/** Calls the tool `weather`, answers when its result has arrived, and answers a call with a schema with an object. */
function answer(request: UpstreamRequest): UpstreamReply {
  const format = request.path.split('/')[1] as ProviderFormat
  const { reply } = testedFormats[format]
  const address = addresses[format]
  if (address !== undefined && !request.path.startsWith(address)) return { status: 404 }
  const { body } = request
  if (body.includes(report)) return reply({ text: ['It is sunny', ' in Basel.'] }, request)
  // A request with a schema has its field; where a format has none, the schema is a tool.
  if (body.includes('population')) {
    const schemaTool = /"name":"((?!weather)[\w-]+)","(?:description|input_schema|inputSchema|parameters)"/.exec(body)
    if (schemaTool && /"tools"|toolConfig/.test(body))
      return reply({ calls: [{ id: 'call_1', name: schemaTool[1]!, args: city }] }, request)
    const written = JSON.stringify(city)
    return reply({ text: [written.slice(0, 9), written.slice(9)] }, request)
  }
  return reply({ calls: [{ id: 'call_1', name: 'weather', args: { place: 'Basel' } }] }, request)
}

beforeAll(async () => {
  upstream = await startUpstream(answer)
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: Object.entries(testedFormats).map(([id, { settings }]) => ({
        id,
        format: id,
        baseUrl: `${upstream.url}/${id}`,
        apiKey: 'key',
        hosting: 'us',
        models: 'declared',
        ...settings,
      })),
      models: Object.entries(testedFormats).map(([id, { wireId }]) => ({
        id,
        contextTokens: 100_000,
        maxOutputTokens: 4_000,
        deployments: [{ provider: id, wireId, prices: stagePrices }],
      })),
    },
  })
  organisation = await portico.createOrganisation()
  baseURL = `${portico.url}/v2/gateway`
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})

const access = () => ({ apiKey: organisation.apiKey, baseURL, maxRetries: 0 })

describe.each(Object.keys(testedFormats))('with a model of the format %s', (model) => {
  const messages = [{ role: 'user' as const, content: question }]
  const parameters = { type: 'object' as const, properties: { place: { type: 'string' as const } } }

  it('the openai package runs tools and parses answers, whole and streamed', async () => {
    const client = new OpenAI(access())
    const definition = {
      name: 'weather',
      description: 'Weather.',
      parameters,
      parse: JSON.parse as (input: string) => { place: string },
      function: weather,
    }
    const tools = [{ type: 'function' as const, function: definition }]
    expect(await client.chat.completions.runTools({ model, messages, tools }).finalContent()).toBe(answered)
    const streamed = client.chat.completions.runTools({ model, messages, tools, stream: true })
    expect(await streamed.finalContent()).toBe(answered)

    const request = { model, messages, response_format: zodResponseFormat(City, 'City') }
    const parsed = await client.chat.completions.parse(request)
    expect(parsed.choices[0]!.message.parsed).toEqual(city)
    const final = await client.chat.completions.stream(request).finalChatCompletion()
    expect(final.choices[0]!.message.parsed).toEqual(city)
    const response = await client.responses.parse({
      model,
      input: question,
      text: { format: zodTextFormat(City, 'City') },
    })
    expect(response.output_parsed).toEqual(city)
  })

  it('the Anthropic SDK runs tools, whole and streamed', async () => {
    const client = new Anthropic({ ...access(), baseURL: `${baseURL}/anthropic` })
    const tools = [
      betaTool({
        name: 'weather',
        description: 'Weather.',
        inputSchema: { ...parameters, required: ['place'] },
        run: weather,
      }),
    ]
    for (const stream of [false, true]) {
      const runner = client.beta.messages.toolRunner({ model, max_tokens: 500, messages, tools, stream })
      expect((await runner.runUntilDone()).content.at(-1)).toMatchObject({ type: 'text', text: answered })
    }
  })

  it('the AI SDK runs tools and generates objects with each of its providers', async () => {
    const { apiKey } = organisation
    const openai = createOpenAI({ apiKey, baseURL })
    const compatible = createOpenAICompatible({ name: 'portico', apiKey, baseURL, supportsStructuredOutputs: true })
    const anthropic = createAnthropic({ apiKey, baseURL: `${baseURL}/anthropic/v1` })
    // By default its Anthropic provider forces a tool, which Ollama cannot.
    const providerOptions = {
      openai: { store: false },
      ...(model === 'ollama' && { anthropic: { structuredOutputMode: 'outputFormat' } }),
    }
    const tools = { weather: tool({ inputSchema: z.object({ place: z.string() }), execute: weather }) }
    for (const used of [openai(model), openai.chat(model), compatible(model), anthropic(model)]) {
      const run = { model: used, prompt: question, maxRetries: 0, providerOptions }
      const withTools = { ...run, tools, stopWhen: stepCountIs(3) }
      expect((await generateText(withTools)).text, used.provider).toBe(answered)
      expect(await streamText(withTools).text, used.provider).toBe(answered)
      expect((await generateObject({ ...run, schema: City })).object, used.provider).toEqual(city)
      const streamed = streamObject({ ...run, schema: City })
      const parts: unknown[] = []
      for await (const part of streamed.partialObjectStream) parts.push(part)
      expect([parts.at(-1), await streamed.object], used.provider).toEqual([city, city])
    }
  })

  it('LangChain calls tools and reads structured answers', async () => {
    const chat = new ChatOpenAI({ ...access(), model, configuration: { baseURL } })
    const bound = chat.bindTools([{ type: 'function', function: { name: 'weather', parameters } }])
    const called = await bound.invoke([new HumanMessage(question)])
    expect(called.tool_calls).toMatchObject([{ name: 'weather', args: { place: 'Basel' } }])
    expect(await chat.withStructuredOutput(City, { method: 'jsonSchema' }).invoke(question)).toEqual(city)
  })
})
