import { Worker } from 'node:worker_threads'
import { type BodyFormat, type BodyReader, JsonText, type LiteralCounts } from '../bodies/index.ts'
import { AppError, type EndSignal, type ErrorCode, Turns } from '../kernel/index.ts'

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

/** Messages between body-thread.ts and body-worker.ts. */
export interface BodyTask {
  module: string
  exportName: string
  format: BodyFormat
  bytes: Uint8Array<ArrayBuffer>
}

export type BodyResult =
  | { body: unknown }
  | { refused: { code: ErrorCode; message: string; param: string | null } }
  | { failed: string }

/** A `JsonText` in a message. A body from JSON has no other map. */
type PackedText = Map<'slices' | 'counts', Uint8Array[] | LiteralCounts>

/** Replaces each `JsonText`, so that its bytes move to another thread. `memory`: what is to be moved. */
export function packTexts(body: unknown): { packed: unknown; memory: ArrayBuffer[] } {
  const memory = new Set<ArrayBuffer>()
  const pack = (text: JsonText): PackedText => {
    for (const { buffer } of text.slices) memory.add(buffer as ArrayBuffer)
    // A Buffer would arrive as such an array.
    const slices = text.slices.map(({ buffer, byteOffset, length }) => new Uint8Array(buffer, byteOffset, length))
    return new Map<'slices' | 'counts', Uint8Array[] | LiteralCounts>([
      ['slices', slices],
      ['counts', text.counts],
    ])
  }
  const packed = replace(body, (value) => (value instanceof JsonText ? pack(value) : undefined))
  return { packed, memory: [...memory] }
}

/** The body of a message, with its texts. */
function unpackTexts(packed: unknown): unknown {
  return replace(packed, (value) => {
    if (!(value instanceof Map)) return undefined
    const slices = (value.get('slices') as Uint8Array[]).map(({ buffer, byteOffset, length }) =>
      Buffer.from(buffer, byteOffset, length),
    )
    return new JsonText(slices, value.get('counts') as LiteralCounts)
  })
}

function replace(value: unknown, replacement: (value: object) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const replaced = replacement(value)
  if (replaced !== undefined) return replaced
  const members = value as Record<string, unknown>
  for (const name in members) {
    const member = replace(members[name], replacement)
    if (member !== members[name]) members[name] = member
  }
  return value
}
