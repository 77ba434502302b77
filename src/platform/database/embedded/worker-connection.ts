import path from 'node:path'
import { Duplex } from 'node:stream'
import { Worker } from 'node:worker_threads'
import pg from 'pg'

/** Messages between the main thread and the worker. Bytes are PostgreSQL's wire protocol. */

export interface WorkerTask {
  /** `initialise` creates a database folder and ends; `serve` opens it. */
  kind: 'initialise' | 'serve'
  folder: string
  sharedBuffersMegabytes: number
}

export type ToWorker = Uint8Array<ArrayBuffer> | 'close'

/** `unsynced`: data may not have reached the disk, so later answers of this database must not be used. */
export type FromWorker =
  | Uint8Array
  | { kind: 'ready' }
  | { kind: 'done' }
  | { kind: 'failed'; message: string }
  | { kind: 'unsynced'; message: string }

// The thread's JavaScript only moves bytes. Without this its garbage grows to 16 MB before it is collected.
const maxYoungGenerationSizeMb = 2

/** One running worker, and the `pg` client that uses it like the socket of a server. */
export type WorkerConnection = Awaited<ReturnType<typeof connectWorker>>

/** Creates the database folder in a separate worker, whose memory (briefly 1 GB) is then freed. */
export async function initialiseFolder(task: Omit<WorkerTask, 'kind'>): Promise<void> {
  const worker = startWorker({ ...task, kind: 'initialise' })
  try {
    await nextStatus(worker)
  } finally {
    await worker.terminate()
  }
}

/** Opens an existing folder. Rejects with a short text when PGlite cannot open it, or when its commits are not durable. */
export async function connectWorker(task: Omit<WorkerTask, 'kind'>) {
  const worker = startWorker({ ...task, kind: 'serve' })
  const lost = Promise.withResolvers<string>()
  let stream: Duplex
  try {
    await nextStatus(worker)
    stream = createWorkerStream(worker, lost.resolve)
  } catch (error) {
    await worker.terminate()
    throw error
  }
  worker.on('error', (error) => lost.resolve(error instanceof Error ? error.message : String(error)))
  let unsynced: string | undefined
  worker.on('message', (message: FromWorker) => {
    if (message instanceof Uint8Array || message.kind !== 'unsynced') return
    unsynced = message.message
    lost.resolve(`fsync failed: ${unsynced}`)
  })
  worker.on('exit', () => lost.resolve('its thread has ended'))
  let isLost = false
  void lost.promise.then(() => {
    isLost = true
    stream.destroy()
  })
  const client = new pg.Client({
    stream: () => stream,
    host: 'embedded',
    user: 'postgres',
    password: '',
    database: 'postgres',
    ssl: false,
  })
  // The running statement already rejects when the stream is destroyed; an unhandled event would end the process.
  client.on('error', () => {})
  await client.connect()
  return {
    client,
    /** Resolves with the reason when the worker has ended, failed, or was terminated. */
    lost: lost.promise,
    /** Set with `lost` where an fsync failed: the folder must not be opened again by this process. */
    unsynced: (): string | undefined => unsynced,
    /** State of `lost`. Short-lived objects read this: a reaction on the promise stays in memory as long as the connection. */
    isLost: (): boolean => isLost,
    /** Checkpoints, closes the database and ends the worker. */
    async close(): Promise<void> {
      const done = nextStatus(worker)
      worker.postMessage('close' satisfies ToWorker, [])
      try {
        await done
      } finally {
        await worker.terminate()
      }
    },
    /** Ends the worker at once, as a kill would; acknowledged commits stay. */
    async terminate(): Promise<void> {
      lost.resolve('it was ended')
      await worker.terminate()
    },
  }
}

function startWorker(task: WorkerTask): Worker {
  // Without the flags of the main thread, such as a test runner's loaders or an inspector.
  return new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: task,
    execArgv: [],
    name: path.basename(task.folder),
    resourceLimits: { maxYoungGenerationSizeMb },
  })
}

/** Waits for the next message that is not the answer to a statement; rejects where it reports a failure. */
function nextStatus(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    function onMessage(message: FromWorker) {
      if (message instanceof Uint8Array) return
      stopListening()
      if (message.kind === 'failed' || message.kind === 'unsynced') reject(new Error(message.message))
      else resolve()
    }
    function onEnd(cause: unknown) {
      stopListening()
      reject(new Error(`the thread of the embedded database ended: ${String(cause)}`))
    }
    function stopListening() {
      worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd)
    }
    worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd)
  })
}

function createWorkerStream(worker: Worker, onFailed: (reason: string) => void): Duplex {
  function post(parts: readonly Uint8Array[], done: (error?: Error | null) => void) {
    // A copy that owns its memory, so that it can be transferred to the worker instead of being cloned.
    const message = new Uint8Array(parts.reduce((total, part) => total + part.length, 0))
    let at = 0
    for (const part of parts) {
      message.set(part, at)
      at += part.length
    }
    worker.postMessage(message satisfies ToWorker, [message.buffer])
    done()
  }
  const stream = new Duplex({
    read() {},
    write: (chunk: Uint8Array, _encoding, done) => post([chunk], done),
    // Parse, Bind, Describe, Execute and Sync of one statement are one message: one round trip to the worker.
    writev: (chunks, done) =>
      post(
        chunks.map(({ chunk }) => chunk as Uint8Array),
        done,
      ),
  })
  worker.on('message', (message: FromWorker) => {
    if (message instanceof Uint8Array) stream.push(message)
    else if (message.kind === 'failed') onFailed(message.message)
  })
  // Methods of a socket that the driver calls.
  return Object.assign(stream, {
    connect: () => queueMicrotask(() => stream.emit('connect')),
    setNoDelay() {},
    setKeepAlive() {},
    ref() {},
    unref() {},
  })
}
