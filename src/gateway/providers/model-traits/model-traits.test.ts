import { describe, expect, test } from 'vitest'
import { providerCall, toolConversation, weatherTool } from '../../../../test/harness/provider-call.ts'
import { createAdapter } from '../create-provider.ts'
import type { ProviderRequest, ProviderSettings, WireModel } from '../port.ts'
import { resolveTraits } from './index.ts'

const base = { id: 'p', apiKey: 'k', baseUrl: 'http://h.test', region: 'eu-central-1' }

function send(
  host: Partial<ProviderSettings>,
  id: string,
  request: Partial<ProviderRequest>,
  model: Partial<WireModel> = {},
  stream = false,
) {
  const adapter = createAdapter({ ...base, format: 'openai', ...host } as ProviderSettings)
  const sent = adapter.toRequest(providerCall(request, { id, reasoning: true, ...model }), { stream })
  return { ...sent, body: JSON.stringify(sent.body), json: sent.body as Record<string, unknown> }
}

const tools = { tools: [weatherTool], messages: toolConversation }

describe('a request to one model of a host', () => {
  test.each([
    ['xai', 'grok-4.3', ['presence_penalty', 'frequency_penalty', 'stop']],
    ['xai', 'grok-4.5', ['presence_penalty', 'frequency_penalty', 'stop']],
    ['xai', 'grok-4.20-0309-non-reasoning', ['presence_penalty', 'frequency_penalty']],
    ['xai', 'grok-3', []],
    ['openai', 'o4-mini', ['stop', 'presence_penalty', 'frequency_penalty']],
    ['openai', 'o3-mini', ['presence_penalty', 'frequency_penalty']],
    ['openai', 'gpt-5-chat-latest', []],
    ['moonshotai', 'kimi-k2.5', ['presence_penalty', 'frequency_penalty']],
  ])('of %s, %s, omits fields that the model refuses, and reports them', (flavour, id, refused) => {
    const { json, adjusted } = send({ flavour }, id, { presencePenalty: 0.5, frequencyPenalty: 0.5, stop: ['END'] })
    const fields = ['stop', 'presence_penalty', 'frequency_penalty']
    expect(fields.filter((field) => !(field in json)).sort()).toEqual([...refused].sort())
    expect([...adjusted].sort()).toEqual([...refused].sort())
  })

  test.each(['generic', 'openai', 'xai', 'mistral', 'groq'])(
    'of %s omits penalties of 0 and does not report them',
    (flavour) => {
      const { json, adjusted } = send({ flavour }, 'some-model', { presencePenalty: 0, frequencyPenalty: 0, stop: [] })
      expect(json).not.toHaveProperty('presence_penalty')
      expect(json).not.toHaveProperty('frequency_penalty')
      expect(json).not.toHaveProperty('stop')
      expect(adjusted).toEqual([])
    },
  )

  test.each([
    ['openai', 'gpt-5', 'minimal', 'minimal'],
    ['openai', 'gpt-5-mini-2025-08-07', 'none', undefined],
    ['openai', 'gpt-5.1', 'minimal', 'none'],
    ['openai', 'gpt-5.1', 'xhigh', 'high'],
    ['openai', 'gpt-5.2', 'xhigh', 'xhigh'],
    ['openai', 'gpt-5.1-chat-latest', 'low', 'medium'],
    ['openai', 'gpt-5-pro', 'low', 'high'],
    ['openai', 'o3', 'minimal', 'low'],
    ['azure', 'gpt-5.1', 'minimal', 'none'],
    ['groq', 'qwen/qwen3-32b', 'high', 'default'],
    ['groq', 'qwen/qwen3-32b', 'none', 'none'],
    ['groq', 'openai/gpt-oss-120b', 'xhigh', 'high'],
    ['vllm', 'openai/gpt-oss-20b', 'minimal', 'low'],
    ['mistral', 'magistral-medium-2509', 'high', undefined],
    ['mistral', 'mistral-small-2603', 'low', 'high'],
    ['mistral', 'mistral-small-2603', 'none', 'none'],
    ['xai', 'grok-4.3', 'none', 'none'],
    ['xai', 'grok-4.5', 'none', undefined],
    ['xai', 'grok-4.5', 'xhigh', 'high'],
    ['xai', 'grok-4.20-0309-reasoning', 'low', undefined],
    ['deepseek', 'deepseek-v4-pro', 'medium', 'high'],
    ['openai', 'gpt-5-chat-latest', 'low', undefined],
    ['moonshotai', 'kimi-k3', 'medium', 'high'],
    ['moonshotai', 'kimi-k2.6', 'high', undefined],
    ['generic', 'a-model-nobody-knows', 'minimal', 'minimal'],
  ])('of %s maps the effort for %s: %s to %s', (flavour, id, asked, sent) => {
    const host = flavour === 'azure' ? { format: 'azure' as const } : { flavour }
    const { json, adjusted } = send(host, id, { reasoningEffort: asked })
    expect(json.reasoning_effort ?? (json.reasoning as { effort?: unknown } | undefined)?.effort).toBe(sent)
    expect(adjusted).toEqual(sent === asked ? [] : ['reasoning_effort'])
  })

  test('to a model that reasons by default contains the effort none with tools, in each later round too', () => {
    expect(send({ flavour: 'openai' }, 'gpt-5.6-terra', tools).json.reasoning_effort).toBe('none')
    const asked = send({ flavour: 'openai' }, 'gpt-5.4', { ...tools, reasoningEffort: 'high' })
    expect(asked).toMatchObject({ json: { reasoning_effort: 'none' }, adjusted: ['reasoning_effort'] })
    expect(send({ flavour: 'openai' }, 'gpt-5.4', { reasoningEffort: 'high' }).json.reasoning_effort).toBe('high')
    expect(send({ flavour: 'openai' }, 'gpt-5.1', tools).json).not.toHaveProperty('reasoning_effort')
  })

  test('to a model with one temperature contains none, and reports another value', () => {
    const kimi = (request: Partial<ProviderRequest>) => send({ flavour: 'moonshotai' }, 'kimi-k2-thinking', request)
    expect(kimi({ temperature: 0.2, topP: 0.5 }).adjusted).toEqual(['temperature', 'top_p'])
    for (const request of [
      { temperature: 0.2, topP: 0.5 },
      { temperature: 1, topP: 0.95 },
    ]) {
      expect(kimi(request).json).not.toHaveProperty('temperature')
      expect(kimi(request).json).not.toHaveProperty('top_p')
    }
    expect(kimi({ temperature: 1, topP: 0.95 }).adjusted).toEqual([])
    expect(send({ flavour: 'moonshotai' }, 'kimi-k2-0905-preview', { temperature: 1 }).json.temperature).toBe(0.5)
  })

  test.each([
    ['openai', 'auto', undefined],
    ['openai', 'default', 'default'],
    ['openai', 'priority', 'priority'],
    ['groq', 'default', 'on_demand'],
    ['groq', 'priority', 'performance'],
    ['mistral', 'auto', undefined],
  ])('of %s maps the service tier %s to %s', (flavour, tier, sent) => {
    const { json, adjusted } = send({ flavour }, 'm', { serviceTier: tier })
    expect(json.service_tier).toBe(sent)
    expect(adjusted).toEqual([])
  })

  test('is not treated as a reasoning model only because of a similar name', () => {
    const { json } = send(
      { flavour: 'openai' },
      'gpt-5-chat-latest',
      {
        messages: [
          { role: 'system', content: 'Be short.' },
          { role: 'user', content: 'Hi' },
        ],
        temperature: 0.3,
      },
      { reasoning: false },
    )
    expect(json).toMatchObject({ temperature: 0.3, messages: [{ role: 'system' }, {}] })
  })

  test.each([
    [{ flavour: 'openai' }, 'max_completion_tokens'],
    [{ format: 'anthropic' }, 'max_tokens'],
    [{ format: 'bedrock' }, 'maxTokens'],
    [{ format: 'gemini' }, 'maxOutputTokens'],
    [{ format: 'cohere' }, 'max_tokens'],
    [{ format: 'ollama' }, 'num_predict'],
  ] as const)('of %o lowers a cap above the model’s, and reports it', (host, field) => {
    const { body, adjusted } = send(host, 'm', { maxOutputTokens: 1_000_000 }, { maxOutputTokens: 4096 })
    expect(body).toContain(`"${field}":4096`)
    expect(adjusted).toEqual(['max_completion_tokens'])
    expect(send(host, 'm', { maxOutputTokens: 4096 }, { maxOutputTokens: 4096 }).adjusted).toEqual([])
  })

  test('shortens user to the longest value that the host accepts', () => {
    const user = 'u'.repeat(500)
    expect(send({ flavour: 'openai' }, 'm', { user }).json.user).toHaveLength(64)
    expect(send({ flavour: 'openrouter' }, 'm', { user }).json.user).toHaveLength(128)
    expect(send({ format: 'anthropic' }, 'm', { user }).json.metadata).toEqual({ user_id: 'u'.repeat(256) })
    expect(send({ flavour: 'mistral' }, 'm', { user }).json).not.toHaveProperty('user')
  })
})

