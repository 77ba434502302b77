import type { ProviderFormat } from '@contract/provider-formats.ts'

/** The fields of each format, described once: the form and its checks are made from this. */
export interface ProviderField {
  name: 'flavour' | 'baseUrl' | 'apiKey' | 'credentials' | 'region' | 'project' | 'apiVersion'
  kind: 'text' | 'secret' | 'longSecret' | 'flavour'
  required?: true
  placeholder?: string
}

export interface FormatDescription {
  format: ProviderFormat
  /** A product name, the same in every language. */
  label: string
  fields: readonly ProviderField[]
  /** The format implies no hosting, so the operator must state it. */
  hostingRequired?: true
}

const apiKey = { name: 'apiKey', kind: 'secret' } as const
const requiredKey = { ...apiKey, required: true } as const

export const formatDescriptions: readonly FormatDescription[] = [
  {
    format: 'openai',
    label: 'OpenAI-compatible',
    fields: [
      { name: 'flavour', kind: 'flavour' },
      { name: 'baseUrl', kind: 'text', placeholder: 'https://llm.example.com/v1' },
      apiKey,
    ],
  },
  {
    format: 'azure',
    label: 'Azure OpenAI',
    fields: [
      { name: 'baseUrl', kind: 'text', required: true, placeholder: 'https://NAME.openai.azure.com' },
      requiredKey,
      { name: 'apiVersion', kind: 'text', placeholder: '2025-04-01-preview' },
    ],
    hostingRequired: true,
  },
  { format: 'anthropic', label: 'Anthropic', fields: [requiredKey] },
  { format: 'gemini', label: 'Google Gemini', fields: [requiredKey] },
  {
    format: 'vertex',
    label: 'Google Vertex AI',
    fields: [
      { name: 'project', kind: 'text', required: true, placeholder: 'my-project' },
      { name: 'region', kind: 'text', required: true, placeholder: 'europe-west4' },
      { name: 'credentials', kind: 'longSecret', placeholder: '{"type": "service_account", …}' },
    ],
    hostingRequired: true,
  },
  {
    format: 'bedrock',
    label: 'Amazon Bedrock',
    fields: [
      { name: 'region', kind: 'text', required: true, placeholder: 'eu-central-1' },
      { name: 'credentials', kind: 'secret', placeholder: 'accessKeyId:secretAccessKey' },
      apiKey,
    ],
    hostingRequired: true,
  },
  { format: 'cohere', label: 'Cohere', fields: [requiredKey] },
  {
    format: 'ollama',
    label: 'Ollama',
    fields: [{ name: 'baseUrl', kind: 'text', required: true, placeholder: 'http://localhost:11434' }, apiKey],
  },
]

/** Presets of OpenAI-compatible hosts with a known address; without one the address is required. */
export const flavours = [
  'openai',
  'mistral',
  'groq',
  'deepseek',
  'xai',
  'together',
  'openrouter',
  'perplexity',
  'cerebras',
  'moonshotai',
  'alibaba',
  'ollama',
  'lmstudio',
  'llamacpp',
  'vllm',
] as const

export function describeFormat(format: string): FormatDescription | undefined {
  return formatDescriptions.find((one) => one.format === format)
}

export type ProviderValues = Record<ProviderField['name'] | 'id' | 'hosting' | 'models', string>

export const emptyValues: ProviderValues = {
  id: '',
  flavour: '',
  baseUrl: '',
  apiKey: '',
  credentials: '',
  region: '',
  project: '',
  apiVersion: '',
  hosting: '',
  models: '',
}

export interface ProviderForm {
  description: FormatDescription
  values: ProviderValues
  /** Secrets that are stored already; their fields may stay empty. */
  stored: ReadonlySet<string>
}

/** The form of ids that the API accepts. */
export const isProviderId = (id: string): boolean => /^[a-z0-9][a-z0-9_-]{0,62}$/.test(id.trim())

/** Names of required fields that are empty. */
export function missingFields({ description, values, stored }: ProviderForm): (keyof ProviderValues)[] {
  const isEmpty = (name: keyof ProviderValues) => values[name].trim() === '' && !stored.has(name)
  const needsAddress = description.format === 'openai' && isEmpty('flavour')
  return [
    ...(['id'] as const),
    ...description.fields.flatMap(({ name, required }) => (required ? [name] : [])),
    ...(description.hostingRequired ? (['hosting'] as const) : []),
    ...(needsAddress ? (['baseUrl'] as const) : []),
  ].filter(isEmpty)
}

/** The body of a change: changed fields only, and null for those that were emptied. Empty secrets keep the stored ones. */
export function toPatch(form: ProviderForm, before: ProviderValues): Record<string, string | null> {
  const names = [...form.description.fields.map(({ name }) => name), 'hosting', 'models'] as const
  const changed = names.filter((name) => form.values[name].trim() !== before[name])
  return Object.fromEntries(changed.map((name) => [name, form.values[name].trim() || null]))
}

/** The body of a new provider: stated fields only. */
export function toBody({ description, values }: ProviderForm): Record<string, string> {
  const names = [...description.fields.map(({ name }) => name), 'hosting', 'models'] as const
  return Object.fromEntries(names.flatMap((name) => (values[name].trim() === '' ? [] : [[name, values[name].trim()]])))
}
