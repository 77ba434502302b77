import { describe, expect, test } from 'vitest'
import { providerCall, toolConversation, weatherTool } from '../../../../test/harness/provider-call.ts'
import type { ProviderCall, ProviderSettings } from '../port.ts'
import { flavours } from './flavours.ts'
import { createOpenAiAdapter } from './index.ts'

function send(call: ProviderCall, settings: Partial<ProviderSettings> = {}, stream = false) {
  const adapter = createOpenAiAdapter({
    id: 'x',
    format: 'openai',
    flavour: 'generic',
    baseUrl: 'http://h.test',
    ...settings,
  })
  const request = adapter.toRequest(call, { stream })
  return { ...request, json: JSON.parse(JSON.stringify(request.body)) as Record<string, unknown> }
}

test('sampling is not sent to OpenAI’s search models, which refuse it', () => {
  const id = 'gpt-4o-mini-search-preview-2025-03-11'
  const { json } = send(providerCall({ temperature: 0.5, topP: 0.5, presencePenalty: 1 }, { id, baseModel: id }), {
    flavour: 'openai',
  })
  expect(Object.keys(json)).toEqual(['model', 'messages'])
})

test('a last assistant turn is marked as prefix for Mistral, which refuses it otherwise', () => {
  const messages = [
    { role: 'user' as const, content: 'Hello' },
    { role: 'assistant' as const, content: 'Hi' },
  ]
  const last = (flavour: string) => (send(providerCall({ messages }), { flavour }).json.messages as unknown[]).at(-1)
  expect(last('mistral')).toEqual({ role: 'assistant', content: 'Hi', prefix: true })
  expect(last('groq')).toEqual({ role: 'assistant', content: 'Hi' })
})

describe('a request', () => {
  test('contains every field under its wire name, and reports none as adjusted', () => {
    const call = providerCall({
      temperature: 1.4,
      topP: 0.9,
      maxOutputTokens: 50,
      stop: ['END'],
      seed: 7,
      presencePenalty: 0.5,
      frequencyPenalty: -0.5,
      user: 'u1',
    })
    const { json, adjusted } = send(call)
    expect(json).toEqual({
      model: 'test-model',
      messages: [{ role: 'user', content: 'Hello' }],
      temperature: 1.4,
      top_p: 0.9,
      max_tokens: 50,
      stop: ['END'],
      seed: 7,
      presence_penalty: 0.5,
      frequency_penalty: -0.5,
      user: 'u1',
    })
    expect(adjusted).toEqual([])
  })

  test('requests usage in streams, unless the operator declared that the host refuses it', () => {
    expect(send(providerCall(), {}, true).json).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    const refusing = send(providerCall(), { quirks: { streamOptions: false } }, true).json
    expect(refusing).toMatchObject({ stream: true })
    expect(refusing).not.toHaveProperty('stream_options')
  })

  test('contains tool calls and their results', () => {
    const { json } = send(providerCall({ messages: toolConversation, tools: [weatherTool], toolChoice: 'required' }))
    expect(json.messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
          {},
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
      { role: 'tool', tool_call_id: 'call_2', content: 'Sun' },
      { role: 'user' },
    ])
    expect(json).toMatchObject({
      tools: [{ type: 'function', function: { name: 'weather' } }],
      tool_choice: 'required',
    })
  })

  test('omits and reports fields that the operator declared as refused', () => {
    const { json, adjusted } = send(providerCall({ seed: 1, stop: ['x'] }), { quirks: { rejects: ['seed'] } })
    expect(json).not.toHaveProperty('seed')
    expect(json.stop).toEqual(['x'])
    expect(adjusted).toEqual(['seed'])
  })

  test('sends system texts in the role that the host supports', () => {
    const messages = [
      { role: 'developer' as const, content: 'Be brief.' },
      { role: 'user' as const, content: 'Hi' },
    ]
    expect(send(providerCall({ messages })).json.messages).toMatchObject([{ role: 'system' }, { role: 'user' }])
    const declared = send(providerCall({ messages }), { quirks: { systemRole: 'developer' } })
    expect(declared.json.messages).toMatchObject([{ role: 'developer' }, { role: 'user' }])
  })
})

describe('a reasoning model of OpenAI', () => {
  const call = providerCall(
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      temperature: 0.5,
      topP: 0.5,
      presencePenalty: 1,
      frequencyPenalty: 0,
      maxOutputTokens: 9,
      stop: ['x'],
      reasoningEffort: 'low',
    },
    { id: 'deployment-7', baseModel: 'gpt-5-mini', reasoning: true, acceptsTemperature: false },
  )

  test.each([
    ['openai', { format: 'openai', flavour: 'openai' }],
    ['azure, whatever the deployment is called', { format: 'azure', baseUrl: 'https://r.openai.azure.com' }],
  ] as const)('at %s gets no fields that it rejects', (_host, settings) => {
    const { json, adjusted } = send(call, settings)
    expect(json).toEqual({
      model: 'deployment-7',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      max_completion_tokens: 9,
      reasoning_effort: 'low',
    })
    expect([...adjusted].sort()).toEqual(['presence_penalty', 'stop', 'temperature', 'top_p'])
  })

  test('that supports stop sequences gets them', () => {
    const o3Mini = { ...call, model: { ...call.model, baseModel: 'o3-mini-2025-01-31' } }
    expect(send(o3Mini, { flavour: 'openai' }).json.stop).toEqual(['x'])
  })

  test('is the only kind that gets an effort', () => {
    const { json, adjusted } = send(providerCall({ reasoningEffort: 'high' }), { flavour: 'openai' })
    expect(json).not.toHaveProperty('reasoning_effort')
    expect(adjusted).toEqual(['reasoning_effort'])
  })
})

