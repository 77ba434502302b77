/**
 * Names of OpenTelemetry's semantic conventions, at one version. 1.41 is the last release whose GenAI conventions have a published schema: they
 * moved to a separate repository, whose first release (0.1.0) renames metrics and has no schema address yet. All GenAI names have the
 * status "development". A test compares this file with the package of the same version.
 */
export const conventionsVersion = '1.41.1'
export const schemaUrl = `https://opentelemetry.io/schemas/${conventionsVersion}`

/** Standard attributes. */
export const attribute = {
  errorType: 'error.type',
  httpMethod: 'http.request.method',
  httpRoute: 'http.route',
  httpStatus: 'http.response.status_code',
  urlScheme: 'url.scheme',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  agentId: 'gen_ai.agent.id',
  dataSourceId: 'gen_ai.data_source.id',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  tokenType: 'gen_ai.token.type',
  requestModel: 'gen_ai.request.model',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  requestStream: 'gen_ai.request.stream',
  requestTemperature: 'gen_ai.request.temperature',
  requestTopP: 'gen_ai.request.top_p',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
} as const

/** Attributes of Portico, for which there is no convention. */
export const ownAttribute = {
  requestId: 'portico.request.id',
  organisationId: 'portico.organisation.id',
  surface: 'portico.surface',
  deploymentId: 'portico.deployment.id',
  hosting: 'portico.deployment.hosting',
  attempt: 'portico.attempt',
  outcome: 'portico.attempt.outcome',
  ending: 'portico.ending',
  agentic: 'portico.agentic',
  count: 'portico.result.count',
  jobKind: 'portico.job.kind',
} as const

/** Histograms with the bounds of their buckets that the conventions state. */
export const histograms = {
  clientDuration: {
    name: 'gen_ai.client.operation.duration',
    unit: 's',
    description: 'GenAI operation duration.',
    bounds: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  },
  tokenUsage: {
    name: 'gen_ai.client.token.usage',
    unit: '{token}',
    description: 'Number of input and output tokens used.',
    bounds: [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864],
  },
  serverDuration: {
    name: 'gen_ai.server.request.duration',
    unit: 's',
    description: 'Generative AI server request duration such as time-to-last byte or last output token.',
    bounds: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  },
  timeToFirstToken: {
    name: 'gen_ai.server.time_to_first_token',
    unit: 's',
    description: 'Time to generate first token for successful responses.',
    bounds: [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  },
} as const

/** `gen_ai.operation.name`. There is no convention for reranking. */
export const operationNames = { chat: 'chat', embedding: 'embeddings', rerank: 'rerank' } as const
/** Portico as a provider: its built-in model, and what its clients see. */
export const ourSystem = 'portico'
