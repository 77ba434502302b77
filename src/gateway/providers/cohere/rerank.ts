import { jsonRequest } from '../json-request.ts'
import { readRanking } from '../ranking.ts'
import type { WireAdapter } from '../wire-adapter.ts'
import { unreadableAnswer } from '../wire-failure.ts'

/** Cohere recommends no more documents in one request. */
const maximumBatch = 1_000

/** `POST /v2/rerank`. Documents are cut by Cohere to `max_tokens_per_doc`, 4,096 by default. */
export function cohereRerank(root: string): NonNullable<WireAdapter['rerank']> {
  return {
    toRequest: ({ model, query, documents }) => jsonRequest(`${root}/v2/rerank`, { model: model.id, query, documents }),
    fromResponse(body) {
      const ranking = readRanking(body)
      if (!ranking) throw unreadableAnswer('a ranking', true)
      return ranking
    },
    maximumBatch,
  }
}
