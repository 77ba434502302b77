import { readModelIds } from '../model-list.ts'
import { createRedactor } from '../redactor.ts'
import type { CreateWireAdapter } from '../wire-adapter.ts'
import { decodeJsonObject } from '../wire-json.ts'
import { cohereEmbeddings } from './embeddings.ts'
import { fromChat } from './from-response.ts'
import { createChatStreamReader } from './from-stream.ts'
import { mapError } from './map-error.ts'
import { cohereRerank } from './rerank.ts'
import { apiRoot, toChatRequest } from './to-request.ts'

/** Chat, embeddings and reranking of Cohere's API, version 2. */
export const createCohereAdapter: CreateWireAdapter = (settings) => {
  const redact = createRedactor(settings)
  const root = apiRoot(settings)
  const credentials: Record<string, string> = settings.apiKey ? { authorization: `Bearer ${settings.apiKey}` } : {}
  return {
    takesAddress: ({ type }) => type === 'image',
    toRequest: (call, options) => toChatRequest(call, options, settings),
    fromResponse: (body) => fromChat(body, redact),
    createStreamReader: () => createChatStreamReader(redact),
    mapError: (failure) => mapError(failure, redact),
    authorize: async () => credentials,
    requestIdHeader: 'x-debug-trace-id',
    embeddings: cohereEmbeddings(root),
    rerank: cohereRerank(root),
    // The list exists only in the first version of the API; 1000 is the largest page.
    models: {
      url: `${root}/v1/models?page_size=1000`,
      fromResponse: (body) => readModelIds(decodeJsonObject(body)?.models, ({ name }) => name),
    },
  }
}
