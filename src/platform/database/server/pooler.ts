import type { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { DatabaseStartError, sqlState } from '../database-error.ts'
import type { LogicalDatabase } from '../port.ts'

/** Connections that are opened at the same time; a pooler in transaction mode gives one of them this client's server connection. */
const probes = 4
/** A probe waits where the pool is exhausted; after this time there are no further probes. */
const probeTimeoutMs = 2_000

/**
 * Throws where a connection pooler assigns the server's connections per transaction (PgBouncer's pool_mode = transaction): session
 * settings such as search_path, and LISTEN, would apply to the next user of the connection. A pooler in session mode is supported, and
 * one in transaction mode together with a direct URL.
 */
export async function assertOwnSession(client: pg.Client, url: string, name: LogicalDatabase): Promise<void> {
  const processId = await processIdOf(client)
  // A pooler sends its own process number at the start of the connection; without a pooler the two numbers are equal.
  if (processId === (client as unknown as { processID: number | null }).processID) return
  const others: pg.Client[] = []
  const release = () => Promise.all(others.splice(0).map((other) => other.end().catch(() => {})))
  try {
    if (await isShared(client, processId, url, others, release)) throw refusal(name)
  } finally {
    await release()
  }
}

/** Whether other connections get the server process of this one, or keep this one waiting. Adds to `others` what it opens. */
async function isShared(
  client: pg.Client,
  processId: number,
  url: string,
  others: pg.Client[],
  release: () => Promise<unknown>,
): Promise<boolean> {
  try {
    while (others.length < probes) {
      const other = new pg.Client({
        connectionString: url,
        connectionTimeoutMillis: probeTimeoutMs,
        query_timeout: probeTimeoutMs,
      })
      other.on('error', () => {})
      others.push(other)
      await other.connect()
      await other.query('begin')
      if ((await processIdOf(other)) === processId) return true
    }
  } catch (error) {
    // PgBouncer's statement mode rejects transactions.
    if ((error as { code?: unknown }).code === sqlState.protocolViolation) return true
  }
  // A connection with a separate session is answered however many others there are. One that is answered only after the others have
  // ended, which may hold all of the pool together with another start, waited for them.
  const now = processIdOf(client)
  const answered = await within(probeTimeoutMs, now)
  if (answered !== undefined) return answered !== processId
  await release()
  return (await within(probeTimeoutMs, now)) !== undefined
}

/** Undefined after `ms`, or if it rejects. */
async function within<Value>(ms: number, value: Promise<Value>): Promise<Value | undefined> {
  const stop = new AbortController()
  const late = delay(ms, undefined, { signal: stop.signal }).catch(() => undefined)
  return Promise.race([value.catch(() => undefined), late]).finally(() => stop.abort())
}

/** The server process that runs this connection's statements at the moment. */
export async function processIdOf(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]!.pid
}

/** Throws where the URL leads to a pooler in statement mode, or to another database than the direct URL. */
export async function assertSameDatabase(pooled: pg.Client, direct: pg.Client, name: LogicalDatabase): Promise<void> {
  try {
    await pooled.query('begin')
    await pooled.query('commit')
  } catch (error) {
    if ((error as { code?: unknown }).code !== sqlState.protocolViolation) throw error
    throw new DatabaseStartError(
      `the URL of the ${name} database leads to a connection pooler in statement mode, which has no transactions: set pool_mode = transaction`,
    )
  }
  if ((await identityOf(pooled)) === (await identityOf(direct))) return
  throw new DatabaseStartError(
    `the URL of the ${name} database and ${directVariable[name]} lead to different databases: the direct URL must be that of the server behind the pooler`,
  )
}

async function identityOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ identity: string }>(
    `select pg_postmaster_start_time() || ' ' || oid as identity from pg_database where datname = current_database()`,
  )
  return rows[0]!.identity
}

/** The parts of the driver's client and connection that its types do not have. */
interface CancelConnection extends EventEmitter {
  connect(port: number, host: string): void
  requestSsl(): void
  cancel(processId: number, secretKey: unknown): void
  stream: { destroy(): void }
}
interface CancellableClient {
  host: string
  port: number
  ssl: false | object
  processID: number
  secretKey: unknown
}

/**
 * Cancels the client's statement with the protocol's message: only the pooler has the number of the server process, and it does not assign the
 * connection to another client meanwhile.
 */
export async function cancelThroughPooler(client: pg.PoolClient, timeoutMs: number): Promise<void> {
  const { host, port, ssl, processID, secretKey } = client as unknown as CancellableClient
  const connection = new pg.Connection({ ssl } as pg.ConnectionConfig) as unknown as CancelConnection
  const cancel = () => connection.cancel(processID, secretKey)
  connection.once('connect', () => (ssl ? connection.requestSsl() : cancel()))
  connection.once('sslconnect', cancel)
  const ended = new Promise<void>((resolve, reject) => {
    connection.once('end', resolve)
    connection.on('error', reject)
  })
  const timer = setTimeout(() => connection.stream.destroy(), timeoutMs)
  connection.connect(port, host)
  await ended.finally(() => clearTimeout(timer))
}

const directVariable: Record<LogicalDatabase, string> = {
  control: 'DATABASE_DIRECT_URL',
  corpus: 'PORTICO_CORPUS_DATABASE_DIRECT_URL (or DATABASE_DIRECT_URL, if both databases are on one server)',
}

function refusal(name: LogicalDatabase): DatabaseStartError {
  return new DatabaseStartError(
    `the URL of the ${name} database leads to a connection pooler in transaction mode (such as PgBouncer's pool_mode = transaction), and the ` +
      `address of the server itself is missing: set ${directVariable[name]}, which is used for LISTEN and migrations`,
  )
}
