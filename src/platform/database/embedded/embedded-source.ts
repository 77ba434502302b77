import path from 'node:path'
import { Duplex } from 'node:stream'
import { Worker } from 'node:worker_threads'
import pg from 'pg'
import { type Log, raceSignal, sharedOwner } from '../../kernel/index.ts'
import { DatabaseError, shortMessage, sqlState } from '../database-error.ts'
import { runOnClient, runWithLocalSettings, setConfig } from '../statement.ts'
import { quoteName } from '../sql.ts'
import {
  connectionLost,
  createSubscriptions,
  createTurnQueue,
  createTurns,
  pastDeadline,
  type SessionSource,
  type SqlSession,
  type Subscriptions,
} from '../session.ts'

interface EmbeddedSource extends SessionSource {
  /** Statements and transactions that wait or run. */
  load(): number
}

interface EmbeddedSourceOptions {
  name: string
  folder: string
  sharedBuffersMegabytes: number
  log: Log
}

const listenTimeoutMs = 10_000
const stoppedMs = 1_000

/**
 * The one connection of an embedded database: statements and transactions take turns on it. A statement past its deadline
 * cannot be interrupted inside PGlite, so its worker is terminated and started again, as after a crash: no commit is lost.
 */
export async function createEmbeddedSource({ log, name, ...place }: EmbeddedSourceOptions): Promise<EmbeddedSource> {
  const turns = createTurnQueue()
  const subscriptions = createSubscriptions()
  const reconnectCallbacks: (() => void)[] = []
  const connection = createReopeningConnection({
    ...place,
    name,
    log,
    subscriptions,
    onOpened() {
      for (const callback of reconnectCallbacks) callback()
    },
  })
  let closed = false

  const acquire: EmbeddedSource['acquire'] = async (owner, { signal, background = false } = {}) => {
    await turns.take(owner, { signal, background })
    try {
      if (closed) throw new DatabaseError(sqlState.connectionLost, `the ${name} database is closed`)
      return createEmbeddedSession({ connection: await connection.current(), onReleased: turns.release, name, log })
    } catch (error) {
      turns.release()
      throw error
    }
  }

  async function sendListen(channel: string): Promise<void> {
    const session = await acquire(sharedOwner)
    try {
      await session.run(`listen ${quoteName(channel)}`, [], { timeoutMs: listenTimeoutMs })
    } finally {
      session.release()
    }
  }

  await connection.current()
  return {
    load: turns.load,
    acquire,
    async listen(channel, onNotification) {
      try {
        if (subscriptions.add(channel, onNotification)) await sendListen(channel)
      } catch (error) {
        subscriptions.remove(channel, onNotification)
        throw error
      }
      return async () => subscriptions.remove(channel, onNotification)
    },
    onReconnect(callback) {
      reconnectCallbacks.push(callback)
    },
    async close() {
      if (closed) return
      // All earlier statements run first, except background work that still lets others go first: that is rejected.
      await turns.takeLast()
      closed = true
      turns.release()
      await connection.close()
    },
  }
}

interface EmbeddedSessionOptions {
  connection: WorkerConnection
  onReleased(): void
  name: string
  log: Log
}

/** One turn on the connection. */
function createEmbeddedSession({ connection, onReleased, name, log }: EmbeddedSessionOptions): SqlSession {
  const inTurn = createTurns()
  let running: Promise<unknown> = Promise.resolve()
  let broken = false

  function endWorker() {
    broken = true
    void connection.terminate()
  }

  return {
    run(statement, parameters, { timeoutMs, signal, prepared, settings }) {
      const result = inTurn(async () => {
        if (broken || connection.isLost()) throw connectionLost('the transaction was rolled back')
        let late = false
        const stopTimer = startDeadline(timeoutMs, () => {
          late = true
          log.error({ database: name, timeoutMs }, 'a statement ran past its deadline: its database is being reopened')
          endWorker()
        })
        try {
          return settings
            ? await runWithLocalSettings(connection.client, setConfig(settings, true), statement, parameters)
            : await runOnClient(connection.client, statement, parameters, { prepared })
        } catch (error) {
          throw late ? pastDeadline(timeoutMs) : error
        } finally {
          stopTimer()
        }
      })
      running = result.catch(() => {})
      // After an abort the statement continues; the turn ends after it (see release).
      return raceSignal(result, signal)
    },
    markBroken: endWorker,
    release() {
      void running.then(onReleased)
    },
  }
}

