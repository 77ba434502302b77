import type { ProviderRequest, ProviderSettings } from '../../../src/gateway/providers/index.ts'
import type { RequestCall } from './request-call.ts'

export interface TableCall {
  /** Host, model and feature. */
  id: string
  settings: ProviderSettings
  call: RequestCall
}

/** Hosts with models of each kind: plain, reasoning, embeddings. Ollama's native format is not in the AI SDK. */
const hosts: readonly { settings: Partial<ProviderSettings>; models: readonly string[]; embeddings?: string }[] = [
  {
    settings: { flavour: 'openai' },
    models: ['gpt-4o', 'gpt-4o-search-preview', 'gpt-5-mini', 'gpt-5.4', 'o3-mini'],
    embeddings: 'text-embedding-3-small',
  },
  {
    settings: { format: 'azure', baseUrl: 'https://x.openai.azure.com' },
    models: ['gpt-4o', 'o3-mini'],
    embeddings: 'text-embedding-3-small',
  },
  { settings: { flavour: 'mistral' }, models: ['mistral-large-latest'], embeddings: 'codestral-embed' },
  { settings: { flavour: 'groq' }, models: ['llama-3.3-70b-versatile', 'openai/gpt-oss-120b'] },
  { settings: { flavour: 'deepseek' }, models: ['deepseek-chat'] },
  { settings: { flavour: 'xai' }, models: ['grok-4'] },
  { settings: { flavour: 'together' }, models: ['meta-llama/Llama-3.3-70B-Instruct-Turbo'] },
  { settings: { flavour: 'openrouter' }, models: ['anthropic/claude-sonnet-4.5'] },
  { settings: { flavour: 'perplexity' }, models: ['sonar'] },
  { settings: { flavour: 'cerebras' }, models: ['gpt-oss-120b'] },
  { settings: { flavour: 'alibaba' }, models: ['qwen-plus'], embeddings: 'text-embedding-v4' },
  { settings: { flavour: 'moonshotai' }, models: ['kimi-k2-0905-preview'] },
  { settings: { flavour: 'vllm', baseUrl: 'http://127.0.0.1:8000' }, models: ['own-model'] },
  { settings: { format: 'anthropic' }, models: ['claude-sonnet-4-5', 'claude-opus-4-6'] },
  {
    settings: { format: 'gemini' },
    models: ['gemini-2.5-flash', 'gemini-3-flash-preview', 'gemma-3-27b-it'],
    embeddings: 'gemini-embedding-001',
  },
  { settings: { format: 'vertex', project: 'p', region: 'europe-west4' }, models: ['gemini-2.5-flash'] },
  {
    settings: { format: 'bedrock', region: 'eu-central-1' },
    models: ['eu.anthropic.claude-sonnet-4-6', 'eu.amazon.nova-lite-v1:0', 'openai.gpt-oss-120b-1:0'],
    embeddings: 'amazon.titan-embed-text-v2:0',
  },
  {
    settings: { format: 'cohere' },
    models: ['command-a-03-2025', 'command-a-reasoning-08-2025'],
    embeddings: 'embed-v4.0',
  },
]

const user = { role: 'user' as const, content: 'How is the weather in Paris?' }
const tool = {
  name: 'weather',
  description: 'The weather of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Its name.' }, days: { type: 'integer' } },
    required: ['city'],
    additionalProperties: false,
  },
}
const called = {
  role: 'assistant' as const,
  content: '',
  toolCalls: [
    { id: 'callaaaa1', name: 'weather', argumentsJson: '{"city": "Paris"}' },
    { id: 'callaaaa2', name: 'weather', argumentsJson: '{"city": "Lyon", "days": 2}' },
  ],
}
const results = [
  { role: 'tool' as const, toolCallId: 'callaaaa1', content: 'Sunny, 21 degrees.' },
  { role: 'tool' as const, toolCallId: 'callaaaa2', content: 'Rain.' },
]

