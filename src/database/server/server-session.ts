import pg from 'pg'
import { type Log, raceSignal } from '../../kernel/index.ts'
import { DatabaseError, shortMessage, sqlState, toDatabaseError } from '../database-error.ts'
import {
  createTurns,
  defaultStatementTimeoutMs,
  pastDeadline,
  runOnClient,
  type RunOptions,
  type SqlResult,
  type SqlSession,
} from '../session.ts'
import { processIdOf } from './pooler.ts'

// An unreachable server is noticed after this time; the ledger rejects calls after 5 s.
export const connectTimeoutMs = 3_000
// The server ends a late statement itself; this much later the connection is closed, because the network may be down.
const graceMs = 1_000

/** The current statement_timeout of each connection, so that it is only sent when it changes. */
const timeouts = new WeakMap<pg.ClientBase, number>()
/** The server process of each connection. The number that the driver received may be a pooler's own. */
const processIds = new WeakMap<pg.ClientBase, number>()

/** Must run once on each new connection, before its first session. */
export async function rememberProcessId(client: pg.ClientBase): Promise<void> {
  processIds.set(client, await processIdOf(client))
}

/** One connection of the pool, from checkout to release. `config` opens the extra connection that cancels a statement. */
export function createServerSession(client: pg.PoolClient, config: pg.ClientConfig, log: Log): SqlSession {
  const inTurn = createTurns()
  let running: Promise<unknown> = Promise.resolve()
  let broken = false

  function closeConnection() {
    broken = true
    void client.end().catch(() => {})
  }

  async function runNow(statement: string, parameters: Parameters<SqlSession['run']>[1], timeoutMs: number) {
    if (broken) throw new DatabaseError(sqlState.connectionLost, 'the connection to the database was closed')
    let late = false
    const timer = setTimeout(() => {
      late = true
      closeConnection()
    }, timeoutMs + graceMs)
    try {
      await setStatementTimeout(client, timeoutMs)
      return await runOnClient(client, statement, parameters)
    } catch (error) {
      const failure = toDatabaseError(error)
      // After a failed rollback the state of the connection is unknown.
      if (/^(?:08|57P|25P03)/.test(failure.code) || statement === 'rollback') broken = true
      throw late ? pastDeadline(timeoutMs) : failure
    } finally {
      clearTimeout(timer)
    }
  }

  /** Runs until the end or until `signal` aborts; an abort cancels the statement on the server. */
  async function runCancellable(run: () => Promise<SqlResult>, { signal }: RunOptions): Promise<SqlResult> {
    let cancelled: Promise<void> | undefined
    let closeTimer: NodeJS.Timeout | undefined
    const onAbort = () => {
      cancelled = cancelStatement(config, client, log)
      // A server that hangs does not handle the cancellation; the connection must not stay in use until the statement's limit.
      closeTimer = setTimeout(closeConnection, graceMs)
    }
    signal?.throwIfAborted()
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return await run()
    } finally {
      signal?.removeEventListener('abort', onAbort)
      clearTimeout(closeTimer)
      // A cancellation that arrives late must not hit the next statement of this connection.
      if (!broken) await cancelled
    }
  }

  return {
    run(statement, parameters, options) {
      const result = inTurn(() => runCancellable(() => runNow(statement, parameters, options.timeoutMs), options))
      running = result.catch(() => {})
      return raceSignal(result, options.signal)
    },
    markBroken() {
      broken = true
    },
    release() {
      void running.then(() => client.release(broken))
    },
  }
}

async function setStatementTimeout(client: pg.PoolClient, timeoutMs: number): Promise<void> {
  if ((timeouts.get(client) ?? defaultStatementTimeoutMs) === timeoutMs) return
  await runOnClient(client, `set statement_timeout = ${Math.ceil(timeoutMs)}`, [])
  timeouts.set(client, timeoutMs)
}

/** Ends, over another connection, the statement that `client` is running. */
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
