import { expect, test } from 'vitest'
import { providerCall, toolConversation, weatherTool } from '../../../test/harness/provider-call.ts'
import { createAnthropicAdapter } from './anthropic/index.ts'
import { createBedrockAdapter } from './bedrock/index.ts'
import { createCohereAdapter } from './cohere/index.ts'
import { createGeminiAdapter } from './gemini/index.ts'
import { createOllamaAdapter } from './ollama/index.ts'
import { createOpenAiAdapter } from './openai/index.ts'
import type { ProviderSettings } from './port.ts'

const settings: ProviderSettings = {
  id: 'p',
  format: 'openai',
  baseUrl: 'http://h.test',
  apiKey: 'k',
  region: 'eu-central-1',
}

/** Providers refuse calls in a conversation whose tools are not declared. Ollama accepts them and has no tool choice. */
test.each([
  ['openai', createOpenAiAdapter({ ...settings, flavour: 'generic' }), 'tools', { tool_choice: 'none' }],
  [
    'anthropic',
    createAnthropicAdapter({ ...settings, format: 'anthropic' }),
    'tools',
    { tool_choice: { type: 'none' } },
  ],
  [
    'gemini',
    createGeminiAdapter({ ...settings, format: 'gemini' }),
    'tools',
    { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
  ],
  ['cohere', createCohereAdapter({ ...settings, format: 'cohere' }), 'tools', { tool_choice: 'NONE' }],
  ['bedrock', createBedrockAdapter({ ...settings, format: 'bedrock' }), 'toolConfig', {}],
  ['ollama', createOllamaAdapter({ ...settings, format: 'ollama' }), null, {}],
] as const)(
  '%s declares the tools of a conversation that used them and forbids new calls',
  (_, adapter, field, expected) => {
    const call = providerCall(
      { messages: toolConversation, tools: [weatherTool], toolChoice: 'none' },
      { id: 'claude-x' },
    )
    const body = JSON.parse(JSON.stringify(adapter.toRequest(call, { stream: true }).body)) as Record<string, unknown>
    if (field === null) expect(body).not.toHaveProperty('tools')
    else expect(JSON.stringify(body[field])).toContain('weather')
    expect(body).toMatchObject(expected)
  },
)
