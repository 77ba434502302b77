import type { ProviderSettings } from '../port.ts'
import { readModelIds } from '../model-list.ts'
import { createRedactor } from '../redactor.ts'
import type { CreateWireAdapter, WireAdapter } from '../wire-adapter.ts'
import { readTokenCount } from '../token-count.ts'
import { decodeJsonObject } from '../wire-json.ts'
import { controlRoot, runtimeRoot } from './addresses.ts'
import { type AuthorizeOptions, createAuthorize } from './authorize.ts'
import { bedrockEmbeddings } from './embeddings.ts'
import { fromConverse } from './from-response.ts'
import { createConverseStreamReader } from './from-stream.ts'
import { mapError } from './map-error.ts'
import { toConverseRequest, toCountTokensRequest } from './to-request.ts'

/** Converse and ConverseStream of AWS Bedrock, for every chat model there; embeddings of Titan and Cohere. */
export const createBedrockAdapter: CreateWireAdapter = (settings) => createBedrockAdapterWith(settings)

/** createBedrockAdapter with a given source of credentials and clock. */
export function createBedrockAdapterWith(settings: ProviderSettings, options: AuthorizeOptions = {}): WireAdapter {
  const redact = createRedactor(settings)
  const root = runtimeRoot(settings)
  return {
    toRequest: (call, requestOptions) => toConverseRequest(call, requestOptions, settings, root),
    fromResponse: (body) => fromConverse(body, redact),
    createStreamReader: () => createConverseStreamReader(redact),
    mapError: (failure) => mapError(failure, redact),
    authorize: createAuthorize(settings, options),
    requestIdHeader: 'x-amzn-requestid',
    tokenCount: {
      toRequest: (call) => toCountTokensRequest(call, settings, root),
      fromResponse: readTokenCount('inputTokens'),
    },
    embeddings: bedrockEmbeddings(root),
    // Inference profiles (`eu.…`, `us.…`) have a separate list and are not included.
    models: {
      url: `${controlRoot(settings)}/foundation-models`,
      fromResponse: (body) => readModelIds(decodeJsonObject(body)?.modelSummaries, ({ modelId }) => modelId),
    },
  }
}
