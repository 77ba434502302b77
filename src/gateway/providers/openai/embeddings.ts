import { jsonRequest } from '../json-request.ts'
import { readVector } from '../embedding-vector.ts'
import type { EmbeddingAnswer, WireModel } from '../port.ts'
import type { WireAdapter } from '../wire-adapter.ts'
import { statedCostOnly } from '../stated-usage.ts'
import { unreadableAnswer } from '../wire-failure.ts'
import { asCount, asObject, asObjects, decodeJsonObject } from '../wire-json.ts'
import type { Flavour } from './flavours.ts'
import { errorInside } from './from-response.ts'
import { mapError } from './map-error.ts'
import type { RequestContext } from './to-request.ts'
import type { Redact } from '../redactor.ts'

export function createEmbeddings(
  { flavour, endpoint }: RequestContext,
  redact: Redact,
): NonNullable<WireAdapter['embeddings']> {
  return {
    toRequest(call) {
      const { dimensionsField } = flavour
      const body = {
        model: call.model.id,
        input: call.tokens ?? call.texts,
        ...(flavour.base64Embeddings && { encoding_format: 'base64' }),
        ...(call.dimensions !== undefined && dimensionsField !== null && { [dimensionsField]: call.dimensions }),
      }
      return jsonRequest(endpoint('embeddings', call.model.id), body)
    },
    fromResponse: (body) => fromEmbeddingList(body, flavour, redact),
    maximumBatch: (_model: WireModel) => flavour.embeddingBatch,
    // Hosts with the base64 form follow the whole of OpenAI's API.
    ...(flavour.base64Embeddings && { takesTokens: true as const }),
  }
}

/** Vectors in the order of the inputs, independent of the order on the wire. Numbers or base64. */
function fromEmbeddingList(body: Uint8Array, flavour: Flavour, redact: Redact): EmbeddingAnswer {
  const list = decodeJsonObject(body)
  const error = list && !Array.isArray(list.data) ? errorInside(list, undefined) : null
  if (error) throw mapError({ status: 200, headers: {}, body: error }, redact)
  if (!list || !Array.isArray(list.data)) throw unreadableAnswer('embeddings', true)
  const entries = asObjects(list.data)
  if (entries.every((entry) => asCount(entry.index) !== undefined)) {
    entries.sort((left, right) => Number(left.index) - Number(right.index))
  }
  const usage = asObject(list.usage)
  return {
    vectors: entries.map((entry) => readVector(entry.embedding)),
    promptTokens: asCount(usage.prompt_tokens) ?? asCount(usage.total_tokens) ?? null,
    ...statedCostOnly(usage, flavour),
  }
}
