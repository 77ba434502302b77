import { raceSignal, type Log } from '../../kernel/index.ts'
import type { QueryOptions } from '../port.ts'
import { DatabaseError, sqlState, shortMessage } from '../database-error.ts'
import { quoteName } from '../quote-name.ts'
import {
  connectionLost,
  createTurns,
  maximumWaiting,
  pastDeadline,
  runOnClient,
  type SessionSource,
  type SqlSession,
  tooManyWaiting,
} from '../session.ts'
import { connectWorker, type WorkerConnection } from './worker-connection.ts'

export interface EmbeddedSource extends SessionSource {
  /** Statements and transactions that wait or run. */
  load(): number
}

export interface EmbeddedSourceOptions {
  name: string
  folder: string
  sharedBuffersMegabytes: number
  log: Log
}

interface Waiter {
  grant(): void
  abandoned: boolean
  background: boolean
  sinceMs: number
}

/** Background work gives way to what somebody waits for, but not for longer than this. */
const patienceMs = 100
const isFirst = ({ background, sinceMs }: Waiter) => !background || performance.now() - sinceMs > patienceMs

/**
 * The one connection of an embedded database: statements and transactions take turns on it. A statement past its deadline
 * cannot be interrupted inside PGlite, so its worker is ended and opened anew, as after a crash: no commit is lost.
 */
export async function createEmbeddedSource(options: EmbeddedSourceOptions): Promise<EmbeddedSource> {
  const { name, folder, sharedBuffersMegabytes, log } = options
  let connection: WorkerConnection | undefined
  let opening: Promise<WorkerConnection> | undefined
  let busy = false
  let closed = false
  let isUnsynced = false
  let waiting: Waiter[] = []
  const listeners = new Map<string, Set<(payload: string) => void>>()
  const reconnectCallbacks: (() => void)[] = []

  async function open(): Promise<WorkerConnection> {
    const opened = await connectWorker({ folder, sharedBuffersMegabytes })
    opened.client.on('notification', ({ channel, payload }) => {
      for (const onNotification of listeners.get(channel) ?? []) onNotification(payload ?? '')
    })
    for (const channel of listeners.keys()) await runOnClient(opened.client, `listen ${quoteName(channel)}`, [])
    void opened.lost.then((reason) => {
      const unsynced = opened.unsynced()
      if (unsynced !== undefined && !isUnsynced) {
        isUnsynced = true
        void opened.terminate()
        // Uncaught on purpose: the process ends with exit code 1, and the next start reads what is really on the disk.
        setImmediate(() => {
          throw new Error(`the ${name} database could not write to the disk (fsync: ${unsynced}): stopping`)
        })
      }
      if (connection !== opened || closed) return
      connection = undefined
      if (isUnsynced) return
      log.error({ database: name, reason: shortMessage(new Error(reason)) }, 'the embedded database is opened anew')
      void opened.terminate()
      // Listeners are waiting for notifications although nobody may ask for a statement.
      if (listeners.size > 0) void current().catch(() => {})
    })
    return opened
  }

  /** The open connection; after a loss the first who asks opens it anew. */
  async function current(): Promise<WorkerConnection> {
    if (connection) return connection
    if (isUnsynced) throw new DatabaseError(sqlState.ioError, `the ${name} database could not write to the disk`)
    opening ??= open().finally(() => (opening = undefined))
    const opened = await opening
    if (connection !== opened && !closed) {
      connection = opened
      for (const callback of reconnectCallbacks) callback()
    }
    return opened
  }

  function releaseTurn() {
    waiting = waiting.filter((waiter) => !waiter.abandoned)
    const next = waiting.find(isFirst) ?? waiting[0]
    if (!next) busy = false
    else {
      waiting.splice(waiting.indexOf(next), 1)
      next.grant()
    }
  }

  async function takeTurn(signal: AbortSignal | undefined, background: boolean): Promise<void> {
    signal?.throwIfAborted()
    if (!busy) {
      busy = true
      return
    }
    if (waiting.length >= maximumWaiting) throw tooManyWaiting()
    const turn = Promise.withResolvers<void>()
    const waiter: Waiter = { grant: turn.resolve, abandoned: false, background, sinceMs: performance.now() }
    waiting.push(waiter)
    await raceSignal(turn.promise, signal).catch((error: unknown) => {
      // The turn may have been granted in the same moment: then it goes on to the next.
      if (waiting.includes(waiter)) waiter.abandoned = true
      else releaseTurn()
      throw error
    })
  }

  function createSession(held: WorkerConnection): SqlSession {
    const inTurn = createTurns()
    let running: Promise<unknown> = Promise.resolve()
    let broken = false

    function endWorker() {
      broken = true
      void held.terminate()
    }

    return {
      run(statement, parameters, { timeoutMs, signal }) {
        const result = inTurn(async () => {
          if (broken || held.isLost()) throw connectionLost('the transaction was rolled back')
          let late = false
          const timer = setTimeout(() => {
            late = true
            log.error({ database: name, timeoutMs }, 'a statement ran past its deadline: its database is opened anew')
            endWorker()
          }, timeoutMs)
          try {
            return await runOnClient(held.client, statement, parameters)
          } catch (error) {
            throw late ? pastDeadline(timeoutMs) : error
          } finally {
            clearTimeout(timer)
          }
        })
        running = result.catch(() => {})
        // An aborted wait leaves the statement running; release() waits for it.
        return raceSignal(result, signal)
      },
      markBroken: endWorker,
      release() {
        void running.then(releaseTurn)
      },
    }
  }

  async function acquire({
    signal,
    background = false,
  }: Pick<QueryOptions, 'signal' | 'background'> = {}): Promise<SqlSession> {
    await takeTurn(signal, background)
    try {
      if (closed) throw new DatabaseError(sqlState.connectionLost, `the ${name} database is closed`)
      return createSession(await current())
    } catch (error) {
      releaseTurn()
      throw error
    }
  }

  connection = await open()

  return {
    load: () => waiting.length + (busy ? 1 : 0),
    acquire,
    async listen(channel, onNotification) {
      let channelListeners = listeners.get(channel)
      if (!channelListeners) {
        channelListeners = new Set()
        listeners.set(channel, channelListeners)
        const session = await acquire()
        try {
          await session.run(`listen ${quoteName(channel)}`, [], { timeoutMs: 10_000 })
        } finally {
          session.release()
        }
      }
      channelListeners.add(onNotification)
      return async () => {
        channelListeners.delete(onNotification)
      }
    },
    onReconnect(callback) {
      reconnectCallbacks.push(callback)
    },
    async close() {
      if (closed) return
      // The last in the queue: everything asked for before is done first.
      await takeTurn(undefined, false)
      closed = true
      const held = connection
      connection = undefined
      releaseTurn()
      await held?.close()
    },
  }
}
