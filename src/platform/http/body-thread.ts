import { Worker } from 'node:worker_threads'
import type { BodyFormat, BodyReader } from '../bodies/index.ts'
import { AppError, type EndSignal, Turns } from '../kernel/index.ts'
import { type BodyResult, type BodyTask, unpackTexts } from './body-messages.ts'

/** Parses bodies in a separate thread, one at a time, alternating between organisations. The body budget bounds the queue. */
export type BodyThread = ReturnType<typeof createBodyThread>

/** Heap of the thread, without bytes: long texts stay bytes, so only bodies of many short texts take much of it. Above the limit only this thread ends, not the process. */
const maximumHeapMegabytes = 1024

interface Waiting {
  bytes: Buffer
  reader: BodyReader
  format: BodyFormat
  signal: EndSignal
  resolve(body: unknown): void
  reject(error: unknown): void
}

/** The thread starts with its first body. */
export function createBodyThread() {
  /** By organisation. */
  const waiting = new Turns<Waiting>()
  let worker: Worker | undefined
  let current: Waiting | undefined

  function next() {
    if (current) return
    const task = waiting.takeNext()?.item
    if (!task) return
    if (task.signal.aborted) {
      task.reject(task.signal.reason)
      return next()
    }
    current = task
    const { module, exportName } = task.reader
    const bytes = transferable(task.bytes)
    worker ??= start()
    worker.postMessage({ module, exportName, format: task.format, bytes } satisfies BodyTask, [bytes.buffer])
  }

  function finish(complete: (task: Waiting) => void) {
    const task = current
    current = undefined
    if (task) complete(task)
    // In a later turn of the event loop, so that one turn handles at most one result of several megabytes.
    setImmediate(next)
  }

  function start(): Worker {
    const started = new Worker(new URL('./body-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: maximumHeapMegabytes },
    })
    started.unref()
    started.on('message', (result: BodyResult) => finish((task) => completeTask(task, result)))
    started.on('error', (error) => {
      if (worker === started) worker = undefined
      finish((task) =>
        task.reject(
          new AppError('overloaded', 'The request body could not be read now. Try again in a moment.', {
            internal: `the thread that reads bodies ended: ${error instanceof Error ? error.message : String(error)}`,
          }),
        ),
      )
    })
    return started
  }

  return {
    read<Body>(
      { bytes, format }: { bytes: Buffer; format: BodyFormat },
      reader: BodyReader<Body>,
      owner: string,
      signal: EndSignal,
    ): Promise<Body> {
      return new Promise<Body>((resolve, reject) => {
        waiting.add(owner, { bytes, reader, format, signal, resolve: resolve as (body: unknown) => void, reject })
        next()
      })
    },
    async close(): Promise<void> {
      await worker?.terminate()
      worker = undefined
    },
  }
}

function completeTask(task: Waiting, result: BodyResult) {
  if ('body' in result) return task.resolve(unpackTexts(result.body))
  if ('failed' in result) return task.reject(new Error(result.failed))
  const { code, message, param } = result.refused
  task.reject(new AppError(code, message, param === null ? {} : { param }))
}

/** Bytes that share their memory with no other buffer, so that it can move to the thread. */
function transferable(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const owned = bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes)
  return owned as Uint8Array<ArrayBuffer>
}
