import { Worker } from 'node:worker_threads'
import { createFairTurns, raceSignal } from '../../../platform/kernel/index.ts'
import { tooManySearches } from '../engine.ts'
import { howToGet } from './onnx-model-files.ts'
import type { ModelUse } from './onnx-runtime.ts'

/** Messages between the main thread and the model's thread. */

export interface OnnxWorkerSettings {
  /** The absolute folder of the model. */
  folder: string
  /** The absolute path of the weights in it. */
  weights: string
  threads: number
  /** From the model's own files; texts are cut to it. */
  maximumTokens: number
  task: OnnxTask
}

export type OnnxTask =
  | {
      kind: 'embed'
      pooling: 'mean' | 'cls' | 'last'
      /** Keep this many first dimensions (Matryoshka models); null: all. */
      dimensions: number | null
    }
  | { kind: 'rerank' }

/** One batch: texts, or a query with documents. */
export type OnnxWork = { texts: string[] } | { query: string; documents: string[] }

export interface OnnxRequest {
  id: number
  work: OnnxWork
}

export type OnnxReply =
  | { type: 'ready'; dimensions: number }
  | { type: 'failed'; message: string }
  /** All vectors of the request in a row, or one score for each document. */
  | { type: 'values'; id: number; values: Float32Array }
  | { type: 'error'; id: number; message: string }

/** Batches that wait; one search waits with one. One organisation alone may have half of them. */
const maximumWaiting = 128

interface ReadyWorker {
  worker: Worker
  dimensions: number
}

/** The thread of one local model. */
export interface ModelThread {
  /** Values that the model makes for one text or pair. */
  readonly dimensions: number
  /** The values of one batch in a row. `tenant`: the organisation whose turn it uses. */
  run(work: OnnxWork, tenant: string, signal: AbortSignal): Promise<Float32Array>
  close(): Promise<void>
}

/** Starts the thread and waits until its model is loaded. The error contains instructions. */
export async function openModelThread(
  settings: OnnxWorkerSettings,
  { name, use }: { name: string; use: ModelUse },
): Promise<ModelThread> {
  const start = () => startWorker(settings, name, use)
  const first = await start()
  return { dimensions: first.dimensions, ...createModelThread(first.worker, use, async () => (await start()).worker) }
}

async function startWorker(settings: OnnxWorkerSettings, name: string, use: ModelUse): Promise<ReadyWorker> {
  const worker = new Worker(new URL('./onnx-worker.ts', import.meta.url), { workerData: settings, name: use.noun })
  const first = await new Promise<OnnxReply>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`the thread of the ${use.noun} ended with code ${code}`)))
  })
  worker.removeAllListeners('exit')
  worker.removeAllListeners('error')
  if (first.type === 'ready') return { worker, dimensions: first.dimensions }
  await worker.terminate()
  const reason = first.type === 'failed' ? first.message : first.type
  throw new Error(`The ${use.noun} ${name} could not be loaded: ${reason} ${howToGet(name, use)}`)
}

/** Sends one batch at a time, so that work of a client that has left never starts; replaces a thread that died. */
function createModelThread(first: Worker, { noun }: ModelUse, restart: () => Promise<Worker>) {
  let worker: Worker | undefined
  let closed = false
  let nextId = 0
  let waiting: { id: number; resolve(values: Float32Array): void; reject(error: Error): void } | undefined
  const turns = createFairTurns({ maximumWaiting, tooMany: tooManySearches })
  watch(first)

  function watch(fresh: Worker): Worker {
    worker = fresh
    fresh.unref()
    fresh.on('message', (reply: OnnxReply) => {
      if ((reply.type !== 'values' && reply.type !== 'error') || reply.id !== waiting?.id) return
      if (reply.type === 'values') waiting.resolve(reply.values)
      else waiting.reject(new Error(`the ${noun} failed: ${reply.message}`))
    })
    const onEnd = (error: Error) => {
      if (worker === fresh) worker = undefined
      waiting?.reject(error)
    }
    fresh.on('error', onEnd)
    fresh.on('exit', (code) => onEnd(new Error(`the thread of the ${noun} ended with code ${code}`)))
    return fresh
  }

  async function send(work: OnnxWork): Promise<Float32Array> {
    if (closed) throw new Error(`the ${noun} is closed`)
    const current = worker ?? watch(await restart())
    // The thread keeps the process alive only while a reply is pending.
    current.ref()
    try {
      return await new Promise<Float32Array>((resolve, reject) => {
        waiting = { id: nextId++, resolve, reject }
        current.postMessage({ id: waiting.id, work }, [])
      })
    } finally {
      waiting = undefined
      current.unref()
    }
  }

  return {
    run(work: OnnxWork, tenant: string, signal: AbortSignal): Promise<Float32Array> {
      return raceSignal(
        turns.run(tenant, signal, () => send(work)),
        signal,
      )
    },
    async close(): Promise<void> {
      closed = true
      await worker?.terminate()
    },
  }
}
