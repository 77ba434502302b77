import type { LitellmEntry } from './source-tables.ts'

/** One price list of the snapshot: its rows of the tables and the ids of its models. */
export interface ListSource {
  name: string
  ownedBy: string
  /** The id on the wire for a LiteLLM key, or null if the row is not part of this list. */
  wireIdOf(key: string, entry: LitellmEntry): string | null
  /** Provider names in the other two tables; absent: not compared. */
  modelsDev?: string
  genai?: string
  /** Models that only models.dev has are added. */
  canonicalOf?: (wireId: string) => string
  /** A list of the same provider with plain prices; a more expensive region inherits its context steps in proportion. */
  plain?: string
  /** Rows that are omitted: long retired, or not of this wire format. */
  leaveOut?: RegExp
  /** Lists for facts (release day, temperature) that the list's provider does not have. */
  factsFrom?: string[]
}

const stripPrefix = (provider: string | string[], prefix: string) => (key: string, entry: LitellmEntry) =>
  [provider].flat().includes(entry.litellm_provider ?? '') && key.startsWith(prefix) ? key.slice(prefix.length) : null

const regionPrefix = /^(eu|us|global|global-standard|apac|au|jp|us-gov|ca)[./]/

/** `gpt-35-turbo` is Azure's spelling. */
const azureCanonical = (wireId: string) => wireId.replace(/^gpt-35-/, 'gpt-3.5-')

/** `eu.anthropic.claude-sonnet-4-5-20250929-v1:0` → `claude-sonnet-4-5`: vendor, day and version belong to Bedrock, not to the model. */
const bedrockCanonical = (wireId: string) =>
  anthropicCanonical(
    wireId
      .replace(regionPrefix, '')
      .replace(/^deepseek\./, 'deepseek-')
      .replace(/^[a-z0-9]+\./, '')
      .replace(/(-v\d+)?(:\d+)?(:\d+k)?$/, '')
      .replace(/-1$/, (suffix) => (wireId.includes('gpt-oss') ? '' : suffix)),
  )

const anthropicCanonical = (wireId: string) =>
  wireId.startsWith('claude-') ? wireId.replace(/[-@](\d{8}|default)$/, '') : wireId

const bedrock = (region: string | null) => (key: string, entry: LitellmEntry) => {
  if (!['bedrock', 'bedrock_converse'].includes(entry.litellm_provider ?? '') || key.includes('/')) return null
  if (!/^[a-z-]+\.[a-z]/.test(key)) return null
  const prefix = regionPrefix.exec(key)?.[1] ?? null
  return prefix === region ? key : null
}

const bedrockRetired =
  /claude-(v2|instant|v1)|claude-3-(opus|sonnet|5|7)|\.claude-(opus|sonnet)-4-2025|ai21\.j2|titan-text|command-(light-)?text|llama2|llama3-(8b|70b)|cohere\.embed-v4|marengo|mistral-7b|mixtral/

const azure = (region: string | null) => (key: string, entry: LitellmEntry) => {
  if (entry.litellm_provider !== 'azure' || !key.startsWith('azure/')) return null
  const rest = key.slice('azure/'.length)
  const prefix = regionPrefix.exec(rest)?.[1] ?? null
  if (prefix !== region) return null
  const id = prefix === null ? rest : rest.slice(prefix.length + 1)
  return id
}

/** Other vendors' models on Azure use other formats; the older OpenAI models are switched off. */
const notAzureOpenai =
  /^(?!gpt-|o\d|text-embedding)|^gpt-(3|4-0|4-1106|4-32k|4-turbo-v|4-0613|4\.5)|^gpt-4$|^o1-(mini|preview)|-instruct/

