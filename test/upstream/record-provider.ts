import { providerFormats } from '../../src/contract/provider-formats.ts'
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
    // Records of model lists and embeddings have no `api`: a provider that is not named like a format has OpenAI's format.
    return providerFormats.find((format) => format === record.provider) ?? 'openai'
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