describe('a conversation', () => {
  const messages: ProviderRequest['messages'] = [
    { role: 'system', content: 'Be short.' },
    { role: 'assistant', content: 'Hello!' },
    { role: 'user', content: 'One' },
    { role: 'assistant', content: ' ' },
    { role: 'user', content: 'Two' },
  ]

  test('with Perplexity alternates and begins with the user', () => {
    const { json, adjusted } = send({ flavour: 'perplexity' }, 'sonar', { messages })
    const sent = json.messages as { role: string; content: string }[]
    expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(sent.at(-1)!.content).toBe('One\n\nTwo')
    expect(adjusted).toEqual(['messages'])
  })

  test.each(['mistral', 'moonshotai', 'xai'])('with %s has no turn without text', (flavour) => {
    const sent = send({ flavour }, 'm', { messages }).json.messages as { content: string }[]
    expect(sent.map(({ content }) => content)).toEqual(['Be short.', 'Hello!', 'One', 'Two'])
  })

  test.each([
    [{ format: 'anthropic' }, 'messages'],
    [{ format: 'bedrock' }, 'messages'],
    [{ format: 'gemini' }, 'contents'],
  ] as const)('with %o begins with the user and alternates', (host, field) => {
    const { json, adjusted } = send(host, 'm', { messages })
    const roles = (json[field] as { role: string }[]).map(({ role }) => role)
    expect(roles).toEqual(['user', roles[1], 'user'])
    expect(adjusted).toEqual(['messages'])
  })

  test('with Mistral has either text or tool calls in a turn', () => {
    const sent = send({ flavour: 'mistral' }, 'devstral-latest', tools).json.messages as Record<string, unknown>[]
    expect(sent[1]).toMatchObject({ role: 'assistant', content: null, tool_calls: [{}, {}] })
  })

  test('with Perplexity has no tools, and tool rounds of another provider become text', () => {
    const { json, adjusted, body } = send({ flavour: 'perplexity' }, 'sonar', tools)
    expect(json).not.toHaveProperty('tools')
    expect(body).not.toContain('tool_call')
    expect(body).toContain('Rain')
    expect(adjusted).toEqual(['tools'])
  })
})

