import { readModelIds } from '../model-list.ts'
import { createRedactor } from '../redactor.ts'
import { resolveTraits } from '../model-traits/index.ts'
import type { ProviderRequest, WireModel } from '../port.ts'
import type { CreateWireAdapter } from '../wire-adapter.ts'
import { parseJson } from '../wire-json.ts'
import { createEmbeddings } from './embeddings.ts'
import { createEndpoint } from './endpoint.ts'
import { type Flavour, flavourName, flavours } from './flavours.ts'
import { fromCompletion } from './from-response.ts'
import { createChatStreamReader } from './from-stream.ts'
import { mapError } from './map-error.ts'
import { takesAddress } from './message-content.ts'
import { createRerank } from './rerank.ts'
import { fromResponseObject, createResponsesStreamReader, toResponsesRequest } from './responses/index.ts'
import { toChatRequest } from './to-request.ts'

/** Chat completions of OpenAI, Azure OpenAI and every compatible host; `flavours.ts` describes their differences. */
export const createOpenAiAdapter: CreateWireAdapter = (settings) => {
  const host = flavourName(settings)
  const flavour: Flavour = flavours[host]
  const endpoint = createEndpoint(settings, flavour)
  const redact = createRedactor(settings)
  const rejects = [...flavour.rejects, ...(settings.quirks?.rejects ?? [])]
  const context = { settings, accepting: { ...settings, quirks: { rejects } }, host, flavour, endpoint }
  const credentials = toCredentials(settings)
  const rerank = createRerank(context, redact)
  const address = (model: string) => endpoint('responses', model)
  /** Some models are served by this API only, and only it has tools that the provider runs. */
  const usesResponses = (request: ProviderRequest | undefined, model: WireModel | undefined) =>
    model !== undefined && ((request?.hostedTools?.length ?? 0) > 0 || resolveTraits(host, model).api === 'responses')
  return {
    toRequest: (call, options) =>
      usesResponses(call.request, call.model)
        ? toResponsesRequest(call, options, { settings: context.accepting, host, address })
        : toChatRequest(call, options, context),
    takesAddress: (part) => takesAddress(part, host),
    fromResponse: (body, request, model) =>
      usesResponses(request, model) ? fromResponseObject(body, redact) : fromCompletion(body, flavour, redact),
    createStreamReader: (request, model) =>
      usesResponses(request, model)
        ? createResponsesStreamReader(redact)
        : createChatStreamReader(flavour, redact, request?.choices),
    mapError: (error) => mapError(error, redact),
    authorize: () => credentials,
    requestIdHeader: flavour.requestIdHeader,
    embeddings: createEmbeddings(context, redact),
    ...(rerank && { rerank }),
    // Azure lists the models of the region, not the deployments that can be called.
    ...(settings.format !== 'azure' && { models: { url: endpoint('models', ''), fromResponse: fromModelList } }),
  }
}

/** Azure accepts keys in a separate header; a JSON web token is a token of Entra ID. */
function toCredentials({ apiKey, format }: { apiKey?: string; format: string }): Record<string, string> {
  if (apiKey === undefined) return {}
  return format === 'azure' && !apiKey.startsWith('eyJ') ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` }
}

/** `{data: [{id}]}`; Together sends the bare list. */
function fromModelList(body: Uint8Array): string[] {
  const list = parseJson(new TextDecoder().decode(body))
  const entries = Array.isArray(list) ? list : (list as { data?: unknown } | null | undefined)?.data
  return readModelIds(entries, ({ id }) => id)
}
