import type { Log } from '../../kernel/index.ts'
import { DatabaseError, shortMessage, sqlState } from '../database-error.ts'
import { quoteName } from '../quote-name.ts'
import { runOnClient } from '../session.ts'
import type { Subscriptions } from '../subscriptions.ts'
import { connectWorker, type WorkerConnection } from './worker-connection.ts'

export interface ReopeningConnectionOptions {
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