/** One feature each, so that a difference identifies its cause. */
const features: Readonly<Record<string, Partial<ProviderRequest>>> = {
  plain: {},
  system: { messages: [{ role: 'system', content: 'Be brief.' }, user] },
  developer: { messages: [{ role: 'developer', content: 'Be brief.' }, user] },
  'two system texts': {
    messages: [{ role: 'system', content: 'Be brief.' }, { role: 'system', content: 'Be kind.' }, user],
  },
  'several turns': {
    messages: [user, { role: 'assistant', content: 'Sunny.' }, { role: 'user', content: 'And tomorrow?' }],
  },
  'two turns of the user': { messages: [user, { role: 'user', content: 'And in Lyon?' }] },
  'the assistant begins': { messages: [{ role: 'assistant', content: 'Hello!' }, user] },
  'the assistant ends': { messages: [user, { role: 'assistant', content: 'The sky is ' }] },
  'blank turn': { messages: [user, { role: 'assistant', content: '' }, { role: 'user', content: 'Well?' }] },
  temperature: { temperature: 0.8 },
  'high temperature': { temperature: 1.6 },
  'temperature of 0': { temperature: 0 },
  top_p: { topP: 0.9 },
  'temperature and top_p': { temperature: 0.8, topP: 0.9 },
  cap: { maxOutputTokens: 300 },
  'cap above the limit': { maxOutputTokens: 10_000_000 },
  stop: { stop: ['END'] },
  seed: { seed: 7 },
  penalties: { presencePenalty: 0.5, frequencyPenalty: 0.25 },
  'penalties of 0': { presencePenalty: 0, frequencyPenalty: 0 },
  effort: { reasoningEffort: 'low' },
  'effort none': { reasoningEffort: 'none' },
  'highest effort': { reasoningEffort: 'max' },
  user: { user: 'user-1' },
  'long user': { user: 'user-1'.repeat(60) },
  'service tier': { serviceTier: 'flex' },
  'service tier auto': { serviceTier: 'auto' },
  metadata: { metadata: { purpose: 'test' } },
  tools: { tools: [tool] },
  'required tool': { tools: [tool], toolChoice: 'required' },
  'forbidden tool': { tools: [tool], toolChoice: 'none' },
  'tool results': { tools: [tool], messages: [user, called, ...results] },
  'text before a tool call': { tools: [tool], messages: [user, { ...called, content: 'I look.' }, ...results] },
  'empty tool result': {
    tools: [tool],
    messages: [user, called, ...results.map((result) => ({ ...result, content: '' }))],
  },
  'last round': { tools: [tool], toolChoice: 'none', messages: [user, called, ...results] },
}

/** Every feature with every model, and streaming with and without tools. */
export const callTable: readonly TableCall[] = hosts.flatMap(({ settings: partial, models, embeddings }) => {
  const settings: ProviderSettings = {
    id: partial.flavour ?? partial.format ?? '',
    format: 'openai',
    apiKey: 'k',
    ...partial,
  }
  const chats = models.flatMap((model) => [
    ...Object.entries(features).map(([feature, request]) => chat(settings, model, feature, request, false)),
    chat(settings, model, 'stream', {}, true),
    chat(settings, model, 'stream with tools', { tools: [tool] }, true),
  ])
  return embeddings === undefined ? chats : [...chats, ...embeddingCalls(settings, embeddings)]
})

function chat(
  settings: ProviderSettings,
  model: string,
  feature: string,
  request: Partial<ProviderRequest>,
  stream: boolean,
): TableCall {
  const call = { kind: 'chat' as const, model, stream, request: { messages: [user], ...request } }
  return { id: `${settings.id}/${model}/${feature}`, settings, call }
}

function embeddingCalls(settings: ProviderSettings, model: string): TableCall[] {
  const common = { kind: 'embeddings' as const, model }
  const id = `${settings.id}/${model}`
  return [
    { id: `${id}/document`, settings, call: { ...common, texts: ['A text.'], purpose: 'document' } },
    { id: `${id}/query`, settings, call: { ...common, texts: ['A question?'], purpose: 'query', dimensions: 256 } },
  ]
}