export const listSources: ListSource[] = [
  {
    name: 'openai',
    ownedBy: 'openai',
    modelsDev: 'openai',
    genai: 'openai',
    wireIdOf: (key, entry) =>
      entry.litellm_provider === 'openai' && !/[/:]/.test(key) && key !== 'gpt-5-chat' ? key : null,
  },
  {
    name: 'azure',
    ownedBy: 'openai',
    modelsDev: 'azure',
    genai: 'azure',
    canonicalOf: azureCanonical,
    factsFrom: ['openai'],
    leaveOut: notAzureOpenai,
    wireIdOf: azure(null),
  },
  ...['eu', 'us', 'global'].map((region) => ({
    name: `azure-${region}`,
    ownedBy: 'openai',
    canonicalOf: azureCanonical,
    plain: 'azure',
    leaveOut: notAzureOpenai,
    factsFrom: ['azure', 'openai'],
    wireIdOf: azure(region),
  })),
  {
    name: 'anthropic',
    ownedBy: 'anthropic',
    modelsDev: 'anthropic',
    genai: 'anthropic',
    leaveOut: /(opus|sonnet)-4-0$/,
    canonicalOf: anthropicCanonical,
    wireIdOf: (key, entry) => (entry.litellm_provider === 'anthropic' && !key.startsWith('claude-4-') ? key : null),
  },
  {
    name: 'gemini',
    ownedBy: 'google',
    modelsDev: 'google',
    genai: 'google',
    wireIdOf: stripPrefix('gemini', 'gemini/'),
  },
  {
    name: 'vertex',
    ownedBy: 'google',
    leaveOut: /^(?!gemini-|text-)/,
    modelsDev: 'google-vertex',
    genai: 'google',
    factsFrom: ['google'],
    wireIdOf: (key, entry) => {
      const provider = entry.litellm_provider ?? ''
      if (!['vertex_ai', 'vertex_ai-language-models', 'vertex_ai-embedding-models'].includes(provider)) return null
      const id = key.replace(/^vertex_ai\//, '')
      return id.includes('/') || id.startsWith('medlm') ? null : id
    },
  },
  {
    name: 'vertex-anthropic',
    ownedBy: 'anthropic',
    modelsDev: 'google-vertex-anthropic',
    leaveOut: /claude-(3|opus-4(@|$)|sonnet-4(@|$))/,
    canonicalOf: anthropicCanonical,
    factsFrom: ['anthropic'],
    wireIdOf: stripPrefix('vertex_ai-anthropic_models', 'vertex_ai/'),
  },
  {
    name: 'mistral',
    ownedBy: 'mistralai',
    modelsDev: 'mistral',
    genai: 'mistral',
    leaveOut: /tiny|open-mi[sx]tral-(7b|8x)|2312|2402|2405|2407$|mamba|2501$/,
    wireIdOf: stripPrefix('mistral', 'mistral/'),
  },
  {
    name: 'bedrock',
    ownedBy: 'amazon-bedrock',
    modelsDev: 'amazon-bedrock',
    genai: 'aws',
    canonicalOf: bedrockCanonical,
    leaveOut: bedrockRetired,
    factsFrom: ['anthropic'],
    wireIdOf: bedrock(null),
  },
  ...['eu', 'us', 'global'].map((region) => ({
    name: `bedrock-${region}`,
    ownedBy: 'amazon-bedrock',
    modelsDev: 'amazon-bedrock',
    canonicalOf: bedrockCanonical,
    leaveOut: bedrockRetired,
    plain: 'bedrock',
    factsFrom: ['anthropic'],
    wireIdOf: bedrock(region),
  })),
  { name: 'groq', ownedBy: 'groq', modelsDev: 'groq', genai: 'groq', wireIdOf: stripPrefix('groq', 'groq/') },
  {
    name: 'deepseek',
    ownedBy: 'deepseek',
    modelsDev: 'deepseek',
    genai: 'deepseek',
    wireIdOf: stripPrefix('deepseek', 'deepseek/'),
  },
  {
    name: 'xai',
    ownedBy: 'xai',
    modelsDev: 'xai',
    genai: 'x-ai',
    // Names of generations whose dated models are switched off.
    leaveOut: /^grok-([23]|beta|vision|4$|4-latest|4-1|4-fast|code)/,
    wireIdOf: stripPrefix('xai', 'xai/'),
  },
  {
    name: 'together',
    ownedBy: 'together',
    modelsDev: 'togetherai',
    genai: 'together',
    leaveOut: /^baai/,
    wireIdOf: stripPrefix('together_ai', 'together_ai/'),
  },
  {
    name: 'perplexity',
    ownedBy: 'perplexity',
    modelsDev: 'perplexity',
    genai: 'perplexity',
    wireIdOf: (key) => /^perplexity\/(sonar(-pro|-reasoning-pro|-deep-research)?|pplx-embed.*)$/.exec(key)?.[1] ?? null,
  },
  {
    name: 'cerebras',
    ownedBy: 'cerebras',
    modelsDev: 'cerebras',
    genai: 'cerebras',
    wireIdOf: stripPrefix('cerebras', 'cerebras/'),
  },
  {
    name: 'cohere',
    ownedBy: 'cohere',
    modelsDev: 'cohere',
    genai: 'cohere',
    wireIdOf: (key, entry) =>
      ['cohere', 'cohere_chat'].includes(entry.litellm_provider ?? '') ? key.replace(/^cohere\//, '') : null,
  },
  {
    name: 'openrouter',
    ownedBy: 'openrouter',
    genai: 'openrouter',
    wireIdOf: (key, entry) =>
      entry.litellm_provider === 'openrouter' && !key.startsWith('openrouter/openrouter/')
        ? key.slice('openrouter/'.length)
        : null,
  },
  // Hosts in the European Union; only models.dev has them. The operator still declares the hosting.
  ...['scaleway', 'ovhcloud', 'nebius', 'stackit', 'berget'].map((host) => ({
    name: host,
    ownedBy: host,
    modelsDev: host,
    wireIdOf: () => null,
  })),
]
