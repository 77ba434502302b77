import { describe, expect, test } from 'vitest'
import { providerCall, toolConversation, weatherTool } from '../../../../test/harness/provider-call.ts'
import type { ProviderRequest, ProviderSettings, WireModel } from '../port.ts'
import { createBedrockAdapter } from './index.ts'

const settings: ProviderSettings = {
  id: 'aws',
  format: 'bedrock',
  region: 'eu-central-1',
  apiKey: 'ABSKsecretOfTheTest',
}
const claude = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'

function send(request: Partial<ProviderRequest>, model: Partial<WireModel> = { id: claude }) {
  const wire = createBedrockAdapter(settings).toRequest(providerCall(request, model), { stream: false })
  return { wire, body: JSON.parse(JSON.stringify(wire.body)) as Record<string, unknown>, adjusted: wire.adjusted }
}

describe('a request to Bedrock', () => {
  test('halves the temperature, omits top_p for Claude, and reports both', () => {
    expect(send({ temperature: 1, topP: 0.5 })).toMatchObject({
      body: { inferenceConfig: { temperature: 0.5 } },
      adjusted: ['temperature', 'top_p'],
    })
    expect(send({ temperature: 1, topP: 0.5 }, { id: 'eu.amazon.nova-lite-v1:0' })).toMatchObject({
      body: { inferenceConfig: { temperature: 0.5, topP: 0.5 } },
      adjusted: ['temperature'],
    })
    const { body, adjusted } = send({ temperature: 1, topP: 0.5 }, { id: claude, acceptsTemperature: false })
    expect(body).not.toHaveProperty('inferenceConfig')
    expect(adjusted).toEqual(['temperature', 'top_p'])
  })

  test('contains a cap only if the client set one', () => {
    expect(send({}).body).toEqual({ messages: [{ role: 'user', content: [{ text: 'Hello' }] }] })
    expect(send({ maxOutputTokens: 9 }).body).toMatchObject({ inferenceConfig: { maxTokens: 9 } })
  })

  test('alternates roles, begins with the user and has no blank text', () => {
    const { body, adjusted } = send({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'assistant', content: 'How can I help?' },
        { role: 'user', content: 'One' },
        { role: 'user', content: ' ' },
        { role: 'user', content: 'Two' },
      ],
    })
    expect(body.system).toEqual([{ text: 'Be brief.' }])
    expect(body.messages).toEqual([
      { role: 'user', content: [{ text: '(The conversation begins.)' }] },
      { role: 'assistant', content: [{ text: 'How can I help?' }] },
      { role: 'user', content: [{ text: 'One' }, { text: 'Two' }] },
    ])
    expect(adjusted).toEqual(['messages'])
  })

  test("does not carry one call's turns into the next", () => {
    const messages: ProviderRequest['messages'] = [
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: 'One' },
    ]
    expect(send({ messages }).body).toEqual(send({ messages }).body)
  })

  test('contains tools, calls and results', () => {
    const { body } = send({ messages: toolConversation, tools: [weatherTool], toolChoice: 'required' })
    expect(body.toolConfig).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'weather',
            description: 'Weather of a city',
            inputSchema: { json: weatherTool.parameters },
          },
        },
      ],
      toolChoice: { any: {} },
    })
    expect((body.messages as unknown[]).slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { text: 'Let me look.' },
          { toolUse: { toolUseId: 'call_1', name: 'weather', input: { city: 'Paris' } } },
          { toolUse: { toolUseId: 'call_2', name: 'weather', input: { city: 'Rome' } } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'call_1', content: [{ text: 'Rain' }] } },
          { toolResult: { toolUseId: 'call_2', content: [{ text: 'Sun' }] } },
          { text: 'And in one word?' },
        ],
      },
    ])
  })

  test('omits tools if none may be called, unless the conversation contains calls', () => {
    expect(send({ tools: [weatherTool], toolChoice: 'none' }).body).not.toHaveProperty('toolConfig')
    const { body, adjusted } = send({ messages: toolConversation, tools: [weatherTool], toolChoice: 'none' })
    expect(body).toHaveProperty('toolConfig')
    expect(adjusted).toEqual(['tool_choice'])
  })

  test('reports unsupported fields; metadata is sent if it is valid', () => {
    const { body, adjusted } = send({
      seed: 1,
      user: 'u',
      presencePenalty: 1,
      metadata: { team: 'a', bad: '{}' },
      reasoningEffort: 'low',
    })
    expect(body.requestMetadata).toEqual({ team: 'a' })
    expect(adjusted).toEqual(
      expect.arrayContaining(['seed', 'presence_penalty', 'user', 'metadata', 'reasoning_effort']),
    )
    expect(send({ reasoningEffort: 'low' }, { id: 'eu.anthropic.claude-opus-4-6-v1' })).toMatchObject({
      body: { outputConfig: { effort: 'low' } },
      adjusted: [],
    })
    expect(send({ reasoningEffort: 'high' }, { id: 'openai.gpt-oss-120b-1:0' }).body).toMatchObject({
      additionalModelRequestFields: { reasoning_effort: 'high' },
    })
  })

  test('is sent to the configured region, with the id escaped, and rejected without a region', () => {
    const adapter = createBedrockAdapter(settings)
    const { url, headers } = adapter.toRequest(providerCall({}, { id: claude }), { stream: true })
    expect(url).toBe(
      'https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream',
    )
    expect(headers.accept).toBe('application/vnd.amazon.eventstream')
    expect(adapter.models!.url).toBe('https://bedrock.eu-central-1.amazonaws.com/foundation-models')
    expect(() => createBedrockAdapter({ ...settings, region: undefined })).toThrow(/region/)
    expect(() => createBedrockAdapter({ ...settings, region: 'x.evil.example/' })).toThrow(/region/)
  })
})

