import { existsSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { createTimeSlices, raceSignal } from '../../kernel/index.ts'
import { countWithTokenizer } from '../../tokens/index.ts'
import type { Embedder } from './embedder.ts'
import { downloadModel } from './onnx-download.ts'
import type { OnnxReply, OnnxWorkerSettings } from './onnx-messages.ts'
import {
  assertFiles,
  digestOf,
  firstWeights,
  howToGet,
  type ModelSource,
  type OnnxEmbedderOptions,
  type ReadModel,
  readModel,
  sourceOf,
  weightsFile,
} from './onnx-model-files.ts'
import { assertOnnxRuntime } from './onnx-runtime.ts'

export type { OnnxEmbedderOptions } from './onnx-model-files.ts'

/** Texts of one run of the model, and their tokens with padding: about 300 MB of activations for a small model. */
const maximumBatchTexts = 16
const maximumBatchTokens = 8_192

/** A local sentence-embedding model in a separate thread. If it cannot be loaded, the error contains instructions. */
export async function createOnnxEmbedder(options: OnnxEmbedderOptions): Promise<Embedder> {
  assertOnnxRuntime()
  const source = sourceOf(options)
  const dtype = options.dtype ?? (source.folder === null ? 'q8' : firstWeights(source.folder)?.[0])
  const folder = source.folder ?? (await ensureCached(source, weightsFile(dtype!), options))
  assertFiles(folder, dtype)
  const model = await readModel(folder, source.name, options)
  const settings: OnnxWorkerSettings = {
    folder,
    weights: path.join(folder, weightsFile(dtype!)),
    threads: options.threads ?? Math.max(1, os.availableParallelism() - 1),
    dimensions: options.dimensions ?? null,
    ...model.limits,
  }
  const start = () => startWorker(settings, source.name)
  const first = await start()
  const digest = await digestOf(folder, dtype, model.family, first.dimensions)
  return assemble({
    ...model,
    folder,
    name: source.name,
    id: `onnx:${source.name}:${first.dimensions}:${digest}`,
    first,
    restart: start,
  })
}

/** The folder of a model of the hub, downloaded if it is not in the cache. */
async function ensureCached(
  { name, cacheFolder }: ModelSource,
  weights: string,
  { allowDownload = true, hubUrl }: OnnxEmbedderOptions,
): Promise<string> {
  const folder = path.join(cacheFolder!, name)
  if (['config.json', 'tokenizer.json', weights].every((file) => existsSync(path.join(folder, file)))) return folder
  try {
    if (!allowDownload) throw new Error('it has not been downloaded.')
    await downloadModel({ cacheFolder: cacheFolder!, modelId: name, weights, hubUrl })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`The embedding model ${name} could not be loaded: ${reason} ${howToGet(name)}`, { cause: error })
  }
  return folder
}

interface ReadyWorker {
  worker: Worker
  dimensions: number
}

async function startWorker(settings: OnnxWorkerSettings, name: string): Promise<ReadyWorker> {
  const worker = new Worker(new URL('./onnx-worker.ts', import.meta.url), {
    workerData: settings,
    name: 'embedding model',
  })
  const first = await new Promise<OnnxReply>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`the thread of the embedding model ended with code ${code}`)))
  })
  worker.removeAllListeners('exit')
  worker.removeAllListeners('error')
  if (first.type === 'ready') return { worker, dimensions: first.dimensions }
  await worker.terminate()
  const reason = first.type === 'failed' ? first.message : first.type
  throw new Error(`The embedding model ${name} could not be loaded: ${reason} ${howToGet(name)}`)
}

interface Parts extends ReadModel {
  id: string
  name: string
  folder: string
  first: ReadyWorker
  restart(): Promise<ReadyWorker>
}