describe('a flavour', () => {
  test.each([
    ['mistral', 1.4, 0.7],
    ['mistral', 2, 1],
    ['moonshotai', 1, 0.5],
    ['groq', 0, 1e-8],
    ['groq', 0.3, 0.3],
    ['deepseek', 1.4, 1.4],
  ])('%s maps a temperature of %d to %d and reports a change', (flavour, ours, theirs) => {
    const { json, adjusted } = send(providerCall({ temperature: ours }), { flavour })
    expect(json.temperature).toBe(theirs)
    expect(adjusted).toEqual(ours === theirs ? [] : ['temperature'])
  })

  test('can be configured with another factor', () => {
    const settings = { flavour: 'mistral', quirks: { temperatureFactor: 0.75 } }
    expect(send(providerCall({ temperature: 2 }), settings).json.temperature).toBe(1.5)
  })

  test('uses its host’s field names', () => {
    const call = providerCall({ seed: 5, maxOutputTokens: 3, tools: [weatherTool], toolChoice: 'required' })
    expect(send(call, { flavour: 'mistral' }).json).toMatchObject({ random_seed: 5, max_tokens: 3, tool_choice: 'any' })
    expect(send(call, { flavour: 'openai' }).json).toMatchObject({ seed: 5, max_completion_tokens: 3 })
    expect(send(call, { quirks: { capField: 'max_completion_tokens' } }).json).toMatchObject({
      max_completion_tokens: 3,
    })
  })

  test('is recognised by the host of the address, and every preset is complete', () => {
    const mistral = send(providerCall({ temperature: 1 }), {
      flavour: undefined,
      baseUrl: 'https://api.eu.mistral.ai/v1',
    })
    expect(mistral.json.temperature).toBe(0.5)
    expect(
      send(providerCall({ temperature: 1 }), { flavour: undefined, baseUrl: 'https://notmistral.ai/v1' }).json
        .temperature,
    ).toBe(1)
    for (const [name, flavour] of Object.entries(flavours)) {
      expect(flavour.temperatureFactor, name).toBeGreaterThan(0)
      expect(flavour.embeddingBatch, name).toBeGreaterThan(0)
    }
  })

  test('that is unknown is a plain member of the family', () => {
    expect(send(providerCall({ temperature: 2 }), { flavour: 'brand-new-host' }).json.temperature).toBe(2)
  })
})

describe('an address', () => {
  test.each<[Partial<ProviderSettings>, string]>([
    [{ flavour: 'openai', baseUrl: undefined }, 'https://api.openai.com/v1/chat/completions'],
    [{ baseUrl: 'http://localhost:8000' }, 'http://localhost:8000/v1/chat/completions'],
    [{ baseUrl: 'http://localhost:8000/v1/' }, 'http://localhost:8000/v1/chat/completions'],
    [{ baseUrl: 'https://h.test/v1/chat/completions' }, 'https://h.test/v1/chat/completions'],
    [{ baseUrl: 'https://h.test/api/v3?tenant=7' }, 'https://h.test/api/v3/chat/completions?tenant=7'],
    [{ flavour: 'perplexity', baseUrl: undefined }, 'https://api.perplexity.ai/chat/completions'],
    [{ flavour: 'groq', baseUrl: undefined }, 'https://api.groq.com/openai/v1/chat/completions'],
    [
      { format: 'azure', baseUrl: 'https://r.openai.azure.com' },
      'https://r.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2025-04-01-preview',
    ],
    [
      { format: 'azure', baseUrl: 'https://r.openai.azure.com/openai/', apiVersion: '2025-01-01-preview' },
      'https://r.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2025-01-01-preview',
    ],
    [
      { format: 'azure', baseUrl: 'https://r.openai.azure.com/openai/v1/' },
      'https://r.openai.azure.com/openai/v1/chat/completions',
    ],
    [
      { format: 'azure', baseUrl: 'https://r.openai.azure.com', apiVersion: 'v1' },
      'https://r.openai.azure.com/openai/v1/chat/completions',
    ],
    [
      { format: 'azure', baseUrl: 'https://r.openai.azure.com/openai/v1', apiVersion: 'preview' },
      'https://r.openai.azure.com/openai/v1/chat/completions?api-version=preview',
    ],
    [
      { format: 'azure', baseUrl: 'https://r.services.ai.azure.com/models', apiVersion: '2024-05-01-preview' },
      'https://r.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview',
    ],
  ])('of %o is %s', (settings, url) => {
    expect(send(providerCall({}, { id: 'my gpt' }), settings).url).toBe(url)
  })

  test('that is missing is reported at once', () => {
    expect(() => createOpenAiAdapter({ id: 'mine', format: 'azure' })).toThrow(/mine needs a baseUrl/)
    expect(() => createOpenAiAdapter({ id: 'mine', format: 'openai', flavour: 'generic' })).toThrow(/baseUrl/)
  })
})

test('credentials are sent in the host’s header, never in the address', async () => {
  const headersOf = (settings: ProviderSettings) =>
    createOpenAiAdapter(settings).authorize({ method: 'GET', url: '', headers: {}, body: '' }, AbortSignal.any([]))
  expect(await headersOf({ id: 'x', format: 'openai', apiKey: 'k' })).toEqual({ authorization: 'Bearer k' })
  const azure = { id: 'x', format: 'azure' as const, baseUrl: 'https://r.openai.azure.com' }
  expect(await headersOf({ ...azure, apiKey: 'k' })).toEqual({ 'api-key': 'k' })
  expect(await headersOf({ ...azure, apiKey: 'eyJtoken' })).toEqual({ authorization: 'Bearer eyJtoken' })
  expect(await headersOf({ id: 'x', format: 'openai', baseUrl: 'http://localhost:8000' })).toEqual({})
})
