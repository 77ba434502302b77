import pg from 'pg'
import { type Log, raceSignal } from '../../kernel/index.ts'
import { DatabaseError, shortMessage, sqlState, toDatabaseError } from '../database-error.ts'
import {
  createTurns,
  defaultStatementTimeoutMs,
  maximumWaiting,
  pastDeadline,
  runOnClient,
  type SessionSource,
  type SqlSession,
  tooManyWaiting,
} from '../session.ts'
import { createListener } from './listener.ts'
import { processIdOf } from './pooler.ts'

export interface ServerSourceOptions {
  name: string
  url: string
  /** Quoted names, comma separated. */
  searchPath: string
  maximumConnections: number
  log: Log
}

// A lost server is noticed this late; the ledger refuses calls after 5 s.
const connectTimeoutMs = 3_000
/** Longest wait for a free connection of the pool. */
const checkoutTimeoutMs = 10_000
// The server ends a late statement itself; this much later the connection is given up, as the network may be gone.
const graceMs = 1_000
// A transaction whose process hangs must not hold its locks for ever.
const idleInTransactionTimeoutMs = 60_000
// Without an answer for 10 s + 3 × 5 s either side drops the connection: a host that lost its power sends no goodbye.
const keepAliveIdleMs = 10_000

/** A pool of connections to one server, each with the same settings as the embedded engine. */
export function createServerSource(options: ServerSourceOptions): SessionSource {
  const { name, url, log } = options
  const config: pg.ClientConfig = {
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: `portico ${name}`,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveIdleMs,
  }
  // pg-pool has one limit for connecting and for the wait in its queue; this one is for connecting alone.
  class PoolClient extends pg.Client {
    constructor() {
      super(config)
    }
  }
  // pg waits for the promise although its types say nothing of one.
  const onConnect = (client: pg.ClientBase) => {
    // pg-pool listens while a client is idle only; without a listener a lost connection in use ends the process.
    client.on('error', (error) => log.warn({ database: name, reason: shortMessage(error) }, 'a connection was lost'))
    return setUp(client, options.searchPath) as unknown as void
  }
  const pool = new pg.Pool({
    Client: PoolClient as typeof pg.Client,
    max: options.maximumConnections,
    connectionTimeoutMillis: checkoutTimeoutMs,
    idleTimeoutMillis: 30_000,
    onConnect,
  })
  // The client's own listener has logged it.
  pool.on('error', () => {})
  const listener = createListener({ name, config, log })
  // What each connection's statement_timeout stands at, so that it is only sent when it changes.
  const timeouts = new WeakMap<pg.PoolClient, number>()

  function createSession(client: pg.PoolClient): SqlSession {
    const inTurn = createTurns()
    let running: Promise<unknown> = Promise.resolve()
    let broken = false

    function giveUp() {
      broken = true
      void client.end().catch(() => {})
    }

    async function runNow(...[statement, parameters, { timeoutMs }]: Parameters<SqlSession['run']>) {
      if (broken) throw new DatabaseError(sqlState.connectionLost, 'the connection to the database was given up')
      let late = false
      const timer = setTimeout(() => {
        late = true
        giveUp()
      }, timeoutMs + graceMs)
      try {
        if ((timeouts.get(client) ?? defaultStatementTimeoutMs) !== timeoutMs) {
          await runOnClient(client, `set statement_timeout = ${Math.ceil(timeoutMs)}`, [])
          timeouts.set(client, timeoutMs)
        }
        return await runOnClient(client, statement, parameters)
      } catch (error) {
        const failure = toDatabaseError(error)
        // Nobody knows what state a connection is in on which not even a rollback works.
        if (/^(?:08|57P|25P03)/.test(failure.code) || statement === 'rollback') broken = true
        throw late ? pastDeadline(timeoutMs) : failure
      } finally {
        clearTimeout(timer)
      }
    }

    return {
      run(statement, parameters, runOptions) {
        const { signal } = runOptions
        let cancelled: Promise<void> | undefined
        let giveUpTimer: NodeJS.Timeout | undefined
        const onAbort = () => {
          cancelled = cancelStatement(config, client, log)
          // A server that hangs does not hear of it: the connection must not stay taken until the statement's own limit.
          giveUpTimer = setTimeout(giveUp, graceMs)
        }
        const result = inTurn(async () => {
          signal?.throwIfAborted()
          signal?.addEventListener('abort', onAbort, { once: true })
          try {
            return await runNow(statement, parameters, runOptions)
          } finally {
            signal?.removeEventListener('abort', onAbort)
            clearTimeout(giveUpTimer)
            // A cancel that arrives late must not hit the next statement of this connection.
            if (!broken) await cancelled
          }
        })
        running = result.catch(() => {})
        return raceSignal(result, signal)
      },
      markBroken() {
        broken = true
      },
      release() {
        void running.then(() => client.release(broken))
      },
    }
  }

  return {
    async acquire({ signal } = {}) {
      signal?.throwIfAborted()
      if (pool.waitingCount >= maximumWaiting) throw tooManyWaiting()
      const connecting = pool.connect()
      try {
        return createSession(await raceSignal(connecting, signal))
      } catch (error) {
        if (!signal?.aborted) throw toDatabaseError(error)
        connecting.then((client) => client.release()).catch(() => {})
        throw error
      }
    },
    listen: listener.listen,
    onReconnect: listener.onReconnect,
    async close() {
      await Promise.all([listener.close(), pool.end()])
    },
  }
}

/** The server's process of each connection; what the driver has read may be a pooler's own number. */
const processIds = new WeakMap<pg.ClientBase, number>()

async function setUp(client: pg.ClientBase, searchPath: string): Promise<void> {
  processIds.set(client, await processIdOf(client))
  await client.query(
    `set search_path = ${searchPath};
     set timezone = 'UTC';
     set statement_timeout = ${defaultStatementTimeoutMs};
     set idle_in_transaction_session_timeout = ${idleInTransactionTimeoutMs};
     set tcp_keepalives_idle = ${keepAliveIdleMs / 1000};
     set tcp_keepalives_interval = 5;
     set tcp_keepalives_count = 3;
     set default_text_search_config = 'pg_catalog.simple'`,
  )
}

/** Asks the server, over another connection, to end what a client is running. */
async function cancelStatement(config: pg.ClientConfig, client: pg.PoolClient, log: Log): Promise<void> {
  const other = new pg.Client({ ...config, query_timeout: connectTimeoutMs })
  other.on('error', () => {})
  try {
    await other.connect()
    await other.query('select pg_cancel_backend($1)', [processIds.get(client)])
  } catch (error) {
    log.warn({ reason: shortMessage(error) }, 'a statement could not be cancelled')
  } finally {
    await other.end().catch(() => {})
  }
}
