import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { generateText, Output, stepCountIs, streamText, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type MessagesStage, promptCounted, startMessagesStage } from '../harness/messages-stage.ts'

/** The official clients of the Messages API, configured only with the base address, against models of two providers. */

let stage: MessagesStage
beforeAll(async () => {
  stage = await startMessagesStage()
})
afterAll(() => stage?.stop())

const client = (apiKey = stage.organisation.apiKey) => new Anthropic({ apiKey, baseURL: stage.baseURL, maxRetries: 0 })
const ask = { max_tokens: 2_000, messages: [{ role: 'user' as const, content: 'What is the weather in Rome?' }] }

/** A model that calls the tool `weather` first and repeats its result afterwards. */
function playWeather() {
  stage.answer((body) => {
    const received = JSON.stringify(body)
    if (received.includes('Rain in Rome')) return { text: 'Rain in Rome, says the tool.' }
    return {
      thinking: 'I need the tool.',
      text: 'Let me look.',
      call: { id: 'call_1', name: 'weather', input: { city: 'Rome' } },
    }
  })
}

/** The blocks without signatures. */
function shown(content: Anthropic.ContentBlock[]) {
  return content.filter(({ type }) => type !== 'redacted_thinking').map((block) => ({ ...block, signature: undefined }))
}

describe.each(['claude', 'gpt'])('the @anthropic-ai/sdk package with %s', (model) => {
  it('creates a message, plain and streamed, with the same content and the same usage', async () => {
    playWeather()
    const plain = await client().messages.create({ ...ask, model: `${model}-alias` })
    const streamed = client().messages.stream({ ...ask, model })
    const texts: string[] = []
    streamed.on('text', (text) => texts.push(text))
    const final = await streamed.finalMessage()
    expect(plain).toMatchObject({ type: 'message', role: 'assistant', model, stop_reason: 'tool_use' })
    expect(plain.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use'])
    expect(plain.content.at(-1)).toMatchObject({ name: 'weather', input: { city: 'Rome' } })
    expect(texts.join('')).toBe('Let me look.')
    // The opaque reasoning of another provider comes at the end of its stream, in a block.
    expect(shown(final.content)).toEqual(shown(plain.content))
    expect(final.usage).toEqual(plain.usage)
    expect(plain.usage).toMatchObject({ input_tokens: 11, output_tokens: 7 })
    expect(plain._request_id).toMatch(/^req_/)
  })

  it('runs tools until the model answers', async () => {
    playWeather()
    const weather = betaTool({
      name: 'weather',
      description: 'Weather of a city',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      run: ({ city }) => `Rain in ${city}`,
    })
    for (const stream of [false, true]) {
      const final = await client()
        .beta.messages.toolRunner({ ...ask, model, tools: [weather], stream })
        .runUntilDone()
      expect(final.content.at(-1)).toMatchObject({ type: 'text', text: 'Rain in Rome, says the tool.' })
    }
  })

  it('counts tokens without an answer', async () => {
    const { input_tokens: tokens } = await client().messages.countTokens({ messages: ask.messages, model })
    if (model === 'claude') expect(tokens).toBe(promptCounted)
    else expect(tokens).toBeGreaterThan(5)
  })

  it('raises each refusal as its typed error', async () => {
    stage.answer(() => ({ text: 'Hello.' }))
    const create = (fields: object, key?: string) => client(key).messages.create({ ...ask, model, ...fields })
    await expect(create({}, 'ptc_none')).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
    await expect(create({ model: 'nothing' })).rejects.toBeInstanceOf(Anthropic.NotFoundError)
    await expect(create({ max_tokens: 0 })).rejects.toMatchObject({
      status: 400,
      error: {
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining('max_tokens') as string },
      },
      requestID: expect.stringMatching(/^req_/) as string,
    })
    const closed = await stage.portico.createOrganisation({ gatewayEnabled: false })
    await expect(create({}, closed.apiKey)).rejects.toBeInstanceOf(Anthropic.PermissionDeniedError)
    const poor = await stage.portico.createOrganisation({ monthlyBudgetUsd: '0.000001' })
    await expect(create({}, poor.apiKey)).rejects.toMatchObject({
      status: 402,
      error: { error: { type: 'billing_error' } },
    })
  })
})

describe('the @anthropic-ai/sdk package', () => {
  it('lists models of every provider in pages, and gets one by alias', async () => {
    const ids: string[] = []
    for await (const { id } of client().models.list({ limit: 1 })) ids.push(id)
    expect(ids).toEqual(expect.arrayContaining(['claude', 'gpt']))
    expect(new Set(ids).size).toBe(ids.length)
    expect(await client().models.retrieve('claude-alias')).toMatchObject({ id: 'claude', type: 'model' })
    await expect(client().models.retrieve('nothing')).rejects.toBeInstanceOf(Anthropic.NotFoundError)
  })

  it('takes the key as a bearer token', async () => {
    const { apiKey } = stage.organisation
    const bearer = new Anthropic({ authToken: apiKey, apiKey: null, baseURL: stage.baseURL, maxRetries: 0 })
    expect((await bearer.models.list()).data.length).toBeGreaterThan(0)
  })

  it('refuses a hosted tool at a model without it, and names the tool', async () => {
    const bash = { type: 'bash_20250124' as const, name: 'bash' as const }
    await expect(client().messages.create({ ...ask, model: 'gpt', tools: [bash] })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/bash_20250124.*`claude`/s) as string,
    })
    stage.answer(() => ({ call: { id: 'b', name: 'bash', input: { command: 'ls' } } }))
    const message = await client().messages.create({ ...ask, model: 'claude', tools: [bash] })
    expect(message.content).toMatchObject([{ type: 'tool_use', name: 'bash' }])
    expect(JSON.parse(stage.upstream.requests.at(-1)!.body)).toMatchObject({ tools: [bash] })
  })
})

describe.each(['claude', 'gpt'])('@ai-sdk/anthropic with %s', (model) => {
  const provider = () => createAnthropic({ apiKey: stage.organisation.apiKey, baseURL: `${stage.baseURL}/v1` })
  const weather = tool({
    description: 'Weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => Promise.resolve(`Rain in ${city}`),
  })
  const options = () => ({
    model: provider()(model),
    prompt: 'What is the weather in Rome?',
    tools: { weather },
    stopWhen: stepCountIs(3),
    maxRetries: 0,
  })

  it('generates text with tools, plain and streamed', async () => {
    playWeather()
    const plain = await generateText(options())
    expect(plain.text).toBe('Rain in Rome, says the tool.')
    expect(plain.steps[0]!.toolCalls).toMatchObject([{ toolName: 'weather', input: { city: 'Rome' } }])
    const streamed = streamText(options())
    expect(await streamed.text).toBe('Rain in Rome, says the tool.')
    expect((await streamed.steps).length).toBe(2)
  })

  it('generates an object', async () => {
    stage.answer((body) => {
      const input = { city: 'Rome' }
      const forced = JSON.stringify(body.tool_choice ?? '')
      return forced.includes('json') ? { call: { id: 'j', name: 'json', input } } : { text: JSON.stringify(input) }
    })
    const { output } = await generateText({
      model: provider()(model),
      prompt: 'Which city?',
      output: Output.object({ schema: z.object({ city: z.string() }) }),
      maxRetries: 0,
    })
    expect(output).toEqual({ city: 'Rome' })
  })
})
