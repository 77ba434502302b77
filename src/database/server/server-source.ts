import pg from 'pg'
import { type Log, raceSignal } from '../../kernel/index.ts'
import { shortMessage, toDatabaseError } from '../database-error.ts'
import { defaultStatementTimeoutMs, maximumWaiting, type SessionSource, tooManyWaiting } from '../session.ts'
import { createListener } from './listener.ts'
import { connectTimeoutMs, createServerSession, rememberProcessId } from './server-session.ts'

export interface ServerSourceOptions {
  name: string
  url: string
  /** Quoted names, comma separated. */
  searchPath: string
  maximumConnections: number
  log: Log
}

/** Longest wait for a free connection of the pool. */
const checkoutTimeoutMs = 10_000
// A transaction whose process hangs must not hold its locks forever.
const idleInTransactionTimeoutMs = 60_000
// Without an answer for 10 s + 3 × 5 s the connection is closed: a host that loses its power does not close it.
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
  // pg-pool has one limit for connecting and for the wait in its queue; `config` limits connecting alone.
  class PoolClient extends pg.Client {
    constructor() {
      super(config)
    }
  }
  // pg-pool awaits the returned promise, although its types do not allow one.
  const onConnect = (client: pg.ClientBase) => {
    // pg-pool handles errors of idle clients only; without this handler the loss of a connection in use ends the process.
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
  // The client's handler has logged it.
  pool.on('error', () => {})
  const listener = createListener({ name, config, log })
  return {
    async acquire({ signal } = {}) {
      signal?.throwIfAborted()
      if (pool.waitingCount >= maximumWaiting) throw tooManyWaiting()
      const connecting = pool.connect()
      try {
        return createServerSession(await raceSignal(connecting, signal), config, log)
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

async function setUp(client: pg.ClientBase, searchPath: string): Promise<void> {
  await rememberProcessId(client)
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
