import { readVectors } from '../embedding-vector.ts'
import type { WireAdapter } from '../wire-adapter.ts'
import { asCount, decodeJsonObject } from '../wire-json.ts'

/** Inputs of one request; Ollama embeds them sequentially anyway. */
const maximumBatch = 32

/** `POST /api/embed`. */
export function createOllamaEmbeddings(root: string): NonNullable<WireAdapter['embeddings']> {
  return {
    toRequest: (call) => ({
      method: 'POST',
      url: `${root}/api/embed`,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: {
        model: call.model.id,
        input: call.texts,
        ...(call.dimensions !== undefined && { dimensions: call.dimensions }),
      },
      adjusted: [],
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