describe('embeddings of Bedrock', () => {
  const { embeddings } = createBedrockAdapter(settings)
  const titan = providerCall({}, { id: 'amazon.titan-embed-text-v2:0' }).model
  const cohere = providerCall({}, { id: 'cohere.embed-multilingual-v3' }).model
  const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

  test('of Titan use one call per text, of Cohere one per batch', () => {
    expect([embeddings!.maximumBatch(titan), embeddings!.maximumBatch(cohere)]).toEqual([1, 96])
    const one = embeddings!.toRequest({ model: titan, texts: ['a'], dimensions: 256, purpose: 'document' })
    expect(JSON.parse(JSON.stringify(one.body))).toEqual({ inputText: 'a', normalize: true, dimensions: 256 })
    expect(one.url).toContain('/model/amazon.titan-embed-text-v2%3A0/invoke')
    const many = embeddings!.toRequest({ model: cohere, texts: ['a', 'b'], purpose: 'query' })
    expect(JSON.parse(JSON.stringify(many.body))).toEqual({
      texts: ['a', 'b'],
      input_type: 'search_query',
      embedding_types: ['float'],
    })
  })

  test('of Cohere are recognised by the id on the wire, or by the catalogue’s name behind an inference profile', () => {
    const listed = { id: 'cohere.embed-english-v3', baseModel: 'embed-english' }
    const profile = {
      id: 'arn:aws:bedrock:eu-central-1:1:application-inference-profile/x',
      baseModel: 'embed-multilingual',
    }
    for (const names of [listed, profile]) {
      const { model } = providerCall({}, names)
      const { body } = embeddings!.toRequest({ model, texts: ['a', 'b'], purpose: 'document' })
      expect(body).toMatchObject({ texts: ['a', 'b'], input_type: 'search_document' })
    }
  })

  test('are read from each form of body of these models', () => {
    const vectors = [new Float32Array([1, 2])]
    expect(embeddings!.fromResponse(bytes({ embedding: [1, 2], inputTextTokenCount: 3 }))).toEqual({
      vectors,
      promptTokens: 3,
    })
    expect(embeddings!.fromResponse(bytes({ embeddings: [[1, 2]] }))).toEqual({ vectors, promptTokens: null })
    expect(embeddings!.fromResponse(bytes({ embeddings: { float: [[1, 2]] } }))).toEqual({
      vectors,
      promptTokens: null,
    })
    expect(embeddings!.fromResponse(bytes({ embeddings: { int8: [[1, 2]] } }))).toEqual({ vectors, promptTokens: null })
    expect(() => embeddings!.fromResponse(bytes({ embeddings: { binary: [[1]] } }))).toThrow(/could not be read/)
  })
})
