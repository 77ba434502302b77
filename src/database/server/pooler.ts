import pg from 'pg'
import { DatabaseStartError, sqlState } from '../database-error.ts'
import type { LogicalDatabase } from '../port.ts'

/** Connections that are opened at the same time; a pooler in transaction mode gives one of them this client's server connection. */
const probes = 4
/** A probe waits where the pool is exhausted; after this time its result is unknown, and the start continues. */
const probeTimeoutMs = 2_000

/**
 * Throws where a connection pooler assigns the server's connections per transaction (PgBouncer's pool_mode = transaction): session
 * settings such as search_path, and LISTEN, would apply to the next user of the connection. A pooler in session mode is supported.
 */
export async function assertOwnSession(client: pg.Client, url: string, name: LogicalDatabase): Promise<void> {
  const processId = await processIdOf(client)
  // A pooler sends its own process number at the start of the connection; without a pooler the two numbers are equal.
  if (processId === (client as unknown as { processID: number | null }).processID) return
  const others: pg.Client[] = []
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
      if ((await processIdOf(other)) === processId) throw refusal(name)
    }
    if ((await processIdOf(client)) !== processId) throw refusal(name)
  } catch (error) {
    if (error instanceof DatabaseStartError) throw error
    // PgBouncer's statement mode rejects transactions.
    if ((error as { code?: unknown }).code === sqlState.protocolViolation) throw refusal(name)
  } finally {
    await Promise.all(others.map((other) => other.end().catch(() => {})))
  }
}

/** The server process that runs this connection's statements at the moment. */
export async function processIdOf(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]!.pid
}

function refusal(name: LogicalDatabase): DatabaseStartError {
  return new DatabaseStartError(
    `the URL of the ${name} database leads to a connection pooler in transaction mode (such as PgBouncer's pool_mode = transaction). ` +
      'Portico needs sessions, for LISTEN and for its settings: use the address of PostgreSQL itself, or set pool_mode = session',
  )
}
