import type { ProviderCall, ProviderRequest, WireModel } from '../../src/gateway/providers/index.ts'

/** A call with one short user message, for tests of request mappings. */
export function providerCall(request: Partial<ProviderRequest> = {}, model: Partial<WireModel> = {}): ProviderCall {
  return {
    model: {
      id: 'test-model',
      baseModel: model.id ?? 'test-model',
      acceptsTemperature: true,
      reasoning: false,
      maxOutputTokens: 4096,
      ...model,
    },
    request: { messages: [{ role: 'user', content: 'Hello' }], ...request },
    signal: new AbortController().signal,
    requestId: 'req_test',
  }
}

/** A conversation that calls a tool twice in one turn and answers both. */
export const toolConversation: ProviderRequest['messages'] = [
  { role: 'user', content: 'Weather in Paris and Rome?' },
  {
    role: 'assistant',
    content: 'Let me look.',
    toolCalls: [
      { id: 'call_1', name: 'weather', argumentsJson: '{"city":"Paris"}' },
      { id: 'call_2', name: 'weather', argumentsJson: '{"city":"Rome"}' },
    ],
  },
  { role: 'tool', content: 'Rain', toolCallId: 'call_1' },
  { role: 'tool', content: 'Sun', toolCallId: 'call_2' },
  { role: 'user', content: 'And in one word?' },
]

export const weatherTool = {
  name: 'weather',
  description: 'Weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
