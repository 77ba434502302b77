import { jsonRequest } from '../json-request.ts'
import { readVectors } from '../embedding-vector.ts'
import type { WireAdapter } from '../wire-adapter.ts'
import { asCount, decodeJsonObject } from '../wire-json.ts'

/** Inputs of one request; Ollama embeds them sequentially anyway. */
const maximumBatch = 32

/** `POST /api/embed`. */
export function createOllamaEmbeddings(root: string): NonNullable<WireAdapter['embeddings']> {
  return {
    toRequest: ({ model, texts, dimensions }) =>
      jsonRequest(`${root}/api/embed`, {
        model: model.id,
        input: texts,
        ...(dimensions !== undefined && { dimensions }),
      }),
    fromResponse(body) {
      const answer = decodeJsonObject(body)
      // An older endpoint returns one vector.
      const rows = answer?.embedding === undefined ? answer?.embeddings : [answer.embedding]
      return { vectors: readVectors(rows), promptTokens: asCount(answer?.prompt_eval_count) ?? null }
    },
    maximumBatch: () => maximumBatch,
  }
}
