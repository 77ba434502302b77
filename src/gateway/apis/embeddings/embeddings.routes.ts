import { errorResponses } from '../../../contract/errors.ts'
import { embeddingListSchema, embeddingRequestSchema } from '../../../contract/gateway-v2-embeddings.ts'
import { describeRoutes, type Routes } from '../../../platform/http/index.ts'
import type { Embeddings } from '../../gateway/index.ts'
import { meteredRoute } from '../metered.routes.ts'
import { embeddingBody, type ReadEmbeddings } from './embedding-body.ts'
import { renderEmbeddings } from './render-embeddings.ts'

/** `POST /v2/gateway/embeddings`: the compatible API's embeddings of texts and tokens. */
export function embeddingRoutes({ embeddings }: { embeddings: Embeddings }): Routes {
  const route = meteredRoute<ReadEmbeddings>(embeddingBody, async (call, { format, purpose, tokens, ...read }) => {
    const { vectors, promptTokens, receipt, rate } = await embeddings.embed({
      ...call,
      model: read.model,
      texts: read.texts,
      ...(tokens && { tokens }),
      dimensions: read.dimensions,
      purpose,
    })
    const isOther = read.dimensions !== undefined && vectors[0] !== undefined && vectors[0].length !== read.dimensions
    const json = await renderEmbeddings(vectors, { model: receipt.model, promptTokens, format })
    return { json, receipt, rate, adjusted: isOther ? ['dimensions'] : [] }
  })
  const described = describeRoutes('organisation', 'Gateway, version 2')
  return (app) => {
    app.post(
      '/v2/gateway/embeddings',
      {
        ...described(
          'createEmbeddings',
          'Create embeddings',
          {
            body: embeddingRequestSchema,
            response: { 200: embeddingListSchema, ...errorResponses(400, 401, 402, 403, 404, 429, 502, 503, 504) },
            description: 'Of texts, or of tokens if the provider takes them.',
          },
          'organisation',
          route.config,
        ),
        validatorCompiler: route.validatorCompiler,
      },
      route.handler,
    )
  }
}