describe('ids of tool calls of another provider', () => {
  const foreign = 'gemini.eyJuIjoid2VhdGhlciJ9.and-much-more-that-makes-it-longer-than-any-host-takes'
  const messages = toolConversation.map((message) => ({
    ...message,
    ...(message.toolCallId === 'call_1' && { toolCallId: foreign }),
    ...(message.toolCalls && {
      toolCalls: message.toolCalls.map((call) => (call.id === 'call_1' ? { ...call, id: foreign } : call)),
    }),
  }))

  test.each([
    [{ flavour: 'mistral' }, /^[a-zA-Z0-9]{9}$/],
    [{ flavour: 'openai' }, /^[\w-]{1,40}$/],
    [{ format: 'anthropic' }, /^[\w-]{1,64}$/],
    [{ format: 'bedrock' }, /^[\w-]{1,64}$/],
  ] as const)('get the form that %o accepts, equal for a call and its result', (host, form) => {
    const { body } = send(host, 'm', { messages, tools: [weatherTool] })
    const ids = [...body.matchAll(/"(?:id|tool_call_id|tool_use_id|toolUseId)":"([^"]+)"/g)].map((match) => match[1]!)
    expect(ids).toHaveLength(4)
    for (const id of ids) expect(id).toMatch(form)
    expect(new Set(ids).size).toBe(2)
  })
})

describe('tools on Bedrock', () => {
  const bedrock = { format: 'bedrock' as const }

  test('are requested unstreamed if the model cannot stream them', () => {
    const llama = 'eu.meta.llama3-3-70b-instruct-v1:0'
    expect(send(bedrock, llama, tools, {}, true).url).toMatch(/\/converse$/)
    expect(send(bedrock, 'mistral.mistral-large-2402-v1:0', tools, {}, true).url).toMatch(/\/converse$/)
    expect(send(bedrock, llama, {}, {}, true).url).toMatch(/\/converse-stream$/)
    expect(send(bedrock, 'eu.anthropic.claude-sonnet-4-6', tools, {}, true).url).toMatch(/\/converse-stream$/)
  })
})

describe('the traits of a model', () => {
  test.each([
    'claude-opus-4-6',
    'anthropic.claude-opus-4-6-v1:0',
    'eu.anthropic.claude-opus-4.6',
    'anthropic/claude-opus-4.6',
  ])('are those of %s for every spelling of the id', (id) =>
    expect(resolveTraits('bedrock', { baseModel: id })).toMatchObject({
      effortField: 'output_config',
      maxOutputTokens: 64_000,
    }),
  )

  test('can be overridden by the operator, and each fact has its source and day', () => {
    const traits = resolveTraits('xai', { baseModel: 'grok-4.5', traits: { refuses: ['seed'] } })
    expect(traits.refuses).toEqual(['seed'])
    expect(traits.sources.length).toBeGreaterThan(0)
    for (const { source, checked } of traits.sources) {
      expect(source).toMatch(/^https:\/\//)
      expect(checked).toMatch(/^\d{4}-\d\d-\d\d$/)
    }
    const { json } = send({ flavour: 'xai' }, 'grok-4.5', { stop: ['x'], seed: 1 }, { traits: { refuses: ['seed'] } })
    expect(json).toMatchObject({ stop: ['x'] })
    expect(json).not.toHaveProperty('seed')
  })

  test.each([
    ['claude-3-haiku-20240307', 4096],
    ['claude-sonnet-4-20250514', 64_000],
    ['claude-opus-4-1', 32_000],
    ['claude-nova-9', 32_000],
    ['house-model', 4096],
  ])('limit %s, if no list contains it, to answers of %i tokens', (id, limit) => {
    expect(resolveTraits('anthropic', { baseModel: id }).maxOutputTokens).toBe(limit)
  })
})
