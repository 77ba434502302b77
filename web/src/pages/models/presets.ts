import type { ProviderFormat } from '@contract/provider-formats.ts'
import { describeFormat, type ProviderField } from './provider-fields.ts'

/** A provider that the picker offers: a name, a mark, and what the operator need not type. */
export interface Preset {
  /** The proposed id. */
  id: string
  /** A product name, the same in every language. */
  name: string
  /** Two letters; marks of companies are theirs. */
  mark: string
  format: ProviderFormat
  flavour?: string
  baseUrl?: string
  /** Proposed; the operator confirms it. */
  hosting: string
  /** The fields of the form; default: the key. */
  fields?: readonly ProviderField[]
}

const key: ProviderField = { name: 'apiKey', kind: 'secret', required: true }
const optionalKey: ProviderField = { name: 'apiKey', kind: 'secret' }
const address = (placeholder: string): ProviderField => ({ name: 'baseUrl', kind: 'text', required: true, placeholder })
const cloud = (format: ProviderFormat) => ({ fields: describeFormat(format)!.fields })

/** Hosted providers, then local servers. */
export const presets: readonly Preset[] = [
  { id: 'openai', name: 'OpenAI', mark: 'Op', format: 'openai', flavour: 'openai', hosting: 'global' },
  {
    id: 'openai-eu',
    name: 'OpenAI (EU)',
    mark: 'Op',
    format: 'openai',
    flavour: 'openai',
    baseUrl: 'https://eu.api.openai.com/v1',
    hosting: 'eu',
  },
  { id: 'anthropic', name: 'Anthropic', mark: 'An', format: 'anthropic', hosting: 'global' },
  { id: 'gemini', name: 'Google Gemini', mark: 'Ge', format: 'gemini', hosting: 'global' },
  { id: 'azure', name: 'Azure OpenAI', mark: 'Az', format: 'azure', hosting: '', ...cloud('azure') },
  { id: 'bedrock', name: 'Amazon Bedrock', mark: 'Be', format: 'bedrock', hosting: '', ...cloud('bedrock') },
  { id: 'vertex', name: 'Google Vertex AI', mark: 'Ve', format: 'vertex', hosting: '', ...cloud('vertex') },
  { id: 'mistral', name: 'Mistral', mark: 'Mi', format: 'openai', flavour: 'mistral', hosting: 'global' },
  {
    id: 'mistral-eu',
    name: 'Mistral (EU)',
    mark: 'Mi',
    format: 'openai',
    flavour: 'mistral',
    baseUrl: 'https://api.eu.mistral.ai/v1',
    hosting: 'eu',
  },
  { id: 'groq', name: 'Groq', mark: 'Gr', format: 'openai', flavour: 'groq', hosting: 'global' },
  { id: 'deepseek', name: 'DeepSeek', mark: 'De', format: 'openai', flavour: 'deepseek', hosting: 'global' },
  { id: 'xai', name: 'xAI', mark: 'xA', format: 'openai', flavour: 'xai', hosting: 'global' },
  { id: 'cohere', name: 'Cohere', mark: 'Co', format: 'cohere', hosting: 'global' },
  { id: 'together', name: 'Together AI', mark: 'To', format: 'openai', flavour: 'together', hosting: 'global' },
  { id: 'openrouter', name: 'OpenRouter', mark: 'OR', format: 'openai', flavour: 'openrouter', hosting: 'global' },
  { id: 'vercel', name: 'Vercel AI Gateway', mark: 'Vc', format: 'openai', flavour: 'vercel', hosting: 'global' },
  { id: 'perplexity', name: 'Perplexity', mark: 'Pe', format: 'openai', flavour: 'perplexity', hosting: 'global' },
  { id: 'cerebras', name: 'Cerebras', mark: 'Ce', format: 'openai', flavour: 'cerebras', hosting: 'global' },
  { id: 'alibaba', name: 'Alibaba Cloud', mark: 'Al', format: 'openai', flavour: 'alibaba', hosting: 'global' },
  { id: 'moonshotai', name: 'Moonshot AI', mark: 'Mo', format: 'openai', flavour: 'moonshotai', hosting: 'global' },
  { id: 'jina', name: 'Jina AI', mark: 'Ji', format: 'openai', flavour: 'jina', hosting: 'global' },
  { id: 'voyage', name: 'Voyage AI', mark: 'Vo', format: 'openai', flavour: 'voyage', hosting: 'global' },
  {
    id: 'ollama',
    name: 'Ollama',
    mark: 'Ol',
    format: 'ollama',
    hosting: 'local',
    fields: [address('http://localhost:11434'), optionalKey],
  },
  ...(
    [
      ['vllm', 'vLLM', 'vL', 'http://localhost:8000/v1'],
      ['lmstudio', 'LM Studio', 'LM', 'http://localhost:1234/v1'],
      ['llamacpp', 'llama.cpp', 'll', 'http://localhost:8080/v1'],
    ] as const
  ).map(([id, name, mark, placeholder]): Preset => {
    const fields = [address(placeholder), optionalKey]
    return { id, name, mark, format: 'openai', flavour: id, hosting: 'local', fields }
  }),
]

export const fieldsOf = ({ fields }: Preset): readonly ProviderField[] =>
  fields?.filter(({ kind }) => kind !== 'flavour') ?? [key]

/** The proposed id, or the next one that no provider has. */
export function freeId(preset: Preset, taken: ReadonlySet<string>): string {
  let id = preset.id
  for (let count = 2; taken.has(id); count++) id = `${preset.id}-${count}`
  return id
}

/** A hue per name, so that a provider always has the same colour. */
export function hueOf(name: string): number {
  let hash = 7
  for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)!) % 360
  return hash
}
