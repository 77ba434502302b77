import { readModelIds } from '../model-list.ts'
import { createRedactor } from '../redactor.ts'
import type { CreateWireAdapter } from '../wire-adapter.ts'
import { readTokenCount } from '../token-count.ts'
import { decodeJsonObject } from '../wire-json.ts'
import { fromMessage } from './from-response.ts'
import { createMessageStreamReader } from './from-stream.ts'
import { mapError } from './map-error.ts'
import { apiRoot, toCountRequest, toMessagesRequest, versionHeader } from './to-request.ts'

/** The Messages API of Anthropic. (Claude on Bedrock uses Converse: ../bedrock.) */
export const createAnthropicAdapter: CreateWireAdapter = (settings) => {
  const redact = createRedactor(settings)
  const credentials: Record<string, string> = settings.apiKey ? { 'x-api-key': settings.apiKey } : {}
  return {
    takesAddress: ({ type }) => type !== 'audio',
    toRequest: (call, options) => toMessagesRequest(call, options, settings),
    fromResponse: (body, request) => fromMessage(body, redact, request),
    createStreamReader: (request) => createMessageStreamReader(redact, request),
    mapError: (failure) => mapError(failure, redact),
    // Every endpoint requires the version, also the model list, whose mapping has no headers.
    authorize: async () => ({ ...credentials, ...versionHeader(settings) }),
    requestIdHeader: 'request-id',
    tokenCount: { toRequest: (call) => toCountRequest(call, settings), fromResponse: readTokenCount('input_tokens') },
    // 1000 is the largest page; it fits all models.
    models: {
      url: `${apiRoot(settings)}/v1/models?limit=1000`,
      fromResponse: (body) => readModelIds(decodeJsonObject(body)?.data, ({ id }) => id),
    },
  }
}
