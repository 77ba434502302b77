import { isObject } from '../../platform/kernel/index.ts'
import type { RerankAnswer } from './port.ts'
import { addStated } from './stated-usage.ts'
import type { WireRanking } from './wire-adapter.ts'
import { failure, unreadableAnswer } from './wire-failure.ts'
import { asCount, asObject, asObjects, parseJson } from './wire-json.ts'

/**
 * The ranking in an answer of a rerank endpoint: `results` (Cohere, Jina and most compatible hosts), `data` (Voyage), or the list itself
 * (Text Embeddings Inference). null: it is none of them. Sources: docs.cohere.com/reference/rerank, docs.voyageai.com/reference/reranker-api,
 * api.jina.ai/redoc, the OpenAPI document of huggingface/text-embeddings-inference 1.7, 2026-11.
 */
export function readRanking(body: Uint8Array): WireRanking | null {
  const answer = parseJson(new TextDecoder().decode(body))
  const fields = asObject(answer)
  const rows = Array.isArray(answer) ? answer : (fields.results ?? fields.data)
  if (!Array.isArray(rows) || rows.length === 0 || !rows.every(isObject)) return null
  const ranks = asObjects(rows).map(({ index, relevance_score: relevance, score = relevance }) => ({
    index: asCount(index) ?? -1,
    score: typeof score === 'number' ? score : Number.NaN,
  }))
  const usage = asObject(fields.usage)
  const meta = asObject(fields.meta)
  const billed = asObject(meta.billed_units)
  const units = asCount(billed.search_units) ?? 0
  return {
    ranks,
    promptTokens:
      asCount(usage.total_tokens) ??
      asCount(usage.prompt_tokens) ??
      asCount(asObject(meta.tokens).input_tokens) ??
      asCount(billed.input_tokens) ??
      null,
    searchUnits: units > 0 ? units : null,
  }
}

/** The scores in the order of the documents. Throws ProviderError unless every document has exactly one finite score. */
export function orderScores({ ranks }: WireRanking, documents: number): number[] {
  if (ranks.length !== documents) {
    throw failure('connection', `The provider sent ${ranks.length} scores for ${documents} documents.`, {
      afterFirstByte: true,
    })
  }
  const scores = Array.from<number>({ length: documents })
  const seen = new Set<number>()
  for (const { index, score } of ranks) {
    if (index < 0 || index >= documents || seen.has(index) || !Number.isFinite(score))
      throw unreadableAnswer('scores', true)
    seen.add(index)
    scores[index] = score
  }
  return scores
}

/** The totals of several requests; a total that one of them does not state is not known. */
export function addRanking(
  sum: RerankAnswer | null,
  { promptTokens, searchUnits, stated }: WireRanking,
  scores: number[],
): RerankAnswer {
  if (!sum) return { scores, promptTokens, searchUnits, ...(stated && { stated }) }
  return {
    scores: [...sum.scores, ...scores],
    promptTokens: sum.promptTokens === null || promptTokens === null ? null : sum.promptTokens + promptTokens,
    searchUnits: sum.searchUnits === null && searchUnits === null ? null : (sum.searchUnits ?? 0) + (searchUnits ?? 0),
    ...addStated(sum.stated, stated),
  }
}
