import { setImmediate as nextTurn } from 'node:timers/promises'
import { endianness } from 'node:os'
import { errorResponses } from '../../../contract/errors.ts'
import { embeddingListSchema, embeddingRequestSchema } from '../../../contract/gateway-v2-embeddings.ts'
import { describeRoutes, type Routes } from '../../../platform/http/index.ts'
import type { Embeddings } from '../../gateway/index.ts'
import { meteredRoute } from '../metered.routes.ts'
import { embeddingBody, type ReadEmbeddings } from './embedding-body.ts'

/** `POST /v2/gateway/embeddings`: the compatible API's embeddings of texts and tokens. */
export function embeddingRoutes({ embeddings }: { embeddings: Embeddings }): Routes {
  const route = meteredRoute<ReadEmbeddings>(embeddingBody, async (call, { format, purpose, tokens, ...read }) => {
    const { vectors, promptTokens, receipt, rate } = await embeddings.embed({
      ...call,
      model: read.model,
      texts: read.texts,
      ...(tokens && { tokens }),
      dimensions: read.dimensions,
      purpose,
    })
    const isOther = read.dimensions !== undefined && vectors[0] !== undefined && vectors[0].length !== read.dimensions
    const json = await renderEmbeddings(vectors, { model: receipt.model, promptTokens, format })
    return { json, receipt, rate, adjusted: isOther ? ['dimensions'] : [] }
  })
  const described = describeRoutes('organisation', 'Gateway, version 2')
  return (app) => {
    app.post(
      '/v2/gateway/embeddings',
      described('createEmbeddings', 'Create embeddings', {
        config: route.config,
        body: embeddingRequestSchema,
        response: { 200: embeddingListSchema, ...errorResponses(400, 401, 402, 403, 404, 429, 502, 503, 504) },
        description: 'Of texts, or of tokens if the provider takes them.',
      }),
      route.handler,
    )
  }
}

/** Numbers that are written in one turn of the event loop, about 5 ms. */
const numbersPerTurn = 20_000

/** The JSON of `embeddingListSchema`. Yields to other requests between vectors. */
async function renderEmbeddings(
  vectors: readonly Float32Array[],
  { model, promptTokens, format }: { model: string; promptTokens: number; format: 'float' | 'base64' },
): Promise<string> {
  const entries: string[] = []
  let numbers = 0
  for (const [index, vector] of vectors.entries()) {
    const embedding = format === 'base64' ? JSON.stringify(toBase64(vector)) : `[${vector.join(',')}]`
    entries.push(`{"object":"embedding","index":${index},"embedding":${embedding}}`)
    numbers += vector.length
    if (numbers < numbersPerTurn) continue
    numbers = 0
    await nextTurn()
  }
  const usage = `{"prompt_tokens":${promptTokens},"total_tokens":${promptTokens}}`
  return `{"object":"list","data":[${entries.join(',')}],"model":${JSON.stringify(model)},"usage":${usage}}`
}

function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  return (endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32()).toString('base64')
}