/**
 * Calls `onPassed` after so much time in which this process ran. A timer that is late by a second shows that it was stopped (SIGSTOP, a suspended
 * machine), and the worker with it: the statement may have run for a moment only, and its answer may be here unread.
 */
function startDeadline(timeoutMs: number, onPassed: () => void): () => void {
  let timer: NodeJS.Timeout
  function start() {
    const dueMs = performance.now() + timeoutMs
    timer = setTimeout(() => (performance.now() - dueMs > stoppedMs ? start() : onPassed()), timeoutMs)
  }
  start()
  return () => clearTimeout(timer)
}

interface ReopeningConnectionOptions {
  name: string
  folder: string
  sharedBuffersMegabytes: number
  subscriptions: Subscriptions
  /** Called when a connection was opened, including the first one; earlier notifications may have been missed. */
  onOpened(): void
  log: Log
  /** Tests pass one that fails. */
  connect?: typeof connectWorker
}

/** The connection to the worker of one embedded database. It is reopened after a loss. */
export function createReopeningConnection(options: ReopeningConnectionOptions) {
  const { name, folder, sharedBuffersMegabytes, subscriptions, onOpened, log, connect = connectWorker } = options
  let connection: WorkerConnection | undefined
  let opening: Promise<WorkerConnection> | undefined
  let isUnsynced = false
  let closed = false

  async function open(): Promise<WorkerConnection> {
    const opened = await connect({ folder, sharedBuffersMegabytes }).catch((error: unknown) => {
      throw new DatabaseError(sqlState.ioError, `the ${name} database could not be opened: ${reasonOfFailure(error)}`)
    })
    opened.client.on('notification', subscriptions.deliver)
    for (const channel of subscriptions.channels()) {
      await runOnClient(opened.client, `listen ${quoteName(channel)}`, [])
    }
    void opened.lost.then((reason) => onLost(opened, reason))
    return opened
  }

  function onLost(lost: WorkerConnection, reason: string) {
    const unsynced = lost.unsynced()
    if (unsynced !== undefined && !isUnsynced) {
      isUnsynced = true
      void lost.terminate()
      // Uncaught on purpose: the process ends with exit code 1, and the next start reads the data that is on the disk.
      setImmediate(() => {
        throw new Error(`the ${name} database could not write to the disk (fsync: ${unsynced}): stopping`)
      })
    }
    if (connection !== lost || closed) return
    connection = undefined
    if (isUnsynced) return
    log.error({ database: name, reason: shortMessage(new Error(reason)) }, 'the embedded database is being reopened')
    void lost.terminate()
    // Notifications need the connection, and there may be no statement that reopens it.
    if (subscriptions.channels().length > 0) void current().catch(() => {})
  }

  async function current(): Promise<WorkerConnection> {
    if (connection) return connection
    if (isUnsynced) throw new DatabaseError(sqlState.ioError, `the ${name} database could not write to the disk`)
    opening ??= open().finally(() => (opening = undefined))
    const opened = await opening
    if (connection !== opened && !closed) {
      connection = opened
      onOpened()
    }
    return opened
  }

  return {
    /** The open connection; after a loss the first call reopens the database. */
    current,
    async close(): Promise<void> {
      closed = true
      const held = connection ?? (await opening?.catch(() => undefined))
      connection = undefined
      await held?.close()
    },
  }
}

/** PGlite reports only that PostgreSQL has ended. */
const endOfPostgres = /Aborted\(\)|failed to initialize|unreachable|out of bounds/

function reasonOfFailure(error: unknown): string {
  const message = shortMessage(error)
  return endOfPostgres.test(message)
    ? 'PostgreSQL ended while it read the files, which are probably damaged or incomplete. Restore the whole data folder from a backup'
    : message
}

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
type WorkerConnection = Awaited<ReturnType<typeof connectWorker>>

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
