import { readModelIds } from '../model-list.ts'
import { createRedactor } from '../redactor.ts'
import { resolveTraits } from '../model-traits/index.ts'
import type { ProviderRequest, ProviderSettings, WireModel } from '../port.ts'
import type { CreateWireAdapter, WireAdapter } from '../wire-adapter.ts'
import { readTokenCount } from '../token-count.ts'
import { asString, decodeJsonObject } from '../wire-json.ts'
import { geminiModelPath, geminiRoot, vertexModelPath, vertexRoot } from './addresses.ts'
import { geminiEmbeddings, vertexEmbeddings } from './embeddings.ts'
import { fromGenerateContent } from './from-response.ts'
import { createGenerateContentStreamReader } from './from-stream.ts'
import { createGoogleTokenLoader, type LoadGoogleToken } from './google-token.ts'
import { countUses } from './hosted-uses.ts'
import { mapError } from './map-error.ts'
import { toCountTokensRequest, toGenerateContentRequest } from './to-request.ts'

/** The Gemini API (generativelanguage.googleapis.com), with an API key. */
export const createGeminiAdapter: CreateWireAdapter = (settings) => {
  const root = geminiRoot(settings)
  return {
    ...sharedMappings(settings, (id) => `${root}/${geminiModelPath(id)}`),
    authorize: async () => keyHeader(settings),
    embeddings: geminiEmbeddings(root),
    // 1000 is the largest page.
    models: {
      url: `${root}/models?pageSize=1000`,
      fromResponse: (body) =>
        readModelIds(decodeJsonObject(body)?.models, ({ name }) => asString(name).replace(/^models\//, '')),
    },
  }
}

/**
 * Gemini on Vertex AI, with tokens of a service account or of the machine, or with an API key (express mode). The location is
 * `settings.region`; see addresses.ts. Models of other publishers use other formats and are not supported.
 */
export const createVertexAdapter: CreateWireAdapter = (settings) =>
  createVertexAdapterWith(settings, settings.apiKey ? undefined : createGoogleTokenLoader(settings))

/** createVertexAdapter with a given source of tokens. */
export function createVertexAdapterWith(settings: ProviderSettings, loadToken?: LoadGoogleToken): WireAdapter {
  const root = vertexRoot(settings)
  return {
    ...sharedMappings(settings, (id) => `${root}/${vertexModelPath(id)}`),
    async authorize(_request, signal) {
      return loadToken ? { authorization: `Bearer ${await loadToken(signal)}` } : keyHeader(settings)
    },
    embeddings: vertexEmbeddings(root),
  }
}

const ownAddress =
  /^(gs:\/\/|https:\/\/(generativelanguage\.googleapis\.com\/|(www\.)?youtube\.com\/watch|youtu\.be\/))/

function sharedMappings(settings: ProviderSettings, modelUrl: (id: string) => string) {
  const redact = createRedactor(settings)
  const usesOf = (request: ProviderRequest = { messages: [] }, model?: WireModel) =>
    countUses(request, model ? resolveTraits(settings.format, model) : {})
  return {
    // Files of Google's storage and videos have no other form.
    takesAddress: ({ source }) => source.kind === 'url' && ownAddress.test(source.url),
    toRequest: (call, options) => toGenerateContentRequest(call, options, settings, modelUrl(call.model.id)),
    fromResponse: (body, request, model) => fromGenerateContent(body, redact, usesOf(request, model)),
    createStreamReader: (request, model) => createGenerateContentStreamReader(redact, usesOf(request, model)),
    mapError: (failure) => mapError(failure, redact),
    requestIdHeader: null,
    tokenCount: {
      toRequest: (call) => toCountTokensRequest(call, settings, modelUrl(call.model.id)),
      fromResponse: readTokenCount('totalTokens'),
    },
  } satisfies Partial<WireAdapter>
}

/** Never `?key=`: addresses are logged. */
function keyHeader(settings: ProviderSettings): Record<string, string> {
  return settings.apiKey ? { 'x-goog-api-key': settings.apiKey } : {}
}
