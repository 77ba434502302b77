import { readVectors } from '../embedding-vector.ts'
import type { EmbeddingAnswer, WireModel } from '../port.ts'
import type { WireAdapter, WireRequest } from '../wire-adapter.ts'
import { asCount, asObject, asObjects, decodeJsonObject } from '../wire-json.ts'
import { geminiModelPath, vertexModelPath } from './addresses.ts'

type Embeddings = NonNullable<WireAdapter['embeddings']>
const taskTypes = { document: 'RETRIEVAL_DOCUMENT', query: 'RETRIEVAL_QUERY' } as const
/** Most requests in one batchEmbedContents. */
const maximumGeminiBatch = 100
/** Vertex takes up to 250 texts and 20,000 tokens; 20 texts stay below both for chunks of 1,000 tokens. */
const maximumVertexBatch = 20

/** `batchEmbedContents` of the Gemini API. */
export function geminiEmbeddings(root: string): Embeddings {
  return {
    toRequest({ model, texts, dimensions, purpose }) {
      const path = geminiModelPath(model.id)
      const requests = texts.map((text) => ({
        model: path,
        content: { parts: [{ text }] },
        taskType: taskTypes[purpose],
        ...(dimensions !== undefined && { outputDimensionality: dimensions }),
      }))
      return jsonRequest(`${root}/${path}:batchEmbedContents`, { requests })
    },
    fromResponse(body) {
      const answer = decodeJsonObject(body)
      return {
        vectors: readVectors(
          // `embedContent`, which takes one text, answers with one.
          asObjects(answer?.embedding ? [answer.embedding] : answer?.embeddings).map((member) => member.values),
        ),
        promptTokens: asCount(asObject(answer?.usageMetadata).promptTokenCount) ?? null,
      }
    },
    maximumBatch: () => maximumGeminiBatch,
  }
}

/** `predict` of a text embedding model on Vertex AI. */
export function vertexEmbeddings(root: string): Embeddings {
  return {
    toRequest({ model, texts, dimensions, purpose }) {
      return jsonRequest(`${root}/${vertexModelPath(model.id)}:predict`, {
        instances: texts.map((content) => ({ content, task_type: taskTypes[purpose] })),
        ...(dimensions !== undefined && { parameters: { outputDimensionality: dimensions } }),
      })
    },
    fromResponse(body): EmbeddingAnswer {
      const answer = decodeJsonObject(body)
      const counts = asObjects(answer?.predictions).map((prediction) =>
        asCount(asObject(asObject(prediction.embeddings).statistics).token_count),
      )
      const counted = counts.filter((count) => count !== undefined)
      return {
        vectors: readVectors(asObjects(answer?.predictions).map((member) => asObject(member.embeddings).values)),
        promptTokens: counted.length < counts.length ? null : counted.reduce((sum, count) => sum + count, 0),
      }
    },
    // gemini-embedding models take one text per call there.
    maximumBatch: (model: WireModel) => (model.baseModel.startsWith('gemini-embedding') ? 1 : maximumVertexBatch),
  }
}

function jsonRequest(url: string, body: unknown): WireRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body,
    adjusted: [],
  }
}
