import pg from 'pg'
import { type Log, raceSignal } from '../../kernel/index.ts'
import { DatabaseError, shortMessage, sqlState, toDatabaseError } from '../database-error.ts'
import { type LocalSettings, runOnClient, runWithLocalSettings, setConfig } from '../statement.ts'
import { createTurns, pastDeadline, type RunOptions, type SqlResult, type SqlSession } from '../session.ts'
import { cancelThroughPooler, processIdOf } from './pooler.ts'

// An unreachable server is noticed after this time; the ledger rejects calls after 5 s.
export const connectTimeoutMs = 3_000
// The server ends a late statement itself; this much later the connection is closed, because the network may be down.
const graceMs = 1_000

/** The current statement_timeout of each connection, so that it is only sent when it changes. */
const timeouts = new WeakMap<pg.ClientBase, number>()
/** The server process of each connection. The number that the driver received may be a pooler's own. */
const processIds = new WeakMap<pg.ClientBase, number>()

/** Must run once on each new connection, before its first session. Rejects for a standby that is not read as a replica. */
export async function rememberProcessId(client: pg.ClientBase, isReplica: boolean): Promise<void> {
  processIds.set(client, await (isReplica ? processIdOf(client) : processIdOfPrimary(client)))
}

export interface ServerSessionOptions {
  client: pg.PoolClient
  /** Opens the extra connection that cancels a statement. */
  config: pg.ClientConfig
  /** Behind a pooler in transaction mode. */
  localSettings?: LocalSettings | undefined
  /** The statement_timeout of a new connection. */
  firstTimeoutMs: number
  /** The connection is free. */
  onReleased(): void
  log: Log
}

/** One connection of the pool, from checkout to release. */
export function createServerSession({ client, config, localSettings, ...options }: ServerSessionOptions): SqlSession {
  const { log, firstTimeoutMs } = options
  const inTurn = createTurns()
  const runOn = localSettings ? createPooledRun(client, localSettings) : createOwnRun(client, firstTimeoutMs)
  let running: Promise<unknown> = Promise.resolve()
  let broken = false

  function closeConnection() {
    broken = true
    void client.end().catch(() => {})
  }

  async function runNow(
    statement: string,
    parameters: Parameters<SqlSession['run']>[1],
    { timeoutMs, settings, prepared }: RunOptions,
  ) {
    if (broken) throw new DatabaseError(sqlState.connectionLost, 'the connection to the database was closed')
    let late = false
    const timer = setTimeout(() => {
      late = true
      closeConnection()
    }, timeoutMs + graceMs)
    try {
      return await runOn(statement, parameters, { timeoutMs, settings, prepared })
    } catch (error) {
      const failure = toDatabaseError(error)
      // After a failed rollback the state of the connection is unknown. 25006: the server has become a standby, another one is the primary.
      if (/^(?:08|57P|25P03|25006)/.test(failure.code) || statement === 'rollback') broken = true
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
      const cancelling = localSettings ? cancelThroughPooler(client, connectTimeoutMs) : cancelStatement(config, client)
      cancelled = cancelling.catch((error: unknown) =>
        log.warn({ reason: shortMessage(error) }, 'a statement could not be cancelled'),
      )
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
      const result = inTurn(() => runCancellable(() => runNow(statement, parameters, options), options))
      running = result.catch(() => {})
      return raceSignal(result, options.signal)
    },
    markBroken() {
      broken = true
    },
    release() {
      void running.then(() => {
        client.release(broken)
        options.onReleased()
      })
    },
  }
}

type Run = (
  statement: string,
  parameters: Parameters<SqlSession['run']>[1],
  options: Pick<RunOptions, 'timeoutMs' | 'settings' | 'prepared'>,
) => Promise<SqlResult>

function runWith(
  client: pg.PoolClient,
  statement: string,
  parameters: Parameters<SqlSession['run']>[1],
  { settings, prepared }: Pick<RunOptions, 'settings' | 'prepared'>,
): Promise<SqlResult> {
  return settings
    ? runWithLocalSettings(client, setConfig(settings, true), statement, parameters)
    : runOnClient(client, statement, parameters, { prepared })
}

/** Runs statements on a connection that keeps its settings. */
function createOwnRun(client: pg.PoolClient, firstTimeoutMs: number): Run {
  return async (statement, parameters, { timeoutMs, settings, prepared }) => {
    // After a failed statement a transaction accepts nothing but its rollback.
    const isChanged = statement !== 'rollback' && (timeouts.get(client) ?? firstTimeoutMs) !== timeoutMs
    if (isChanged) {
      await runOnClient(client, `set statement_timeout = ${Math.ceil(timeoutMs)}`, [])
      timeouts.set(client, timeoutMs)
    }
    return runWith(client, statement, parameters, { settings, prepared })
  }
}

/** Runs statements on a connection that another client may get after each transaction: none is prepared. */
function createPooledRun(client: pg.PoolClient, localSettings: LocalSettings): Run {
  let transactionTimeoutMs: number | undefined
  return async (statement, parameters, { timeoutMs, settings }) => {
    if (statement === 'begin') {
      transactionTimeoutMs = timeoutMs
      return runOnClient(client, `begin; ${localSettings.ofTransaction(timeoutMs)}`, null)
    }
    if (transactionTimeoutMs === undefined) {
      return runWithLocalSettings(client, localSettings.ofStatement(timeoutMs, settings), statement, parameters)
    }
    const isEnd = statement === 'commit' || statement === 'rollback'
    if (isEnd) transactionTimeoutMs = undefined
    else if (timeoutMs !== transactionTimeoutMs) {
      await runOnClient(client, `set local statement_timeout = ${Math.ceil(timeoutMs)}`, [])
      transactionTimeoutMs = timeoutMs
    }
    return runWith(client, statement, parameters, { settings })
  }
}

/** Ends, over another connection, the statement that `client` is running. */
async function cancelStatement(config: pg.ClientConfig, client: pg.PoolClient): Promise<void> {
  const other = new pg.Client({ ...config, query_timeout: connectTimeoutMs })
  other.on('error', () => {})
  try {
    await other.connect()
    await other.query('select pg_cancel_backend($1)', [processIds.get(client)])
  } finally {
    await other.end().catch(() => {})
  }
}

/** The server process of a connection. Throws where it leads to a standby, which writes nothing and may answer from the past. */
export async function processIdOfPrimary(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number; isStandby: boolean }>(
    'select pg_backend_pid() as pid, pg_is_in_recovery() as "isStandby"',
  )
  if (rows[0]!.isStandby) throw new DatabaseError(sqlState.readOnly, 'the server is a standby and not the primary')
  return rows[0]!.pid
}
