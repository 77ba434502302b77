import { jsonRequest } from '../json-request.ts'
import { readVectors } from '../embedding-vector.ts'
import { resolveTraits } from '../model-traits/index.ts'
import type { EmbeddingAnswer, WireModel } from '../port.ts'
import type { WireAdapter } from '../wire-adapter.ts'
import { asCount, asObject, asObjects, decodeJsonObject, type JsonObject } from '../wire-json.ts'
import { geminiModelPath, vertexModelPath } from './addresses.ts'

type Embeddings = NonNullable<WireAdapter['embeddings']>
const taskTypes = { document: 'RETRIEVAL_DOCUMENT', query: 'RETRIEVAL_QUERY' } as const
/** Upper bound on the requests of one batchEmbedContents. */
const maximumGeminiBatch = 100
/** Vertex accepts up to 250 texts and 20,000 tokens; 20 texts stay below both for chunks of 1,000 tokens. */
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
      return readContent(decodeJsonObject(body) ?? {})
    },
    maximumBatch: () => maximumGeminiBatch,
  }
}

/**
 * Vertex AI: `predict` of the text embedding models and gemini-embedding-001, `embedContent` of the newer Gemini embedding models
 * (google.cloud.aiplatform.v1.PredictionService.EmbedContent, 2026-11).
 */
export function vertexEmbeddings(root: string): Embeddings {
  return {
    toRequest({ model, texts, dimensions, purpose }) {
      if (traitsOf(model).embeddingForm === 'content') {
        return jsonRequest(`${root}/${vertexModelPath(model.id)}:embedContent`, {
          content: { parts: texts.map((text) => ({ text })) },
          taskType: taskTypes[purpose],
          ...(dimensions !== undefined && { outputDimensionality: dimensions }),
        })
      }
      return jsonRequest(`${root}/${vertexModelPath(model.id)}:predict`, {
        instances: texts.map((content) => ({ content, task_type: taskTypes[purpose] })),
        ...(dimensions !== undefined && { parameters: { outputDimensionality: dimensions } }),
      })
    },
    fromResponse(body): EmbeddingAnswer {
      const answer = decodeJsonObject(body)
      if (answer?.embedding !== undefined) return readContent(answer)
      const counts = asObjects(answer?.predictions).map((prediction) =>
        asCount(asObject(asObject(prediction.embeddings).statistics).token_count),
      )
      const counted = counts.filter((count) => count !== undefined)
      return {
        vectors: readVectors(asObjects(answer?.predictions).map((member) => asObject(member.embeddings).values)),
        promptTokens: counted.length < counts.length ? null : counted.reduce((sum, count) => sum + count, 0),
      }
    },
    maximumBatch: (model) => traitsOf(model).embeddingBatch ?? maximumVertexBatch,
  }
}

const traitsOf = (model: WireModel) => resolveTraits('vertex', model)

/** An answer of `batchEmbedContents`, or of `embedContent`, which accepts one text. */
function readContent(answer: JsonObject): EmbeddingAnswer {
  const members = asObjects(answer.embedding ? [answer.embedding] : answer.embeddings)
  return {
    vectors: readVectors(members.map((member) => member.values)),
    promptTokens: asCount(asObject(answer.usageMetadata).promptTokenCount) ?? null,
  }
}
