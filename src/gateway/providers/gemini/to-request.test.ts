import { describe, expect, test } from 'vitest'
import { providerCall, toolConversation, weatherTool } from '../../../../test/harness/provider-call.ts'
import type { ProviderRequest, ProviderSettings, WireModel } from '../port.ts'
import { createGeminiAdapter, createVertexAdapterWith } from './index.ts'

const settings: ProviderSettings = { id: 'gemini', format: 'gemini', apiKey: 'AIzaSecretOfTheTest-0123456789abcdef' }
const vertexSettings: ProviderSettings = {
  id: 'vertex',
  format: 'vertex',
  project: 'my-project',
  region: 'europe-west4',
}
const signal = new AbortController().signal

function send(request: Partial<ProviderRequest>, model: Partial<WireModel> = {}) {
  const wire = createGeminiAdapter(settings).toRequest(providerCall(request, model), { stream: false })
  const body = JSON.parse(JSON.stringify(wire.body)) as Record<string, unknown>
  return { wire, body, config: (body.generationConfig ?? {}) as Record<string, unknown>, adjusted: wire.adjusted }
}

describe('a request to Gemini', () => {
  test('contains the client’s sampling unchanged, and no other fields', () => {
    expect(send({}).body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] })
    const { config, adjusted } = send({ temperature: 1.7, topP: 0.3, maxOutputTokens: 9, stop: ['END'], seed: 4 })
    expect(config).toEqual({ temperature: 1.7, topP: 0.3, maxOutputTokens: 9, stopSequences: ['END'], seed: 4 })
    expect(adjusted).toEqual([])
  })

  test('reports omitted and changed fields', () => {
    const { config, adjusted } = send(
      { temperature: 1, topP: 1, seed: 2 ** 40, user: 'u', metadata: { a: 'b' }, presencePenalty: 0 },
      { acceptsTemperature: false },
    )
    expect(Object.keys(config)).toEqual(['seed'])
    expect(Math.abs(config.seed as number)).toBeLessThan(2 ** 31)
    expect(adjusted).toEqual(['temperature', 'top_p', 'seed', 'user', 'metadata'])
  })

  test.each(['gemini-2.5-flash', 'gemini-3-flash-preview'])('omits penalties, which %s refuses', (id) => {
    const { config, adjusted } = send({ presencePenalty: 0.5, frequencyPenalty: 0.5 }, { id, baseModel: id })
    expect(config).toEqual({})
    expect(adjusted).toEqual(['presence_penalty', 'frequency_penalty'])
    const older = send({ presencePenalty: 0.5 }, { id: 'gemini-2.0-flash', baseModel: 'gemini-2.0-flash' })
    expect(older.config).toEqual({ presencePenalty: 0.5 })
  })

  test('puts instructions before the question for Gemma, which does not support them', () => {
    const messages = [
      { role: 'system' as const, content: 'Be brief.' },
      { role: 'user' as const, content: 'Hello' },
    ]
    expect(send({ messages }, { id: 'gemma-3-27b-it', baseModel: 'gemma-3-27b-it' }).body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Be brief.\n\n' }, { text: 'Hello' }] }],
    })
  })

  test('omits fields that the operator declared as refused', () => {
    const adapter = createGeminiAdapter({ ...settings, quirks: { rejects: ['frequency_penalty', 'seed'] } })
    const wire = adapter.toRequest(providerCall({ frequencyPenalty: 1, presencePenalty: 0.5, seed: 1 }), {
      stream: false,
    })
    expect(JSON.parse(JSON.stringify(wire.body))).toMatchObject({ generationConfig: { presencePenalty: 0.5 } })
    expect(wire.adjusted).toEqual(['seed', 'frequency_penalty'])
  })

  test('has separate system texts and sends assistant turns as the model', () => {
    const { body } = send({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Two' },
        { role: 'user', content: 'Three' },
      ],
    })
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }] })
    expect((body.contents as { role: string }[]).map((turn) => turn.role)).toEqual(['user', 'model', 'user'])
  })

  test('contains tools, calls and results; results name their tool', () => {
    const { body } = send({ messages: toolConversation, tools: [weatherTool], toolChoice: 'required' })
    expect(body.tools).toEqual([
      {
        functionDeclarations: [
          { name: 'weather', description: 'Weather of a city', parametersJsonSchema: weatherTool.parameters },
        ],
      },
    ])
    expect(body.toolConfig).toEqual({ functionCallingConfig: { mode: 'ANY' } })
    expect((body.contents as unknown[]).slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'Let me look.' },
          { functionCall: { name: 'weather', args: { city: 'Paris' } } },
          { functionCall: { name: 'weather', args: { city: 'Rome' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'weather', response: { result: 'Rain' } } },
          { functionResponse: { name: 'weather', response: { result: 'Sun' } } },
          { text: 'And in one word?' },
        ],
      },
    ])
  })

  test('sends back the id and the thought signature of an earlier call', () => {
    const answer = createGeminiAdapter(settings).fromResponse(
      Buffer.from(
        JSON.stringify({
          responseId: 'r1',
          candidates: [
            {
              finishReason: 'STOP',
              content: {
                parts: [{ functionCall: { id: 'fc1', name: 'weather', args: {} }, thoughtSignature: 'c2ln' }],
              },
            },
          ],
        }),
      ),
    )
    const { body } = send(
      {
        messages: [
          { role: 'user', content: 'Weather?' },
          { role: 'assistant', content: '', toolCalls: answer.toolCalls },
          { role: 'tool', content: '{"sky":"blue"}', toolCallId: answer.toolCalls[0]!.id },
        ],
      },
      { id: 'gemini-3-pro-preview' },
    )
    expect((body.contents as unknown[]).slice(1)).toEqual([
      { role: 'model', parts: [{ functionCall: { id: 'fc1', name: 'weather', args: {} }, thoughtSignature: 'c2ln' }] },
      { role: 'user', parts: [{ functionResponse: { id: 'fc1', name: 'weather', response: { sky: 'blue' } } }] },
    ])
  })

  test('marks calls of other models if Gemini 3 requires a signature', () => {
    const { body } = send({ messages: toolConversation }, { id: 'gemini-3-flash-preview' })
    const parts = (body.contents as { parts: Record<string, unknown>[] }[])[1]!.parts
    expect(parts.map((part) => part.thoughtSignature)).toEqual([
      undefined,
      'skip_thought_signature_validator',
      undefined,
    ])
  })

  test.each([
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }, []],
    ['gemini-2.5-pro', 'none', undefined, ['reasoning_effort']],
    ['gemini-2.5-pro', 'high', { thinkingBudget: 24_576 }, []],
    ['gemini-3-pro-preview', 'medium', { thinkingLevel: 'high' }, ['reasoning_effort']],
    ['gemini-3-flash-preview', 'minimal', { thinkingLevel: 'minimal' }, []],
    ['gemini-2.0-flash', 'low', undefined, ['reasoning_effort']],
  ])('for %s maps the effort %s to %o', (id, effort, thinkingConfig, adjusted) => {
    const result = send({ reasoningEffort: effort }, { id })
    expect(result.config.thinkingConfig).toEqual(thinkingConfig)
    expect(result.adjusted).toEqual(adjusted)
  })

  test('contains its key in a header, never in the address', async () => {
    const adapter = createGeminiAdapter(settings)
    const wire = adapter.toRequest(providerCall({}, { id: 'gemini-2.5-flash' }), { stream: true })
    expect(wire.url).toBe(
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    )
    expect(await adapter.authorize({ ...wire, body: '' }, signal)).toEqual({ 'x-goog-api-key': settings.apiKey })
    expect(JSON.stringify(wire) + adapter.models!.url).not.toContain(settings.apiKey)
  })
})

describe('a request to Vertex AI', () => {
  const urlOf = (changes: Partial<ProviderSettings>, id = 'gemini-2.5-flash') =>
    createVertexAdapterWith({ ...vertexSettings, ...changes }, async () => 'token').toRequest(
      providerCall({}, { id }),
      {
        stream: false,
      },
    ).url

  test.each([
    ['europe-west4', 'https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com/v1/projects/my-project/locations/eu'],
    ['global', 'https://aiplatform.googleapis.com/v1/projects/my-project/locations/global'],
  ])('is sent to the host of its region %s', (region, root) => {
    expect(urlOf({ region })).toBe(`${root}/publishers/google/models/gemini-2.5-flash:generateContent`)
  })

  test('contains the token of its source', async () => {
    const adapter = createVertexAdapterWith(vertexSettings, async () => 'ya29.token')
    const wire = adapter.toRequest(providerCall(), { stream: false })
    expect(await adapter.authorize({ ...wire, body: '' }, signal)).toEqual({ authorization: 'Bearer ya29.token' })
  })

  test('without a project or a region is rejected at configuration', () => {
    expect(() => urlOf({ region: undefined })).toThrow(/region/)
    expect(() => urlOf({ project: undefined })).toThrow(/project/)
  })
})
