/**
 * Hosts of the OpenAI-compatible family as data: how each differs from OpenAI's API. A host that is not listed works with `baseUrl` alone
 * (`generic`), and its refusals can be declared in the provider's `quirks`. Sources: the hosts' API references in 2026 and their recorded
 * answers.
 */
export interface Flavour {
  /** Address up to the path of the resource; absent if the host has no fixed address. */
  baseUrl?: string
  /** Suffixes of host names that identify a `baseUrl` without `flavour`. They decide the dialect only, never the hosting. */
  hosts: readonly string[]
  /** Added to a base address without a path. */
  versionPath: string
  /** Factor on our 0..2 temperature. */
  temperatureFactor: number
  /** Sent instead of a temperature of 0, if 0 is refused. */
  temperatureForZero?: number
  /** Name of the output cap; reasoning models use `max_completion_tokens` if `openAiReasoning`. */
  capField: 'max_tokens' | 'max_completion_tokens'
  /** Reasoning models accept the cap as `max_completion_tokens` and system texts as `developer`. */
  openAiReasoning: boolean
  /** Public names of optional fields that the host refuses or does not support. */
  rejects: readonly string[]
  /** `stream_options: {include_usage: true}`: `ask` if usage must be requested, `unasked` if it is always sent. */
  streamUsage: 'ask' | 'unasked'
  seedField: 'seed' | 'random_seed'
  requiredToolChoice: 'required' | 'any'
  /** A last assistant turn is the beginning of the answer and requires `prefix: true`. */
  marksPrefix?: boolean
  /**
   * The wire's completion tokens exclude reasoning tokens: `by_total` if the total shows it or is missing, `always` if the total excludes
   * them too.
   */
  reasoningOutsideCompletion: false | 'by_total' | 'always'
  /** The host documents the cost in its usage as US dollars. */
  documentsCost: boolean
  /** Streams have no finish reason; only `[DONE]` ends a complete answer. */
  endsWithoutFinish: boolean
  /** A `stop` with tool calls means `tool_calls`. */
  stopMayMeanToolCalls: boolean
  /** Vectors are requested as base64: a quarter of the bytes and no number parsing. */
  base64Embeddings: boolean
  dimensionsField: 'dimensions' | 'output_dimension' | null
  embeddingBatch: number
  /** The rerank endpoint: its request, and most documents of one request. null: the host has none. */
  rerank: { format: 'jina' | 'voyage' | 'tei'; maximumBatch: number } | null
  /** Request header that carries our request id. */
  requestIdField?: string
  requestIdHeader: string
}

const generic: Flavour = {
  hosts: [],
  versionPath: '/v1',
  temperatureFactor: 1,
  capField: 'max_tokens',
  openAiReasoning: false,
  // Metadata belongs to OpenAI's stored completions, tiers are OpenAI's price classes, and only its models write at a chosen length.
  rejects: ['metadata', 'service_tier', 'verbosity'],
  streamUsage: 'ask',
  seedField: 'seed',
  requiredToolChoice: 'required',
  reasoningOutsideCompletion: false,
  documentsCost: false,
  endsWithoutFinish: false,
  stopMayMeanToolCalls: false,
  base64Embeddings: false,
  dimensionsField: 'dimensions',
  embeddingBatch: 64,
  // vLLM, llama.cpp, Together, LocalAI and others offer Jina's endpoint.
  rerank: { format: 'jina', maximumBatch: 1_000 },
  requestIdHeader: 'x-request-id',
}

const openai: Flavour = {
  ...generic,
  baseUrl: 'https://api.openai.com/v1',
  hosts: ['api.openai.com'],
  capField: 'max_completion_tokens',
  openAiReasoning: true,
  // Metadata is refused unless the completion is stored, and we never store it.
  rejects: ['metadata', 'top_k'],
  base64Embeddings: true,
  // 2048 inputs are allowed, but only 300,000 tokens in total.
  embeddingBatch: 256,
  rerank: null,
  requestIdField: 'x-client-request-id',
}

