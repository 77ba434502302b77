import { readVectors, rowsByKind } from '../embedding-vector.ts'
import { type ModelTraits, resolveTraits } from '../model-traits/index.ts'
import type { EmbeddingAnswer, WireModel } from '../port.ts'
import type { WireAdapter } from '../wire-adapter.ts'
import { asCount, asObject, decodeJsonObject, type JsonObject } from '../wire-json.ts'

const inputTypes = { document: 'search_document', query: 'search_query' } as const

/** InvokeModel of the Titan and Cohere embedding models; each has a separate body. */
export function bedrockEmbeddings(root: string): NonNullable<WireAdapter['embeddings']> {
  return {
    toRequest({ model, texts, dimensions, purpose }) {
      const { embeddingForm } = traitsOf(model)
      const body =
        embeddingForm === 'texts'
          ? toCohereBody(texts, dimensions, purpose)
          : toTitanBody(embeddingForm, texts[0] ?? '', dimensions)
      return {
        method: 'POST',
        url: `${root}/model/${encodeURIComponent(model.id)}/invoke`,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body,
        adjusted: [],
      }
    },
    fromResponse: fromEmbeddings,
    maximumBatch: (model) => traitsOf(model).embeddingBatch ?? 1,
  }
}

/** If the base model is unknown, the traits of the id on the wire. */
function traitsOf(model: WireModel): ModelTraits {
  const traits = resolveTraits('bedrock', model)
  return traits.embeddingForm ? traits : resolveTraits('bedrock', { baseModel: model.id, traits: model.traits })
}

/** The first Titan accepts only the text. */
function toTitanBody(
  form: ModelTraits['embeddingForm'],
  inputText: string,
  dimensions: number | undefined,
): JsonObject {
  if (form === 'text_only') return { inputText }
  return { inputText, normalize: true, ...(dimensions !== undefined && { dimensions }) }
}

function toCohereBody(texts: string[], dimensions: number | undefined, purpose: 'document' | 'query'): JsonObject {
  return {
    texts,
    input_type: inputTypes[purpose],
    embedding_types: ['float'],
    ...(dimensions !== undefined && { output_dimension: dimensions }),
  }
}

/** The second Titan, if types were requested: one array per kind. */
function oneOfKind({ float, int8 }: JsonObject): unknown {
  const row = float ?? int8
  return row === undefined ? undefined : [row]
}

/** Titan: one `embedding`. Cohere: arrays in `embeddings`, or in `embeddings.float` if types were requested. */
function fromEmbeddings(body: Uint8Array): EmbeddingAnswer {
  const answer = decodeJsonObject(body) ?? {}
  const rows = Array.isArray(answer.embedding)
    ? [answer.embedding]
    : Array.isArray(answer.embeddings)
      ? answer.embeddings
      : (rowsByKind(asObject(answer.embeddings)) ?? oneOfKind(asObject(answer.embeddingsByType)))
  return {
    vectors: readVectors(rows),
    promptTokens: asCount(answer.inputTextTokenCount) ?? null,
  }
}
