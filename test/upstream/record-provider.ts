import { providerFormats } from '../../src/contract/provider-formats.ts'
import type { ProviderSettings, WireFormat, WireModel } from '../../src/gateway/providers/index.ts'
import { testedFormats } from './tested-formats.ts'
import type { WireRecord } from './wire-index.ts'

/** Settings of a provider with the record's format and `baseUrl`; null if there is no such format. */
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
    // Ollama has its native endpoints and OpenAI's.
    if (record.provider === 'ollama') return path.startsWith('/api/') ? 'ollama' : 'openai'
    // Records of model lists and embeddings have no `api`: if the provider's name is not a format, the format is OpenAI's.
    return providerFormats.find((format) => format === record.provider) ?? 'openai'
  }
  const format = providerFormats.find((one) => testedFormats[one].api === record.api) ?? null
  if (format === 'openai' && record.provider === 'azure') return 'azure'
  if (format === 'gemini' && record.provider === 'vertex') return 'vertex'
  return format
}

/** A model that matches no rule about names; the recorded answer does not depend on it. */
export const conformanceModel: WireModel = {
  id: 'test-model',
  baseModel: 'test-model',
  acceptsTemperature: true,
  reasoning: false,
  maxOutputTokens: 4096,
}
