import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Log, raceSignal } from '../../kernel/index.ts'
import { shortMessage, toDatabaseError } from '../database-error.ts'
import {
  createSubscriptions,
  createTurnQueue,
  noFreeConnection,
  type ServerLimits,
  type SessionSource,
} from '../session.ts'
import { type LocalSettings, setConfig } from '../statement.ts'
import { connectTimeoutMs, createServerSession, rememberProcessId } from './server-session.ts'
import { quoteName } from '../sql.ts'

export interface ServerSourceOptions {
  name: string
  url: string
  /** Of the server itself, where `url` leads to a pooler in transaction mode. */
  directUrl?: string | undefined
  /** Quoted names, comma separated. */
  searchPath: string
  limits: ServerLimits
  log: Log
  /** It is only read, and may be a standby. */
  isReplica?: boolean
}

// A transaction whose process hangs must not hold its locks forever.
const idleInTransactionTimeoutMs = 60_000
// For statements that cannot run in a transaction, and for migrations.
const maximumDirectConnections = 2
// Without an answer for 10 s + 3 × 5 s the connection is closed: a host that loses its power does not close it.
const keepAliveIdleMs = 10_000

/** Most connections of a process to the server of one logical database: for statements, direct ones, and for notifications. */
export function mostConnections(
  { maximumConnections }: Pick<ServerLimits, 'maximumConnections'>,
  isPooled: boolean,
): number {
  return (isPooled ? 0 : maximumConnections) + maximumDirectConnections + 1
}

/** A pool of connections to one server, each with the same settings as the embedded engine. */
export function createServerSource(options: ServerSourceOptions): SessionSource {
  const { name, url, directUrl, limits, log } = options
  const settings = settingsOf(options.searchPath, limits)
  const config = configOf(url, options.isReplica ? `${name} replica` : name)
  const directConfig = directUrl === undefined ? config : configOf(directUrl, name)
  const isPooled = directUrl !== undefined
  const pool = createPool(config, limits.maximumConnections, isPooled ? undefined : settings, options)
  // A concurrent index build waits for the transactions of others, however long they take; migrations have a separate limit.
  const directSettings = { ...settings, lock_timeout: '0' }
  const directPool = createPool(directConfig, maximumDirectConnections, directSettings, options)
  const turns = createTurnQueue(limits.maximumConnections)
  const listener = createListener({ name, config: directConfig, log })
  const withTimeout = (timeoutMs: number) => ({ ...settings, statement_timeout: String(Math.ceil(timeoutMs)) })
  const localSettings: LocalSettings = {
    ofStatement: (timeoutMs, own) => setConfig({ ...withTimeout(timeoutMs), ...own }, true),
    ofTransaction: (timeoutMs) => setLocal(withTimeout(timeoutMs)),
  }
  return {
    async acquire(owner, { signal, direct = false } = {}) {
      signal?.throwIfAborted()
      if (!direct) await turns.take(owner, { signal, waitMs: limits.connectionWaitMs })
      const onReleased = direct ? () => {} : turns.release
      const connecting = (direct ? directPool : pool).connect()
      try {
        const client = await raceSignal(connecting, signal)
        const isLocal = isPooled && !direct
        return createServerSession({
          client,
          config: isLocal ? config : directConfig,
          localSettings: isLocal ? localSettings : undefined,
          firstTimeoutMs: limits.statementTimeoutMs,
          onReleased,
          log,
        })
      } catch (error) {
        void connecting
          .then((client) => client.release())
          .catch(() => {})
          .finally(onReleased)
        if (signal?.aborted) throw error
        throw isCheckoutTimeout(error) ? noFreeConnection(limits.connectionWaitMs) : toDatabaseError(error)
      }
    },
    listen: listener.listen,
    onReconnect: listener.onReconnect,
    async close() {
      await Promise.all([listener.close(), pool.end(), directPool.end()])
    },
  }
}

function configOf(url: string, name: string): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: `portico ${name}`,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveIdleMs,
  }
}

