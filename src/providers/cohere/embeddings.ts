import type { EmbeddingAnswer } from '../port.ts'
import type { WireAdapter } from '../wire-adapter.ts'
import { unreadableAnswer } from '../wire-failure.ts'
import { asCount, asObject, decodeJsonObject } from '../wire-json.ts'

const inputTypes = { document: 'search_document', query: 'search_query' } as const
/** Cohere's own limit of texts in one call. */
const maximumBatch = 96

/** `POST /v2/embed`. */
export function cohereEmbeddings(root: string): NonNullable<WireAdapter['embeddings']> {
  return {
    toRequest({ model, texts, dimensions, purpose }) {
      const body = {
        model: model.id,
        texts,
        input_type: inputTypes[purpose],
        embedding_types: ['float'],
        ...(dimensions !== undefined && { output_dimension: dimensions }),
      }
      return {
        method: 'POST',
        url: `${root}/v2/embed`,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
        adjusted: [],
      }
    },
    fromResponse: fromEmbeddings,
    maximumBatch: () => maximumBatch,
  }
}

function fromEmbeddings(body: Uint8Array): EmbeddingAnswer {
  const answer = decodeJsonObject(body)
  const rows = asObject(answer?.embeddings).float
  const whole = Array.isArray(rows) && rows.length > 0 && rows.every((row) => Array.isArray(row) && row.length > 0)
  if (!whole) throw unreadableAnswer('an embedding', true)
  return {
    vectors: rows.map((row) => Float32Array.from(row as number[])),
    // The only count there is; embeddings have no preamble that it could leave out.
    promptTokens: asCount(asObject(asObject(answer?.meta).billed_units).input_tokens) ?? null,
  }
}
