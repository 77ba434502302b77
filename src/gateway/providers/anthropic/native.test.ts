import { describe, expect, test } from 'vitest'
import { bytesOf, providerCall } from '../../../../test/harness/provider-call.ts'
import type { NativeRequest, ProviderEvent, ProviderRequest, WireModel } from '../port.ts'
import { createAnthropicAdapter } from './index.ts'

const adapter = createAnthropicAdapter({ id: 'claude', format: 'anthropic', apiKey: 'sk-ant-secret-of-test' })

const turns = [
  { role: 'user', content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } }] },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'a', signature: 's1' },
      { type: 'tool_use', id: 't1', name: 'now', input: {} },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'noon' }] },
]

function send(body: Record<string, unknown>, request: Partial<ProviderRequest> = {}, model: Partial<WireModel> = {}) {
  const native: NativeRequest = { family: 'anthropic', body: { messages: turns, ...body } }
  const call = providerCall({ ...request, native }, { id: 'claude-sonnet-4-5', ...model })
  const wire = adapter.toRequest(call, { stream: false })
  return { headers: wire.headers, body: wire.body as Record<string, unknown>, adjusted: wire.adjusted }
}

describe('a native request to Anthropic', () => {
  test('has the prompt as the client sent it', () => {
    const prompt = {
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      tools: [{ type: 'bash_20250124', name: 'bash' }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    }
    expect(send(prompt).body).toEqual({ model: 'claude-sonnet-4-5', max_tokens: 4096, messages: turns, ...prompt })
  })

  test('has the cap, the sampling and the user of the call', () => {
    const { body, adjusted } = send(
      {},
      { maxOutputTokens: 7, temperature: 0.5, temperatureIsExact: true, topK: 4, stop: ['x'], user: 'u' },
    )
    expect(body).toMatchObject({ max_tokens: 7, temperature: 0.5, top_k: 4, stop_sequences: ['x'] })
    expect(body).toMatchObject({ metadata: { user_id: 'u' } })
    expect(adjusted).toEqual([])
  })

  test('has no temperature for a model that rejects it, and reports that', () => {
    const request = { temperature: 0.5, temperatureIsExact: true }
    const { body, adjusted } = send({}, request, { acceptsTemperature: false })
    expect(body).not.toHaveProperty('temperature')
    expect(adjusted).toEqual(['temperature'])
  })

  test('has less thinking than output where the budget has lowered the cap', () => {
    const thinking = { type: 'enabled', budget_tokens: 4000 }
    expect(send({ thinking }, { maxOutputTokens: 5000 }).body).toMatchObject({ thinking })
    const lowered = send({ thinking }, { maxOutputTokens: 3000 })
    expect(lowered.body).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 2999 } })
    expect(lowered.adjusted).toEqual(['thinking'])
    expect(send({ thinking }, { maxOutputTokens: 100 }).body).toMatchObject({ thinking: { type: 'disabled' } })
  })

  test('keeps the format of the output next to an effort that the model does not have', () => {
    const format = { type: 'json_schema', schema: { type: 'object' } }
    const { body } = send({ output_config: { effort: 'low', format } }, { reasoningEffort: 'low' })
    expect(body.output_config).toEqual({ format })
  })

  test('has the opt-ins in a header', () => {
    expect(send({}, { betas: ['a-1', 'b-2'] }).headers).toMatchObject({ 'anthropic-beta': 'a-1,b-2' })
    expect(send({}).headers).not.toHaveProperty('anthropic-beta')
  })
})

const line = (data: Record<string, unknown>) => `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`
const wireEvents: Record<string, unknown>[] = [
  { type: 'message_start', message: { id: 'm', usage: { input_tokens: 5, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: 'x' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]

describe('the answer to a native request', () => {
  const read = (request?: ProviderRequest): ProviderEvent[] => {
    const reader = adapter.createStreamReader(request)
    return [...reader.push(bytesOf(wireEvents.map(line).join(''))), ...reader.end()]
  }

  test('has each event of a block and of the end before its meaning', () => {
    const events = read({ messages: [], native: { family: 'anthropic', body: {} } })
    expect(events.filter(({ type }) => type === 'native')).toEqual(
      wireEvents.slice(0, 5).map((event) => ({ type: 'native', event })),
    )
    expect(events.filter(({ type }) => type !== 'native')).toEqual(read({ messages: [] }))
  })

  test('is passed on whole', () => {
    const message = { type: 'message', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn', usage: {} }
    const request = { messages: [], native: { family: 'anthropic' as const, body: {} } }
    expect(adapter.fromResponse(bytesOf(JSON.stringify(message)), request)).toMatchObject({ native: message })
    expect(adapter.fromResponse(bytesOf(JSON.stringify(message)))).not.toHaveProperty('native')
  })
})