function assemble({ id, name, folder, family, tokenizer, limits, first, restart }: Parts): Embedder {
  const { dimensions } = first
  const model = createModelThread(first.worker, async () => (await restart()).worker)
  const countTokens = countWithTokenizer(tokenizer)
  const prefixTokens = Math.max(countTokens(family.passagePrefix), countTokens(family.queryPrefix))
  return {
    id,
    label: `local model ${name} (${dimensions} dimensions)`,
    semantics: true,
    dimensions,
    // The prefix is part of the input but not of the text.
    maximumTokens: limits.maximumTokens - prefixTokens,
    countTokens,
    counter: { kind: 'tokenizer', folder },
    async embed({ texts, purpose, signal }) {
      const prefix = purpose === 'query' ? family.queryPrefix : family.passagePrefix
      const prefixed = texts.map((text) => prefix + text)
      const vectors = Array.from<Float32Array>({ length: texts.length })
      for (const batch of await batchesOf(prefixed, countTokens, limits.maximumTokens)) {
        const values = await model.run(
          batch.map((index) => prefixed[index]!),
          signal,
        )
        for (const [position, index] of batch.entries()) {
          vectors[index] = values.slice(position * dimensions, (position + 1) * dimensions)
        }
      }
      return vectors
    },
    close: () => model.close(),
  }
}

/** Sends one batch at a time, so that work of a client that has left never starts; replaces a thread that died. */
function createModelThread(first: Worker, restart: () => Promise<Worker>) {
  let worker: Worker | undefined
  let closed = false
  let nextId = 0
  let waiting: { id: number; resolve(values: Float32Array): void; reject(error: Error): void } | undefined
  let turn: Promise<unknown> = Promise.resolve()
  use(first)

  function use(fresh: Worker): Worker {
    worker = fresh
    fresh.unref()
    fresh.on('message', (reply: OnnxReply) => {
      if ((reply.type !== 'vectors' && reply.type !== 'error') || reply.id !== waiting?.id) return
      if (reply.type === 'vectors') waiting.resolve(reply.values)
      else waiting.reject(new Error(`the embedding model failed: ${reply.message}`))
    })
    const onEnd = (error: Error) => {
      if (worker === fresh) worker = undefined
      waiting?.reject(error)
    }
    fresh.on('error', onEnd)
    fresh.on('exit', (code) => onEnd(new Error(`the thread of the embedding model ended with code ${code}`)))
    return fresh
  }

  async function send(texts: string[]): Promise<Float32Array> {
    if (closed) throw new Error('the embedder is closed')
    const current = worker ?? use(await restart())
    // The thread keeps the process alive only while a reply is pending.
    current.ref()
    try {
      return await new Promise<Float32Array>((resolve, reject) => {
        waiting = { id: nextId++, resolve, reject }
        current.postMessage({ id: waiting.id, texts }, [])
      })
    } finally {
      waiting = undefined
      current.unref()
    }
  }

  return {
    /** The vectors of a batch in a row. */
    run(texts: string[], signal: AbortSignal): Promise<Float32Array> {
      const result = turn.then(() => {
        signal.throwIfAborted()
        return send(texts)
      })
      turn = result.catch(() => {})
      return raceSignal(result, signal)
    },
    async close(): Promise<void> {
      closed = true
      await worker?.terminate()
    },
  }
}

/** Indexes of the texts in batches of similar length, which need little padding. */
async function batchesOf(
  texts: readonly string[],
  countTokens: (text: string) => number,
  maximumTokens: number,
): Promise<number[][]> {
  const slice = createTimeSlices()
  const tokens: number[] = []
  for (const text of texts) {
    await slice()
    tokens.push(Math.min(maximumTokens, countTokens(text)))
  }
  const order = texts.map((_, index) => index).sort((left, right) => tokens[left]! - tokens[right]!)
  const batches: number[][] = []
  let batch: number[] = []
  for (const index of order) {
    // All are padded to the longest of a batch, which is its last one.
    if (batch.length === maximumBatchTexts || (batch.length + 1) * tokens[index]! > maximumBatchTokens) {
      if (batch.length > 0) batches.push(batch)
      batch = []
    }
    batch.push(index)
  }
  if (batch.length > 0) batches.push(batch)
  return batches
}
