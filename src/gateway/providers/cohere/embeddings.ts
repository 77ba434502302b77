import { jsonRequest } from '../json-request.ts'
import { readVectors, rowsByKind } from '../embedding-vector.ts'
import type { EmbeddingAnswer } from '../port.ts'
import type { EmbedCall, WireAdapter } from '../wire-adapter.ts'
import { asCount, asObject, decodeJsonObject } from '../wire-json.ts'

/** Cohere's limit of texts in one call. */
const maximumBatch = 96

const inputTypes = { document: 'search_document', query: 'search_query' } as const

/** The body for a Cohere model, also on Bedrock. */
export function toCohereBody({ texts, dimensions, purpose }: Omit<EmbedCall, 'model'>) {
  return {
    texts,
    input_type: inputTypes[purpose],
    embedding_types: ['float'],
    ...(dimensions !== undefined && { output_dimension: dimensions }),
  }
}

/** `POST /v2/embed`. */
export function cohereEmbeddings(root: string): NonNullable<WireAdapter['embeddings']> {
  return {
    toRequest: ({ model, ...call }) => jsonRequest(`${root}/v2/embed`, { model: model.id, ...toCohereBody(call) }),
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
