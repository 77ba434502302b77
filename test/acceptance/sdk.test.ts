import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { APICallError, generateText, streamText } from 'ai'
import OpenAI, { AuthenticationError, BadRequestError, NotFoundError, PermissionDeniedError } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'

/** The official clients of the compatible API, configured only with the gateway's base address. */

let portico: TestPortico
let organisation: TestOrganisation
let baseURL: string
const model = 'portico/offline'
const messages = [{ role: 'user' as const, content: 'Say hello to the test, please.' }]

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
  baseURL = `${portico.url}/v1/gateway`
})
afterAll(() => portico?.stop())

describe('the openai package', () => {
  const client = (apiKey = organisation.apiKey) => new OpenAI({ apiKey, baseURL, maxRetries: 0 })

  it('lists models', async () => {
    const ids: string[] = []
    for await (const { id } of client().models.list()) ids.push(id)
    expect(ids).toContain(model)
  })

  it('completes, plain and streamed, with the same text and the same usage', async () => {
    const plain = await client().chat.completions.create({ model, messages })
    const stream = await client().chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    let usage: unknown
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      if (chunk.usage) usage = chunk.usage
    }
    expect(text).toBe(plain.choices[0]!.message.content)
    expect(usage).toEqual(plain.usage)
  })

  it('raises each refusal as its typed error', async () => {
    await expect(client('ptc_none').models.list()).rejects.toBeInstanceOf(AuthenticationError)
    const create = (fields: object) => client().chat.completions.create({ model, messages, ...fields })
    await expect(create({ model: 'nothing' })).rejects.toBeInstanceOf(NotFoundError)
    await expect(create({ temperature: 3 })).rejects.toBeInstanceOf(BadRequestError)
    await expect(create({ tools: [{ type: 'function', function: { name: 'f' } }] })).rejects.toMatchObject({
      code: 'unsupported_parameter',
      param: 'tools',
    })
    const closed = await portico.createOrganisation({ gatewayEnabled: false })
    await expect(client(closed.apiKey).models.list()).rejects.toBeInstanceOf(PermissionDeniedError)
    const ended = await portico.createOrganisation({ subscription: { status: 'cancelled' } })
    await expect(client(ended.apiKey).chat.completions.create({ model, messages })).rejects.toMatchObject({
      status: 402,
      code: 'subscription_required',
    })
  })
})

describe('@ai-sdk/openai-compatible', () => {
  const provider = (apiKey = organisation.apiKey) =>
    createOpenAICompatible({ name: 'portico', apiKey, baseURL, includeUsage: true })

  it('completes, plain and streamed', async () => {
    const prompt = 'Say hello to the test, please.'
    const plain = await generateText({ model: provider()(model), prompt, maxRetries: 0 })
    const streamed = streamText({ model: provider()(model), prompt, maxRetries: 0 })
    let text = ''
    for await (const piece of streamed.textStream) text += piece
    expect(plain.text).toMatch(/\S/)
    expect(text).toBe(plain.text)
    expect(await streamed.totalUsage).toMatchObject({ outputTokens: plain.usage.outputTokens })
  })

  it('raises a refusal with its status', async () => {
    const call = generateText({ model: provider('ptc_none')(model), prompt: 'x', maxRetries: 0 })
    await expect(call).rejects.toSatisfy((error) => APICallError.isInstance(error) && error.statusCode === 401)
  })
})

describe('@langchain/openai', () => {
  const chat = (apiKey = organisation.apiKey) =>
    new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration: { baseURL } })

  it('completes, plain and streamed', async () => {
    const plain = await chat().invoke('Say hello to the test, please.')
    let text = ''
    for await (const chunk of await chat().stream('Say hello to the test, please.')) text += String(chunk.content)
    expect(String(plain.content)).toMatch(/\S/)
    expect(text).toBe(plain.content)
  })

  it('raises a refusal with its status', async () => {
    await expect(chat('ptc_none').invoke('x')).rejects.toMatchObject({ status: 401 })
  })
})
