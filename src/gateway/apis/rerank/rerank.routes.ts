import { errorResponses } from '../../../contract/errors.ts'
import { rerankRequestSchema, rerankSchema } from '../../../contract/gateway-v2-embeddings.ts'
import { describeRoutes, type Routes } from '../../../platform/http/index.ts'
import type { Reranking, RerankResult } from '../../gateway/index.ts'
import { meteredRoute } from '../metered.routes.ts'
import { type ReadRerank, rerankBody } from './rerank-body.ts'

/** Over all attempts, as for a whole completion of a small model. */
const timeoutMs = 60_000

/** `POST /v2/gateway/rerank`: compares documents with a query, in the form that Cohere and Jina share. */
export function rerankRoutes({ reranking }: { reranking: Reranking }): Routes {
  const route = meteredRoute<ReadRerank>(rerankBody, async (call, read) => {
    const { model, query, documents } = read
    const result = await reranking.rerank({ ...call, model, query, documents, timeoutMs })
    return { json: renderRanking(result, read, call.client.requestId), ...result, adjusted: [] }
  })
  const described = describeRoutes('organisation', 'Gateway, version 2')
  return (app) => {
    app.post(
      '/v2/gateway/rerank',
      described('rerankDocuments', 'Rank documents by a query', {
        config: route.config,
        body: rerankRequestSchema,
        response: { 200: rerankSchema, ...errorResponses(400, 401, 402, 403, 404, 429, 502, 503, 504) },
        description: 'The best document first, in the form of Cohere and Jina.',
      }),
      route.handler,
    )
  }
}

/** The JSON of `rerankSchema`. Documents with the same score keep their order. */
function renderRanking({ scores, receipt }: RerankResult, read: ReadRerank, requestId: string): string {
  const { documents, topN, returnsDocuments } = read
  const results = scores
    .map((score, index) => ({ index, relevance_score: score }))
    .sort((left, right) => right.relevance_score - left.relevance_score)
    .slice(0, topN)
    .map((result) => (returnsDocuments ? { ...result, document: { text: documents[result.index]! } } : result))
  const { promptTokens } = receipt.usage
  return JSON.stringify({
    id: `rerank-${requestId.slice('req_'.length)}`,
    model: receipt.model,
    results,
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
  })
}
