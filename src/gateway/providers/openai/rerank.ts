import { jsonRequest } from '../json-request.ts'
import { readRanking } from '../ranking.ts'
import type { Redact } from '../redactor.ts'
import type { RerankCall, WireAdapter } from '../wire-adapter.ts'
import { statedCostOnly } from '../stated-usage.ts'
import { unreadableAnswer } from '../wire-failure.ts'
import { asObject, decodeJsonObject } from '../wire-json.ts'
import type { Flavour } from './flavours.ts'
import { errorInside } from './from-response.ts'
import { mapError } from './map-error.ts'
import type { RequestContext } from './to-request.ts'

/** Rerank endpoints of hosts in the compatible family; null: the host has none. Documents that are too long are cut by the host. */
export function createRerank({ flavour, endpoint }: RequestContext, redact: Redact): WireAdapter['rerank'] | null {
  const { rerank } = flavour
  if (rerank === null) return null
  return {
    toRequest(call) {
      const url = new URL(endpoint('rerank', call.model.id))
      // Text Embeddings Inference has its compatible routes below /v1 and this one next to them.
      if (rerank.format === 'tei') url.pathname = url.pathname.replace(/\/v1\/rerank$/, '/rerank')
      return jsonRequest(url.href, bodies[rerank.format](call))
    },
    fromResponse(body) {
      const ranking = readRanking(body)
      const answer = decodeJsonObject(body)
      if (ranking) return { ...ranking, ...statedCostOnly(asObject(answer?.usage), flavour) }
      const error = answer && errorInside(answer, undefined)
      throw error ? mapError({ status: 200, headers: {}, body: error }, redact) : unreadableAnswer('a ranking', true)
    },
    maximumBatch: rerank.maximumBatch,
  }
}

const bodies: Record<NonNullable<Flavour['rerank']>['format'], (call: RerankCall) => object> = {
  jina: ({ model, query, documents }) => ({ model: model.id, query, documents, return_documents: false }),
  voyage: ({ model, query, documents }) => ({
    model: model.id,
    query,
    documents,
    return_documents: false,
    truncation: true,
  }),
  // The server has one model.
  tei: ({ query, documents }) => ({ query, texts: documents, truncate: true, return_text: false }),
}
