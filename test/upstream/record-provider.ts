import type { ProviderSettings, WireFormat, WireModel } from '../../src/providers/index.ts'
import type { WireRecord } from './wire-index.ts'

/** The format that speaks each `api` of the index. */
const formatOfApi: Readonly<Record<string, WireFormat>> = {
  'openai-chat': 'openai',
  'azure-chat': 'azure',
  'anthropic-messages': 'anthropic',
  'google-generatecontent': 'gemini',
  'bedrock-converse': 'bedrock',
  'cohere-chat': 'cohere',
  'ollama-chat': 'ollama',
}

/** Formats of providers whose model lists and embeddings name no `api`; the others are OpenAI's. */
const formatOfProvider: Readonly<Record<string, WireFormat>> = {
  anthropic: 'anthropic',
  azure: 'azure',
  bedrock: 'bedrock',
  cohere: 'cohere',
  gemini: 'gemini',
  vertex: 'vertex',
}

/** Settings of a provider that speaks the record's format to `baseUrl`; null where no format does. */
export function settingsFor(record: WireRecord, baseUrl: string): ProviderSettings | null {
  const format = formatFor(record)
  if (format === null) return null
  const common = { id: record.provider, format, baseUrl, apiKey: 'conformance-test-key' }
  switch (format) {
    case 'openai':
      return { ...common, flavour: record.provider }
    case 'vertex':
      return { ...common, project: 'test-project', region: 'europe-west4' }
    case 'bedrock':
      return { ...common, region: 'eu-central-1' }
    default:
      return common
  }
}

function formatFor(record: WireRecord): WireFormat | null {
  const path = record.url === undefined ? '' : (URL.parse(record.url)?.pathname ?? '')
  if (record.api === undefined) {
    // Ollama has both its own resources and OpenAI's.
    if (record.provider === 'ollama') return path.startsWith('/api/') ? 'ollama' : 'openai'
    return formatOfProvider[record.provider] ?? 'openai'
  }
  const format = formatOfApi[record.api] ?? null
  if (format === 'openai' && record.provider === 'azure') return 'azure'
  if (format === 'gemini' && record.provider === 'vertex') return 'vertex'
  return format
}

/** A model that no rule about names applies to; the recorded answer does not depend on it. */
export const conformanceModel: WireModel = {
  id: 'test-model',
  baseModel: 'test-model',
  acceptsTemperature: true,
  reasoning: false,
  maxOutputTokens: 4096,
}
