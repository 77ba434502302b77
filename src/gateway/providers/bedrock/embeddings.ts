import { jsonRequest } from '../json-request.ts'
import { toCohereBody } from '../cohere/embeddings.ts'
import { readVectors, rowsByKind } from '../embedding-vector.ts'
import { type ModelTraits, resolveTraits } from '../model-traits/index.ts'
import type { EmbeddingAnswer, WireModel } from '../port.ts'
import type { EmbedCall, WireAdapter } from '../wire-adapter.ts'
import { asCount, asObject, decodeJsonObject, type JsonObject } from '../wire-json.ts'

/** InvokeModel of the Titan and Cohere embedding models; each has a separate body. */
export function bedrockEmbeddings(root: string): NonNullable<WireAdapter['embeddings']> {
  return {
    toRequest({ model, ...call }) {
      const { embeddingForm } = traitsOf(model)
      const body = embeddingForm === 'texts' ? toCohereBody(call) : toTitanBody(embeddingForm, call)
      return jsonRequest(`${root}/model/${encodeURIComponent(model.id)}/invoke`, body)
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
function toTitanBody(form: ModelTraits['embeddingForm'], call: Omit<EmbedCall, 'model'>): JsonObject {
  const { texts, dimensions } = call
  const inputText = texts[0] ?? ''
  if (form === 'text_only') return { inputText }
  return { inputText, normalize: true, ...(dimensions !== undefined && { dimensions }) }
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
  return { vectors: readVectors(rows), promptTokens: asCount(answer.inputTextTokenCount) ?? null }
}
