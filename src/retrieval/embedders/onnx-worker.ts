import { parentPort, workerData } from 'node:worker_threads'
import type { InferenceSession, Tensor } from 'onnxruntime-common'
import { normalise } from './hashing-embedder.ts'
import type { OnnxReply, OnnxRequest, OnnxWorkerSettings } from './onnx-messages.ts'
import { readTokenizer, type Tokenizer } from './onnx-model-files.ts'
import { loadOnnxRuntime, type OnnxRuntime } from './onnx-runtime.ts'

/** The thread of one local model: inference takes seconds and would block every request of the process. */

const settings = workerData as OnnxWorkerSettings
const port = parentPort!

interface Model {
  runtime: OnnxRuntime
  session: InferenceSession
  tokenizer: Tokenizer
  padId: number
}

await main()

async function main(): Promise<void> {
  try {
    const runtime = await loadOnnxRuntime()
    const { tokenizer, padId } = await readTokenizer(settings.folder)
    const session = await runtime.InferenceSession.create(settings.weights, {
      executionProviders: ['cpu'],
      intraOpNumThreads: settings.threads,
      interOpNumThreads: 1,
    })
    const model: Model = { runtime, session, tokenizer, padId }
    const [probe] = await embed(model, ['a'])
    port.on('message', (request: OnnxRequest) => void serve(model, request))
    reply({ type: 'ready', dimensions: probe!.length })
  } catch (error) {
    reply({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
}

async function serve(model: Model, request: OnnxRequest): Promise<void> {
  try {
    const vectors = await embed(model, request.texts)
    const values = new Float32Array(vectors.length * (vectors[0]?.length ?? 0))
    for (const [index, vector] of vectors.entries()) values.set(vector, index * vector.length)
    reply({ type: 'vectors', id: request.id, values }, [values.buffer])
  } catch (error) {
    reply({ type: 'error', id: request.id, message: error instanceof Error ? error.message : String(error) })
  }
}

function reply(message: OnnxReply, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}

async function embed(model: Model, texts: string[]): Promise<Float32Array[]> {
  const sequences = texts.map((text) => model.tokenizer.encode(text).ids.slice(0, settings.maximumTokens))
  const outputs = await model.session.run(inputsOf(model, sequences))
  // Some exports pool in the model; the name of their output shows it.
  const pooled = outputs['sentence_embedding']
  const lengths = sequences.map((ids) => ids.length)
  const vectors = pooled ? rowsOf(pooled) : pool(tokenVectorsOf(outputs), lengths)
  return vectors.map((vector) =>
    normalise(settings.dimensions === null ? vector : vector.slice(0, settings.dimensions)),
  )
}

/** One row per text, padded at its end to the longest; the mask hides the padding from the model. */
function inputsOf({ runtime, session, padId }: Model, sequences: number[][]): Record<string, Tensor> {
  const width = Math.max(1, ...sequences.map((ids) => ids.length))
  const tensorOf = (valueAt: (ids: number[], position: number) => number) => {
    const values = new BigInt64Array(sequences.length * width)
    for (const [row, ids] of sequences.entries()) {
      for (let position = 0; position < width; position++)
        values[row * width + position] = BigInt(valueAt(ids, position))
    }
    return new runtime.Tensor('int64', values, [sequences.length, width])
  }
  const known: Record<string, () => Tensor> = {
    input_ids: () => tensorOf((ids, position) => ids[position] ?? padId),
    attention_mask: () => tensorOf((ids, position) => (position < ids.length ? 1 : 0)),
    token_type_ids: () => tensorOf(() => 0),
    position_ids: () => tensorOf((_, position) => position),
  }
  return Object.fromEntries(
    session.inputNames.map((name) => {
      const make = known[name]
      if (!make) throw new Error(`the model has an input that Portico does not support: ${name}`)
      return [name, make()]
    }),
  )
}

function tokenVectorsOf(outputs: InferenceSession.OnnxValueMapType): Tensor {
  const found = outputs['last_hidden_state'] ?? outputs['token_embeddings'] ?? outputs['logits']
  if (!found) throw new Error(`the model has no token vectors among its outputs: ${Object.keys(outputs).join(', ')}`)
  return found as Tensor
}

function rowsOf(tensor: { dims: readonly number[]; data: unknown }): Float32Array[] {
  const [rows, width] = tensor.dims as [number, number]
  const values = numbersOf(tensor.data)
  return Array.from({ length: rows }, (_, row) => values.slice(row * width, (row + 1) * width))
}

function pool(tokenVectors: Tensor, lengths: number[]): Float32Array[] {
  const [, positions, width] = tokenVectors.dims as [number, number, number]
  const values = numbersOf(tokenVectors.data)
  return lengths.map((length, text) => {
    const last = Math.max(0, length - 1)
    const [from, to] = settings.pooling === 'mean' ? [0, last] : settings.pooling === 'cls' ? [0, 0] : [last, last]
    const vector = new Float32Array(width)
    for (let position = from; position <= to; position++) {
      const start = (text * positions + position) * width
      for (let index = 0; index < width; index++) vector[index]! += values[start + index]! / (to - from + 1)
    }
    return vector
  })
}

function numbersOf(data: unknown): Float32Array {
  if (data instanceof Float32Array) return data
  if (data instanceof Float16Array) return Float32Array.from(data)
  throw new Error('the model gives neither 32-bit nor 16-bit floating-point vectors')
}
