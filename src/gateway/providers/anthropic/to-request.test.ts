import { describe, expect, test } from 'vitest'
import { providerCall, toolConversation, weatherTool } from '../../../../test/harness/provider-call.ts'
import type { ProviderRequest, ProviderSettings, WireModel } from '../port.ts'
import { createBedrockAdapter } from '../bedrock/index.ts'
import { createAnthropicAdapter } from './index.ts'

const settings: ProviderSettings = { id: 'claude', format: 'anthropic', apiKey: 'sk-ant-secret-of-test' }

function send(request: Partial<ProviderRequest>, model: Partial<WireModel> = {}, stream = false) {
  const wire = createAnthropicAdapter(settings).toRequest(providerCall(request, model), { stream })
  return { wire, body: JSON.parse(JSON.stringify(wire.body)) as Record<string, unknown>, adjusted: wire.adjusted }
}

test.each([
  ['anthropic', createAnthropicAdapter({ id: 'x', format: 'anthropic', apiKey: 'k' })],
  ['bedrock', createBedrockAdapter({ id: 'x', format: 'bedrock', region: 'eu-central-1', apiKey: 'k' })],
])('trailing white space of a last assistant turn, which Claude refuses, is not sent to %s', (_format, adapter) => {
  const messages = [
    { role: 'user' as const, content: 'Hello ' },
    { role: 'assistant' as const, content: ' Hi \n' },
  ]
  const ending = adapter.toRequest(providerCall({ messages }), { stream: false }).body
  expect(JSON.stringify(ending)).toContain('" Hi"')
  const more = [...messages, { role: 'user' as const, content: 'And?' }]
  expect(JSON.stringify(adapter.toRequest(providerCall({ messages: more }), { stream: false }).body)).toContain(
    '" Hi \\n"',
  )
})

describe('a request to Anthropic', () => {
  test("always carries a cap: the client's, else the model's maximum", () => {
    expect(send({}).body.max_tokens).toBe(4096)
    expect(send({ maxOutputTokens: 7 }).body.max_tokens).toBe(7)
  })

  test('halves the temperature exactly and reports it', () => {
    const { body, adjusted } = send({ temperature: 1.4 })
    expect(body.temperature).toBe(0.7)
    expect(adjusted).toEqual(['temperature'])
    expect(send({ temperature: 0 })).toMatchObject({ body: { temperature: 0 }, adjusted: [] })
  })

  test('never contains both temperature and top_p', () => {
    const { body, adjusted } = send({ temperature: 2, topP: 0.5 })
    expect(body).toMatchObject({ temperature: 1 })
    expect(body).not.toHaveProperty('top_p')
    expect(adjusted).toEqual(['temperature', 'top_p'])
    expect(send({ topP: 0.5 })).toMatchObject({ body: { top_p: 0.5 }, adjusted: [] })
  })

  test('contains neither for a model that rejects them, and reports both', () => {
    const { body, adjusted } = send({ temperature: 1, topP: 0.5 }, { acceptsTemperature: false })
    expect(body).not.toHaveProperty('temperature')
    expect(body).not.toHaveProperty('top_p')
    expect(adjusted).toEqual(['temperature', 'top_p'])
  })

  test('has its system texts at the top level and merges adjacent messages of one role', () => {
    const { body } = send({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: 'One' },
        { role: 'user', content: 'Two' },
        { role: 'assistant', content: ' ' },
        { role: 'user', content: 'Three' },
      ],
    })
    expect(body.system).toBe('Be brief.\n\nBe kind.')
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'One' },
          { type: 'text', text: 'Two' },
          { type: 'text', text: 'Three' },
        ],
      },
    ])
  })

  test('contains tools, calls and results, with the results of a turn before its text', () => {
    const { body } = send({ messages: toolConversation, tools: [weatherTool], toolChoice: 'required' })
    expect(body.tools).toEqual([
      { name: 'weather', description: 'Weather of a city', input_schema: weatherTool.parameters },
    ])
    expect(body.tool_choice).toEqual({ type: 'any' })
    expect(body.messages).toEqual([
      { role: 'user', content: 'Weather in Paris and Rome?' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Paris' } },
          { type: 'tool_use', id: 'call_2', name: 'weather', input: { city: 'Rome' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: 'Rain' },
          { type: 'tool_result', tool_use_id: 'call_2', content: 'Sun' },
          { type: 'text', text: 'And in one word?' },
        ],
      },
    ])
  })

  test('reports every field that the wire does not support, and keeps the others', () => {
    const { body, adjusted } = send({
      seed: 1,
      presencePenalty: 1,
      frequencyPenalty: 1,
      metadata: { a: 'b' },
      serviceTier: 'auto',
      user: 'u-1',
      stop: ['END', '\n'],
    })
    expect(body).toMatchObject({ metadata: { user_id: 'u-1' }, stop_sequences: ['END'] })
    expect(adjusted).toEqual(['stop', 'seed', 'presence_penalty', 'frequency_penalty', 'metadata'])
  })

  test.each([
    ['claude-opus-4-6', 'low', 'low', []],
    ['claude-opus-5', 'minimal', 'low', ['reasoning_effort']],
    ['claude-sonnet-5-20260601', 'high', 'high', []],
    ['claude-3-5-sonnet-20240620', 'low', undefined, ['reasoning_effort']],
    ['claude-sonnet-4-20250514', 'low', undefined, ['reasoning_effort']],
    ['claude-sonnet-4-5', 'low', undefined, ['reasoning_effort']],
    ['claude-haiku-4-5-20251001', 'low', undefined, ['reasoning_effort']],
  ])('for %s maps the effort %s to %s', (id, wanted, sent, adjusted) => {
    const result = send({ reasoningEffort: wanted }, { id })
    expect(result.body.output_config).toEqual(sent && { effort: sent })
    expect(result.adjusted).toEqual(adjusted)
  })

  test('goes to the versioned endpoint with the key in a header only', async () => {
    const adapter = createAnthropicAdapter({ ...settings, baseUrl: 'http://127.0.0.1:9/v1/' })
    const wire = adapter.toRequest(providerCall(), { stream: true })
    expect(wire.url).toBe('http://127.0.0.1:9/v1/messages')
    expect(wire.headers).toMatchObject({ 'anthropic-version': '2023-06-01', accept: 'text/event-stream' })
    expect(JSON.parse(JSON.stringify(wire.body))).toMatchObject({ stream: true })
    expect(JSON.stringify(wire)).not.toContain(settings.apiKey)
    const authorised = await adapter.authorize({ ...wire, body: '' }, new AbortController().signal)
    expect(authorised['x-api-key']).toBe(settings.apiKey)
  })
})
