import type { ProviderFormat } from '../../src/contract/provider-formats.ts'

/** How a provider of LiteLLM is called in Portico. */
export interface KnownProvider {
  format: ProviderFormat
  flavour?: string
  /** Address of a host that has no preset in Portico. */
  baseUrl?: string
  /** Environment variable that LiteLLM reads if `api_key` is absent. */
  keyEnv?: string
  /** The key may be missing: a local server, or credentials of the machine. */
  keyOptional?: true
  /** The address has no default. */
  needsAddress?: true
}

const local = { keyOptional: true } as const

/** By the prefix of `litellm_params.model`. Source: https://docs.litellm.ai/docs/providers, read 2026-11. */
const known: Readonly<Record<string, KnownProvider>> = {
  openai: { format: 'openai', flavour: 'openai', keyEnv: 'OPENAI_API_KEY' },
  azure: { format: 'azure', keyEnv: 'AZURE_API_KEY', needsAddress: true },
  azure_ai: { format: 'azure', keyEnv: 'AZURE_AI_API_KEY', needsAddress: true },
  anthropic: { format: 'anthropic', keyEnv: 'ANTHROPIC_API_KEY' },
  gemini: { format: 'gemini', keyEnv: 'GEMINI_API_KEY' },
  vertex_ai: { format: 'vertex', ...local },
  bedrock: { format: 'bedrock', ...local },
  cohere: { format: 'cohere', keyEnv: 'COHERE_API_KEY' },
  cohere_chat: { format: 'cohere', keyEnv: 'COHERE_API_KEY' },
  ollama: { format: 'ollama', ...local },
  ollama_chat: { format: 'ollama', ...local },
  mistral: { format: 'openai', flavour: 'mistral', keyEnv: 'MISTRAL_API_KEY' },
  groq: { format: 'openai', flavour: 'groq', keyEnv: 'GROQ_API_KEY' },
  deepseek: { format: 'openai', flavour: 'deepseek', keyEnv: 'DEEPSEEK_API_KEY' },
  xai: { format: 'openai', flavour: 'xai', keyEnv: 'XAI_API_KEY' },
  together_ai: { format: 'openai', flavour: 'together', keyEnv: 'TOGETHERAI_API_KEY' },
  openrouter: { format: 'openai', flavour: 'openrouter', keyEnv: 'OPENROUTER_API_KEY' },
  vercel_ai_gateway: { format: 'openai', flavour: 'vercel', keyEnv: 'VERCEL_AI_GATEWAY_API_KEY' },
  perplexity: { format: 'openai', flavour: 'perplexity', keyEnv: 'PERPLEXITYAI_API_KEY' },
  cerebras: { format: 'openai', flavour: 'cerebras', keyEnv: 'CEREBRAS_API_KEY' },
  dashscope: { format: 'openai', flavour: 'alibaba', keyEnv: 'DASHSCOPE_API_KEY' },
  moonshot: { format: 'openai', flavour: 'moonshotai', keyEnv: 'MOONSHOT_API_KEY' },
  jina_ai: { format: 'openai', flavour: 'jina', keyEnv: 'JINA_AI_API_KEY' },
  voyage: { format: 'openai', flavour: 'voyage', keyEnv: 'VOYAGE_API_KEY' },
  nebius: { format: 'openai', flavour: 'nebius', baseUrl: 'https://api.studio.nebius.ai/v1', keyEnv: 'NEBIUS_API_KEY' },
  fireworks_ai: {
    format: 'openai',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keyEnv: 'FIREWORKS_AI_API_KEY',
  },
  nvidia_nim: { format: 'openai', baseUrl: 'https://integrate.api.nvidia.com/v1', keyEnv: 'NVIDIA_NIM_API_KEY' },
  deepinfra: { format: 'openai', baseUrl: 'https://api.deepinfra.com/v1/openai', keyEnv: 'DEEPINFRA_API_KEY' },
  sambanova: { format: 'openai', baseUrl: 'https://api.sambanova.ai/v1', keyEnv: 'SAMBANOVA_API_KEY' },
  hosted_vllm: { format: 'openai', flavour: 'vllm', needsAddress: true, ...local },
  lm_studio: { format: 'openai', flavour: 'lmstudio', needsAddress: true, ...local },
  llamafile: { format: 'openai', flavour: 'llamacpp', needsAddress: true, ...local },
  openai_like: { format: 'openai', needsAddress: true, ...local },
  custom_openai: { format: 'openai', needsAddress: true, ...local },
  litellm_proxy: { format: 'openai', needsAddress: true, keyEnv: 'LITELLM_PROXY_API_KEY' },
}

/** Names without a prefix whose provider LiteLLM finds in its table of models. */
const bareNames: readonly [pattern: RegExp, prefix: string][] = [
  [/^(gpt-|chatgpt-|o\d|text-embedding-|ft:)/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^gemini/, 'vertex_ai'],
  [/^(command|embed-|rerank-)/, 'cohere'],
]

export interface NamedProvider extends KnownProvider {
  /** The name of LiteLLM. */
  prefix: string
  /** The model without the prefix. */
  wireId: string
  /** Bedrock: a region in the name of the model. */
  region?: string
}

/** The provider of `litellm_params.model`; undefined: Portico has no equal. `custom_llm_provider` has precedence over the prefix. */
export function nameProvider(model: string, customProvider: string | undefined): NamedProvider | undefined {
  const [first = '', ...rest] = model.split('/')
  const prefix = customProvider ?? (rest.length > 0 ? first : bareNames.find(([pattern]) => pattern.test(model))?.[1])
  if (prefix === undefined || !Object.hasOwn(known, prefix)) return undefined
  const wireId = first === prefix && rest.length > 0 ? rest.join('/') : model
  return { ...known[prefix]!, prefix, ...(prefix === 'bedrock' ? readBedrockName(wireId) : { wireId }) }
}

/** `converse/NAME`, `invoke/NAME` and `eu-central-1/NAME` are forms of one model. */
function readBedrockName(name: string): { wireId: string; region?: string } {
  const plain = name.replace(/^(converse|invoke|converse_like)\//, '')
  const [first = '', ...rest] = plain.split('/')
  const isRegion = /^[a-z]{2}(-[a-z]+)+-\d$/.test(first) && rest.length > 0
  return isRegion ? { wireId: rest.join('/'), region: first } : { wireId: plain }
}
