import type { Routes } from '../../platform/http/index.ts'
import { AppError } from '../../platform/kernel/index.ts'
import { type Organisation, assertGatewayAccess } from '../../tenants/organisations/index.ts'

/**
 * Paths of the compatible API that SDKs call by default or that a wrong base URL leads to. They do not exist here; each answers 404
 * `unknown_endpoint` with the call to make instead. The key is checked first, and below `/v1/gateway` the access to the gateway.
 */
const chat = 'POST /v1/gateway/chat/completions'

const notOffered: Record<string, string> = {
  '/responses': `The Responses API is part of version 2: call POST /v2/gateway/responses, with the base URL /v2/gateway. Or call ${chat}: \`client.chat.completions.create(…)\` in OpenAI's SDKs, \`provider.chat("model-id")\` instead of \`provider("model-id")\` in the AI SDK, \`useResponsesApi: false\` in LangChain.`,
  '/completions': `Text completions are not offered. Call ${chat}: \`client.chat.completions.create(…)\` in OpenAI's SDKs, \`provider.chat("model-id")\` in the AI SDK.`,
  '/embeddings':
    'Embeddings are part of version 2: call POST /v2/gateway/embeddings, with the base URL /v2/gateway. For search, upload documents with POST /v1/documents: Portico embeds them.',
  '/messages': `The Messages API is part of version 2, with the base URL /v2/gateway/anthropic. Or call ${chat} with any model of GET /v1/gateway/models.`,
  '/images': 'Images are not offered: the gateway takes and returns text.',
  '/audio': 'Audio is not offered: the gateway takes and returns text.',
  '/moderations': 'Moderations are not offered.',
  '/files': 'Files are not offered at the gateway. Upload documents to a Space with POST /v1/documents.',
  '/batches': `Batches are not offered. Call ${chat} for each request.`,
  '/realtime': `The Realtime API is not offered. Call ${chat} with \`stream: true\`.`,
  '/assistants': 'Assistants are not offered. Publish a Space and call POST /v1/endpoints/{endpointId}/chat.',
  '/threads': 'Threads are not offered. Publish a Space and call POST /v1/endpoints/{endpointId}/chat.',
}

/** Paths that clients call with a wrong base URL, with the right base URL. */
const wrongBases: Record<string, string> = {
  '/v1/gateway/v1': 'The base URL of the client already ends in /v1/gateway: leave out the second /v1.',
  '/v1': 'The compatible API is under /v1/gateway: set the base URL of the client to {origin}/v1/gateway.',
}

const compatiblePaths = ['/chat/completions', '/models', ...Object.keys(notOffered)]

export const otherEndpointRoutes: Routes = (app) => {
  const refuse = (base: string, path: string, message: string) => {
    const isGateway = base.startsWith('/v1/gateway')
    for (const url of [`${base}${path}`, `${base}${path}/*`]) {
      app.all(
        url,
        {
          config: {
            auth: 'organisation',
            // Refused here, so that no body is read for an endpoint that does not exist.
            access: (organisation: Organisation) => {
              if (isGateway) assertGatewayAccess(organisation)
              throw new AppError('unknown_endpoint', message)
            },
          },
          schema: { hide: true } as object,
        },
        () => undefined,
      )
    }
  }
  for (const [path, message] of Object.entries(notOffered)) refuse('/v1/gateway', path, message)
  for (const [base, message] of Object.entries(wrongBases)) {
    for (const path of compatiblePaths) refuse(base, path, message)
  }
}
