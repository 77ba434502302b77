import { parentPort, workerData } from 'node:worker_threads'
import {
  AutoModel,
  AutoTokenizer,
  env,
  type PreTrainedModel,
  type PreTrainedTokenizer,
  type Tensor,
} from '@huggingface/transformers'
import { normalise } from './hashing-embedder.ts'
import type { OnnxReply, OnnxRequest, OnnxWorkerSettings } from './onnx-messages.ts'

/** The thread of one local model: inference takes seconds and would hold up every request of the process. */

const settings = workerData as OnnxWorkerSettings
const port = parentPort!

await main()

async function main(): Promise<void> {
  env.allowRemoteModels = settings.allowDownload
  env.allowLocalModels = true
  if (settings.cacheFolder !== null) env.cacheDir = settings.cacheFolder
  try {
    const options = {
      local_files_only: !settings.allowDownload,
      ...(settings.cacheFolder === null ? {} : { cache_dir: settings.cacheFolder }),
    }
    const tokenizer = await AutoTokenizer.from_pretrained(settings.model, options)
    const model = await AutoModel.from_pretrained(settings.model, {
      ...options,
      device: 'cpu',
      ...(settings.dtype === undefined ? {} : { dtype: settings.dtype as 'fp32' }),
      session_options: { intraOpNumThreads: settings.threads, interOpNumThreads: 1 },
    })
    const [probe] = await embed(tokenizer, model, ['a'])
    port.on('message', (request: OnnxRequest) => void serve(tokenizer, model, request))
    reply({ type: 'ready', dimensions: probe!.length })
  } catch (error) {
    reply({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
}

async function serve(tokenizer: PreTrainedTokenizer, model: PreTrainedModel, request: OnnxRequest): Promise<void> {
  try {
    const vectors = await embed(tokenizer, model, request.texts)
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

async function embed(tokenizer: PreTrainedTokenizer, model: PreTrainedModel, texts: string[]): Promise<Float32Array[]> {
  const inputs = tokenizer(texts, { padding: true, truncation: true, max_length: settings.maximumTokens })
  const outputs = (await model(inputs)) as Record<string, Tensor>
  // Some exports pool by themselves and say so by the name of their output.
  const pooled = outputs['sentence_embedding']
  const vectors = pooled ? rowsOf(pooled) : pool(tokenVectorsOf(outputs), inputs.attention_mask as Tensor)
  return vectors.map((vector) =>
    normalise(settings.dimensions === null ? vector : vector.slice(0, settings.dimensions)),
  )
}

function tokenVectorsOf(outputs: Record<string, Tensor>): Tensor {
  const found = outputs['last_hidden_state'] ?? outputs['token_embeddings'] ?? outputs['logits']
  if (!found) throw new Error(`the model has no token vectors among its outputs: ${Object.keys(outputs).join(', ')}`)
  return found
}

function rowsOf(tensor: Tensor): Float32Array[] {
  const [rows, width] = tensor.dims as [number, number]
  const values = tensor.data as Float32Array
  return Array.from({ length: rows }, (_, row) => values.slice(row * width, (row + 1) * width))
}

function pool(tokenVectors: Tensor, mask: Tensor): Float32Array[] {
  const [texts, positions, width] = tokenVectors.dims as [number, number, number]
  const values = tokenVectors.data as Float32Array
  const present = mask.data as BigInt64Array
  return Array.from({ length: texts }, (_, text) => {
    const real = Array.from({ length: positions }, (__, position) => position).filter(
      (position) => present[text * positions + position] !== 0n,
    )
    const chosen = settings.pooling === 'mean' ? real : [(settings.pooling === 'cls' ? real[0] : real.at(-1)) ?? 0]
    const vector = new Float32Array(width)
    for (const position of chosen) {
      const start = (text * positions + position) * width
      for (let index = 0; index < width; index++) vector[index]! += values[start + index]! / chosen.length
    }
    return vector
  })
}
