import { mapError } from '../openai/map-error.ts'
import { readModelIds } from '../model-list.ts'
import { createRedactor } from '../redactor.ts'
import type { CreateWireAdapter } from '../wire-adapter.ts'
import { asName, decodeJsonObject } from '../wire-json.ts'
import { createOllamaEmbeddings } from './embeddings.ts'
import { fromChat } from './from-response.ts'
import { createOllamaStreamReader } from './from-stream.ts'
import { toOllamaRequest } from './to-request.ts'

const defaultBaseUrl = 'http://127.0.0.1:11434'

/** Ollama's native API. Its OpenAI-compatible API is flavour `ollama` of ../openai; this one lists loaded models and separates thinking. */
export const createOllamaAdapter: CreateWireAdapter = (settings) => {
  const redact = createRedactor(settings)
  const root = apiRoot(settings.baseUrl)
  const credentials: Record<string, string> = settings.apiKey ? { authorization: `Bearer ${settings.apiKey}` } : {}
  return {
    toRequest: (call, options) => toOllamaRequest(call, options, settings, root),
    fromResponse: (body, request) => fromChat(body, redact, request),
    createStreamReader: (request) => createOllamaStreamReader(redact, request),
    mapError: (error) => mapError(error, redact),
    authorize: () => Promise.resolve(credentials),
    requestIdHeader: null,
    embeddings: createOllamaEmbeddings(root),
    models: {
      url: `${root}/api/tags`,
      fromResponse: (body) => readModelIds(decodeJsonObject(body)?.models, ({ model, name }) => asName(model) ?? name),
    },
  }
}

/** Operators may configure the address with `/v1` or `/api` at its end. */
function apiRoot(baseUrl: string | undefined): string {
  return (baseUrl ?? defaultBaseUrl).replace(/\/+$/, '').replace(/\/(v1|api)$/, '')
}
