import { readVectors, rowsByKind } from '../embedding-vector.ts'
import type { EmbeddingAnswer } from '../port.ts'
import type { WireAdapter } from '../wire-adapter.ts'
import { asCount, asObject, decodeJsonObject } from '../wire-json.ts'

const inputTypes = { document: 'search_document', query: 'search_query' } as const
/** Cohere's limit of texts in one call. */
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
        body,
        adjusted: [],
      }
    },
    fromResponse: fromEmbeddings,
    maximumBatch: () => maximumBatch,
  }
}

function fromEmbeddings(body: Uint8Array): EmbeddingAnswer {
  const answer = decodeJsonObject(body)
  // The first version of the API sends the arrays themselves.
  const rows = Array.isArray(answer?.embeddings) ? answer.embeddings : rowsByKind(asObject(answer?.embeddings))
  return {
    vectors: readVectors(rows),
    // The only count; embeddings have no preamble that it could exclude.
    promptTokens: asCount(asObject(asObject(answer?.meta).billed_units).input_tokens) ?? null,
  }
}