export const flavours = {
  generic,
  openai,
  azure: {
    ...openai,
    hosts: ['openai.azure.com', 'services.ai.azure.com', 'cognitiveservices.azure.com'],
    // Older API versions support the new name for reasoning models only.
    capField: 'max_tokens',
    rejects: ['metadata', 'service_tier', 'top_k'],
    requestIdField: 'x-ms-client-request-id',
    requestIdHeader: 'apim-request-id',
  },
  mistral: {
    ...generic,
    baseUrl: 'https://api.mistral.ai/v1',
    hosts: ['mistral.ai'],
    // Useful values range up to about 1; the default is the operator's choice.
    temperatureFactor: 0.5,
    // Unknown fields cause a 422.
    rejects: ['metadata', 'service_tier', 'user', 'verbosity', 'top_k', 'logit_bias'],
    streamUsage: 'unasked',
    seedField: 'random_seed',
    requiredToolChoice: 'any',
    // "Expected last role User or Tool (or Assistant with prefix True)": https://github.com/huggingface/smolagents/issues/757
    marksPrefix: true,
    dimensionsField: 'output_dimension',
    // At most 16,384 tokens in one request.
    embeddingBatch: 32,
    requestIdHeader: 'mistral-correlation-id',
  },
  groq: {
    ...generic,
    baseUrl: 'https://api.groq.com/openai/v1',
    hosts: ['api.groq.com'],
    versionPath: '/openai/v1',
    temperatureForZero: 1e-8,
    capField: 'max_completion_tokens',
    rejects: ['metadata', 'verbosity', 'top_k', 'logit_bias'],
  },
  deepseek: {
    ...generic,
    baseUrl: 'https://api.deepseek.com',
    hosts: ['api.deepseek.com'],
    versionPath: '',
    rejects: ['metadata', 'service_tier', 'seed', 'user', 'verbosity', 'top_k', 'parallel_tool_calls'],
  },
  xai: {
    ...generic,
    baseUrl: 'https://api.x.ai/v1',
    hosts: ['api.x.ai'],
    reasoningOutsideCompletion: 'by_total',
    documentsCost: true,
  },
  together: { ...generic, baseUrl: 'https://api.together.xyz/v1', hosts: ['together.xyz', 'together.ai'] },
  openrouter: {
    ...generic,
    baseUrl: 'https://openrouter.ai/api/v1',
    hosts: ['openrouter.ai'],
    versionPath: '/api/v1',
    documentsCost: true,
  },
  vercel: {
    ...generic,
    baseUrl: 'https://ai-gateway.vercel.sh/v1',
    hosts: ['ai-gateway.vercel.sh'],
    documentsCost: true,
  },
  perplexity: {
    ...generic,
    baseUrl: 'https://api.perplexity.ai',
    hosts: ['api.perplexity.ai'],
    versionPath: '',
    rejects: ['metadata', 'service_tier', 'seed', 'stop', 'user', 'verbosity'],
    streamUsage: 'unasked',
    // sonar-deep-research reports tens of thousands of reasoning tokens next to a total of prompt and completion, and bills them.
    reasoningOutsideCompletion: 'always',
    documentsCost: true,
  },
  cerebras: {
    ...generic,
    baseUrl: 'https://api.cerebras.ai/v1',
    hosts: ['api.cerebras.ai'],
    capField: 'max_completion_tokens',
    rejects: ['metadata', 'service_tier', 'presence_penalty', 'frequency_penalty', 'verbosity', 'top_k'],
  },
  alibaba: {
    ...generic,
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    hosts: ['aliyuncs.com'],
    versionPath: '/compatible-mode/v1',
    // More than ten inputs are refused.
    embeddingBatch: 10,
  },
  moonshotai: {
    ...generic,
    baseUrl: 'https://api.moonshot.ai/v1',
    hosts: ['moonshot.ai', 'moonshot.cn'],
    // 0 to 1.
    temperatureFactor: 0.5,
  },
  ollama: {
    ...generic,
    baseUrl: 'http://127.0.0.1:11434/v1',
    hosts: ['ollama.com'],
    rejects: ['metadata', 'service_tier', 'user', 'verbosity'],
    stopMayMeanToolCalls: true,
  },
  jina: { ...generic, baseUrl: 'https://api.jina.ai/v1', hosts: ['api.jina.ai'] },
  voyage: {
    ...generic,
    baseUrl: 'https://api.voyageai.com/v1',
    hosts: ['api.voyageai.com'],
    dimensionsField: 'output_dimension',
    rerank: { format: 'voyage', maximumBatch: 1_000 },
  },
  // Text Embeddings Inference refuses more than `--max-client-batch-size` texts, 32 by default.
  tei: {
    ...generic,
    baseUrl: 'http://127.0.0.1:8080/v1',
    embeddingBatch: 32,
    rerank: { format: 'tei', maximumBatch: 32 },
  },
  // Streams of Cortex end with [DONE] alone (docs.snowflake.com, Cortex REST API, 2026-11).
  snowflake: {
    ...generic,
    hosts: ['snowflakecomputing.com'],
    versionPath: '/api/v2/cortex/v1',
    capField: 'max_completion_tokens',
    endsWithoutFinish: true,
  },
  vllm: { ...generic, baseUrl: 'http://127.0.0.1:8000/v1', base64Embeddings: true },
  lmstudio: { ...generic, baseUrl: 'http://127.0.0.1:1234/v1', rejects: ['metadata', 'service_tier', 'user'] },
  llamacpp: { ...generic, baseUrl: 'http://127.0.0.1:8080/v1' },
} as const satisfies Record<string, Flavour>

export type FlavourName = keyof typeof flavours

/**
 * Name of the flavour: the configured one; else that of the address's host; without an address `openai`, else `generic`. An unknown name is
 * a host of the family without differences.
 */
export function flavourName(settings: { format: string; flavour?: string; baseUrl?: string }): FlavourName {
  if (settings.format === 'azure') return 'azure'
  if (settings.flavour !== undefined)
    return Object.hasOwn(flavours, settings.flavour) ? (settings.flavour as FlavourName) : 'generic'
  if (settings.baseUrl === undefined) return 'openai'
  const host = URL.parse(settings.baseUrl)?.hostname ?? ''
  const known = Object.entries<Flavour>(flavours).find(([, flavour]) =>
    flavour.hosts.some((suffix) => host === suffix || host.endsWith(`.${suffix}`)),
  )
  return (known?.[0] ?? 'generic') as FlavourName
}
