import { setImmediate as nextTurn } from 'node:timers/promises'
import { endianness } from 'node:os'

/** Numbers that are written in one turn of the event loop, about 5 ms. */
const numbersPerTurn = 20_000

/** The JSON of `embeddingListSchema`. Yields to other requests between vectors. */
export async function renderEmbeddings(
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
