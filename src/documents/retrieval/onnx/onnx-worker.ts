import { parentPort, workerData } from 'node:worker_threads'
import type { InferenceSession, Tensor } from 'onnxruntime-common'
import { normalise } from '../embedders/hashing-embedder.ts'
import { createPairEncoder, type TokenSequence } from './encode-pair.ts'
import type { OnnxReply, OnnxRequest, OnnxTask, OnnxWork, OnnxWorkerSettings } from './model-thread.ts'
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
    const run = createTask({ runtime, session, tokenizer, padId })
    const dimensions = (await run(settings.task.kind === 'embed' ? { texts: ['a'] } : { query: 'a', documents: ['a'] }))
      .length
    port.on('message', (request: OnnxRequest) => void serve(run, request))
    reply({ type: 'ready', dimensions })
  } catch (error) {
    reply({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
}

type RunTask = (work: OnnxWork) => Promise<Float32Array>

function createTask(model: Model): RunTask {
  const { task, maximumTokens } = settings
  if (task.kind === 'embed') return (work) => embed(model, task, textsOf(work))
  const encodePairs = createPairEncoder(model.tokenizer, maximumTokens)
  return async (work) => {
    if (!('query' in work)) throw new Error('a reranker compares documents with a query')
    return score(await model.session.run(inputsOf(model, encodePairs(work.query, work.documents))))
  }
}

function textsOf(work: OnnxWork): string[] {
  if (!('texts' in work)) throw new Error('an embedding model compares no documents')
  return work.texts
}

async function serve(run: RunTask, { id, work }: OnnxRequest): Promise<void> {
  try {
    const values = await run(work)
    reply({ type: 'values', id, values }, [values.buffer as ArrayBuffer])
  } catch (error) {
    reply({ type: 'error', id, message: error instanceof Error ? error.message : String(error) })
  }
}

function reply(message: OnnxReply, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}

/** All vectors in a row. */
async function embed(
  model: Model,
  { pooling, dimensions }: OnnxTask & { kind: 'embed' },
  texts: string[],
): Promise<Float32Array> {
  const sequences = texts.map((text) => {
    const ids = [...model.tokenizer.encode(text).ids].slice(0, settings.maximumTokens)
    return { ids, types: ids.map(() => 0) }
  })
  const outputs = await model.session.run(inputsOf(model, sequences))
  // Some exports pool in the model; the name of their output shows it.
  const pooled = outputs['sentence_embedding']
  const lengths = sequences.map(({ ids }) => ids.length)
  const vectors = pooled ? rowsOf(pooled) : pool(tokenVectorsOf(outputs), lengths, pooling)
  const kept = vectors.map((vector) => normalise(dimensions === null ? vector : vector.slice(0, dimensions)))
  const values = new Float32Array(kept.length * (kept[0]?.length ?? 0))
  for (const [index, vector] of kept.entries()) values.set(vector, index * vector.length)
  return values
}

/** One logit for each pair. A model with two classes has the relevant one second. */
function score(outputs: InferenceSession.OnnxValueMapType): Float32Array {
  const logits = outputs['logits']
  if (!logits) throw new Error(`the model has no \`logits\` among its outputs: ${Object.keys(outputs).join(', ')}`)
  const { dims, data } = logits as Tensor
  const [rows = 0, classes = 1, ...further] = dims
  if (further.length > 0 || classes > 2)
    throw new Error(`the model is no cross-encoder: its logits have the shape ${dims.join(' × ')}`)
  const values = numbersOf(data)
  if (classes === 1) return values.slice()
  return Float32Array.from({ length: rows }, (_, row) => values[2 * row + 1]! - values[2 * row]!)
}

/** One row per text, padded at its end to the longest; the mask hides the padding from the model. */
function inputsOf({ runtime, session, padId }: Model, sequences: TokenSequence[]): Record<string, Tensor> {
  const width = Math.max(1, ...sequences.map(({ ids }) => ids.length))
  const tensorOf = (valueAt: (sequence: TokenSequence, position: number) => number) => {
    const values = new BigInt64Array(sequences.length * width)
    for (const [row, sequence] of sequences.entries()) {
      for (let position = 0; position < width; position++)
        values[row * width + position] = BigInt(valueAt(sequence, position))
    }
    return new runtime.Tensor('int64', values, [sequences.length, width])
  }
  const known: Record<string, () => Tensor> = {
    input_ids: () => tensorOf(({ ids }, position) => ids[position] ?? padId),
    attention_mask: () => tensorOf(({ ids }, position) => (position < ids.length ? 1 : 0)),
    token_type_ids: () => tensorOf(({ types }, position) => types[position] ?? 0),
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

function pool(
  tokenVectors: Tensor,
  lengths: number[],
  pooling: (OnnxTask & { kind: 'embed' })['pooling'],
): Float32Array[] {
  const [, positions, width] = tokenVectors.dims as [number, number, number]
  const values = numbersOf(tokenVectors.data)
  return lengths.map((length, text) => {
    const last = Math.max(0, length - 1)
    const [from, to] = pooling === 'mean' ? [0, last] : pooling === 'cls' ? [0, 0] : [last, last]
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
