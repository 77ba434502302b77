import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError, isRetryable, sqlState } from './database-error.ts'
import type {
  Database,
  DatabaseFeatures,
  LogicalDatabase,
  OwnedDatabase,
  Queryable,
  QueryOptions,
  SqlValue,
} from './port.ts'
import type { Replica } from './server/replica.ts'
import {
  createTurns,
  defaultStatementTimeoutMs,
  type RunOptions,
  type ServerLimits,
  type SessionSource,
  type SqlResult,
  type SqlSession,
} from './session.ts'

/** Most attempts of one transaction that fails with serialization failures or deadlocks. */
export const maximumTransactionAttempts = 5
/** Longest duration of one transaction, including the time between its statements: on the embedded engine all others wait for it. */
export const maximumTransactionMs = 120_000
const retryBaseMs = 10

export interface DatabaseParts {
  name: LogicalDatabase
  engine: Database['engine']
  features: DatabaseFeatures
  source: SessionSource
  /** Longest durations of statements without a specific limit. */
  limits?: Pick<ServerLimits, 'statementTimeoutMs' | 'backgroundStatementTimeoutMs'> | undefined
  startCopy?: Database['startCopy']
  replica?: Replica | undefined
}

/** Implements the port over a source of sessions, the same for both engines. */
export function createDatabase(parts: DatabaseParts): Database {
  const { name, engine, features, source, limits, startCopy, replica } = parts
  // The transaction that the calling code is inside of. Another statement through the port would wait for that transaction
  // forever: it holds the only connection of the embedded engine, and perhaps the last one of a pool.
  const openTransaction: OpenTransaction = new AsyncLocalStorage()
  let closing: Promise<void> | undefined
  const withDefaults: WithDefaults = ({ signal, prepared, settings, background, ...options }) => {
    const usualMs = background ? limits?.backgroundStatementTimeoutMs : limits?.statementTimeoutMs
    return { timeoutMs: options.timeoutMs ?? usualMs ?? defaultStatementTimeoutMs, signal, prepared, settings }
  }

  async function withSession<T>(
    owner: string,
    options: QueryOptions,
    use: (session: SqlSession) => Promise<T>,
  ): Promise<T> {
    if (openTransaction.getStore()?.open) {
      throw new DatabaseError(
        sqlState.internal,
        `a statement inside a transaction of ${name} was sent to the database instead of the transaction: it would wait for itself`,
      )
    }
    if (closing) throw new DatabaseError(sqlState.connectionLost, `the ${name} database is closed`)
    const session = await source.acquire(owner, options).catch((error: unknown) => {
      // Another one: the same error may be that of a statement that was running.
      throw error instanceof DatabaseError ? new DatabaseError(error.code, error.message, { isUnsent: true }) : error
    })
    try {
      return await use(session)
    } finally {
      session.release()
    }
  }

  function runOnce(
    owner: string,
    statement: string,
    parameters: readonly SqlValue[],
    options: QueryOptions,
  ): Promise<SqlResult> {
    return withSession(owner, options, (session) => session.run(statement, parameters, withDefaults(options)))
  }

  const ownedBy = (owner: string): OwnedDatabase => ({
    name,
    engine,
    features,
    async query<Row>(statement: string, parameters: readonly SqlValue[] = [], options: QueryOptions = {}) {
      return (await runOnce(owner, statement, parameters, options)).rows as Row[]
    },
    async execute(statement, parameters = [], options = {}) {
      return (await runOnce(owner, statement, parameters, options)).count
    },
    async transaction(work, options = {}) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await withSession(owner, options, (session) =>
            runTransaction(session, work, { options, withDefaults, openTransaction }),
          )
        } catch (error) {
          if (!isRetryable(error) || attempt >= maximumTransactionAttempts) throw error
          // Random, so that two transactions that conflicted do not conflict again.
          await delay(Math.random() * retryBaseMs * 2 ** attempt)
        }
      }
    },
  })
  return {
    name,
    engine,
    features,
    for: ownedBy,
    reading: async (owner, options) => replica?.reading(owner, ownedBy(owner), options) ?? ownedBy(owner),
    listen: (channel, onNotification) => source.listen(channel, onNotification),
    onReconnect: (callback) => source.onReconnect(callback),
    ...(startCopy && { startCopy }),
    close: () => (closing ??= Promise.all([source.close(), replica?.close()]).then(() => {})),
  }
}

type OpenTransaction = AsyncLocalStorage<{ open: boolean }>
type WithDefaults = (options: QueryOptions) => RunOptions

interface TransactionContext {
  options: QueryOptions
  withDefaults: WithDefaults
  openTransaction: OpenTransaction
}

/** One attempt: begin, `work`, commit; a rollback where any of these fails. */
async function runTransaction<T>(
  session: SqlSession,
  work: (transaction: Queryable) => Promise<T>,
  { options, withDefaults, openTransaction }: TransactionContext,
): Promise<T> {
  const state = { open: true }
  const deadline = transactionDeadline()
  try {
    // `begin` is in the try block: where its wait was aborted, it may still take effect and must be rolled back.
    await session.run('begin', [], withDefaults(options))
    const handle = queryableOn(session, state, (own) => withDefaults({ ...options, ...own }))
    const value = await Promise.race([openTransaction.run(state, () => work(handle)), deadline.passed])
    state.open = false
    const commit = await session.run('commit', [], withDefaults({}))
    // PostgreSQL answers COMMIT with ROLLBACK where a statement failed and `work` ignored its error.
    if (commit.command === 'ROLLBACK') {
      throw new DatabaseError(sqlState.transactionFailed, 'a statement of the transaction had failed: rolled back')
    }
    return value
  } catch (error) {
    state.open = false
    const rolledBack = session.run('rollback', [], withDefaults({})).catch(() => session.markBroken())
    // An aborted caller does not wait for a server that may hang. The session itself is released only after the rollback.
    if (!options.signal?.aborted) await rolledBack
    throw error
  } finally {
    deadline.clear()
  }
}

function queryableOn(session: SqlSession, state: { open: boolean }, withDefaults: WithDefaults): Queryable {
  const inTurn = createTurns()
  function run(statement: string, parameters: readonly SqlValue[], options: QueryOptions): Promise<SqlResult> {
    return inTurn(() => {
      if (!state.open) throw new DatabaseError(sqlState.transactionFailed, 'the transaction has already ended')
      return session.run(statement, parameters, withDefaults(options))
    })
  }
  return {
    async query<Row>(statement: string, parameters: readonly SqlValue[] = [], options: QueryOptions = {}) {
      return (await run(statement, parameters, options)).rows as Row[]
    },
    async execute(statement, parameters = [], options = {}) {
      return (await run(statement, parameters, options)).count
    },
  }
}

function transactionDeadline(): { passed: Promise<never>; clear(): void } {
  const { promise, reject } = Promise.withResolvers<never>()
  // Real time, not the service's clock: a test's clock must not stop it.
  const timer = setTimeout(
    () =>
      reject(
        new DatabaseError(sqlState.cancelled, `the transaction was open for more than ${maximumTransactionMs} ms`),
      ),
    maximumTransactionMs,
  )
  promise.catch(() => {})
  return { passed: promise, clear: () => clearTimeout(timer) }
}