/** Each connection is opened with `settings`; undefined: each transaction makes them. */
function createPool(
  config: pg.ClientConfig,
  maximumConnections: number,
  settings: Record<string, string> | undefined,
  { name, limits, log, isReplica = false }: ServerSourceOptions,
): pg.Pool {
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
    if (settings) return setUp(client, settings, isReplica) as unknown as void
  }
  const pool = new pg.Pool({
    Client: PoolClient as typeof pg.Client,
    max: maximumConnections,
    connectionTimeoutMillis: limits.connectionWaitMs,
    idleTimeoutMillis: 30_000,
    onConnect,
  })
  // The client's handler has logged it.
  pool.on('error', () => {})
  return pool
}

/** pg-pool has no code for it. */
function isCheckoutTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}

/** What statements rely on. */
function settingsOf(searchPath: string, limits: ServerLimits): Record<string, string> {
  return {
    search_path: searchPath,
    timezone: 'UTC',
    statement_timeout: String(limits.statementTimeoutMs),
    lock_timeout: String(limits.lockTimeoutMs),
    idle_in_transaction_session_timeout: String(idleInTransactionTimeoutMs),
    default_text_search_config: 'pg_catalog.simple',
  }
}

/** The same for a transaction, without a query: `set transaction isolation level` may follow. */
function setLocal({ search_path, ...others }: Record<string, string>): string {
  const each = Object.entries(others).map(([name, value]) => `set local ${name} = ${pg.escapeLiteral(value)}`)
  return [`set local search_path = ${search_path}`, ...each].join('; ')
}

/** Rejects after `connectTimeoutMs`: the driver bounds only what comes before. */
async function setUp(client: pg.ClientBase, settings: Record<string, string>, isReplica: boolean): Promise<void> {
  const timer = setTimeout(() => void (client as pg.Client).end().catch(() => {}), connectTimeoutMs)
  try {
    await rememberProcessId(client, isReplica)
    await client.query(
      setConfig(
        {
          ...settings,
          tcp_keepalives_idle: String(keepAliveIdleMs / 1000),
          tcp_keepalives_interval: '5',
          tcp_keepalives_count: '3',
        },
        false,
      ),
    )
  } finally {
    clearTimeout(timer)
  }
}

type Listener = Pick<SessionSource, 'listen' | 'onReconnect' | 'close'>

const firstRetryMs = 100
const longestRetryMs = 2_000

/** One connection for LISTEN: opened at the first use, reopened with backoff after each loss. */
function createListener({ name, config, log }: { name: string; config: pg.ClientConfig; log: Log }): Listener {
  const subscriptions = createSubscriptions()
  const reconnectCallbacks: (() => void)[] = []
  const stopping = new AbortController()
  let connecting: Promise<pg.Client> | undefined

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client(config)
    let established = false
    const onLost = (error?: Error) => {
      if (!established) return
      established = false
      if (stopping.signal.aborted) return
      log.warn({ database: name, reason: shortMessage(error ?? 'closed') }, 'the connection for notifications was lost')
      startAgain()
    }
    client.on('error', onLost)
    client.on('end', () => onLost())
    client.on('notification', subscriptions.deliver)
    try {
      await client.connect()
      for (const channel of subscriptions.channels()) await client.query(`listen ${quoteName(channel)}`)
      established = true
      return client
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
  }

  function startAgain() {
    connecting = reconnect()
    // Rejects only when the listener is closed.
    connecting.catch(() => {})
  }

  async function reconnect(): Promise<pg.Client> {
    for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      await delay(waitMs, undefined, { signal: stopping.signal })
      try {
        const client = await connect()
        for (const callback of reconnectCallbacks) callback()
        return client
      } catch (error) {
        log.warn({ database: name, reason: shortMessage(error) }, 'no connection for notifications yet')
      }
    }
  }

  return {
    async listen(channel, onNotification) {
      const isNew = subscriptions.add(channel, onNotification)
      connecting ??= connect().catch((error: unknown) => {
        connecting = undefined
        throw error
      })
      const client = await connecting
      if (isNew) await client.query(`listen ${quoteName(channel)}`)
      return async () => subscriptions.remove(channel, onNotification)
    },
    onReconnect(callback) {
      reconnectCallbacks.push(callback)
    },
    async close() {
      stopping.abort()
      const client = await connecting?.catch(() => undefined)
      await client?.end()
    },
  }
}
