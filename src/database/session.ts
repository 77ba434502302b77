import type pg from 'pg'
import { DatabaseError, sqlState, toDatabaseError } from './database-error.ts'
import type { QueryOptions, SqlValue } from './port.ts'
import { toParameter, valueTypes } from './values.ts'

/** Longest run of a statement that names no limit of its own. */
export const defaultStatementTimeoutMs = 30_000
/** Most statements and transactions that wait for a connection; beyond it they are refused instead of piling up. */
export const maximumWaiting = 10_000

export interface SqlResult {
  rows: unknown[]
  /** Rows touched or returned, from the command tag. */
  count: number
  command: string
}

export interface RunOptions {
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** One connection, lent to one statement or one transaction. */
export interface SqlSession {
  /** Runs one statement; `parameters: null` runs a script of several. Calls are served one after the other. */
  run(statement: string, parameters: readonly SqlValue[] | null, options: RunOptions): Promise<SqlResult>
  /** Says that the state of the connection is unknown, so that nobody gets it again. */
  markBroken(): void
  /** Gives the connection back. */
  release(): void
}

/** Where sessions come from: the one connection of the embedded engine, or the pool of a server. */
export interface SessionSource {
  acquire(options?: Pick<QueryOptions, 'signal' | 'background'>): Promise<SqlSession>
  listen(channel: string, onNotification: (payload: string) => void): Promise<() => Promise<void>>
  onReconnect(callback: () => void): void
  close(): Promise<void>
}

export function connectionLost(detail: string): DatabaseError {
  return new DatabaseError(sqlState.connectionLost, `the connection to the database was lost: ${detail}`)
}

export function pastDeadline(timeoutMs: number): DatabaseError {
  return new DatabaseError(sqlState.cancelled, `the statement ran longer than ${timeoutMs} ms and was ended`)
}

export function tooManyWaiting(): DatabaseError {
  return new DatabaseError(
    sqlState.tooManyWaiting,
    `more than ${maximumWaiting} statements wait for a database connection`,
  )
}

// `queryMode` is read by pg's Query but missing in its types; without it a statement with no parameters would go by the
// simple protocol, which takes several statements in one text.
type ExtendedQuery = pg.QueryConfig & { queryMode?: 'extended' }

/** Sends one statement on a client that is idle; every failure comes as a DatabaseError. */
export async function runOnClient(
  client: pg.ClientBase,
  statement: string,
  parameters: readonly SqlValue[] | null,
): Promise<SqlResult> {
  const query: ExtendedQuery = { text: statement, types: valueTypes }
  if (parameters !== null) {
    query.values = parameters.map(toParameter)
    query.queryMode = 'extended'
  }
  try {
    const result = (await client.query(query)) as pg.QueryResult | pg.QueryResult[]
    const last = Array.isArray(result) ? result.at(-1) : result
    return { rows: last?.rows ?? [], count: last?.rowCount ?? 0, command: last?.command ?? '' }
  } catch (error) {
    throw toDatabaseError(error)
  }
}

/** Makes calls wait for each other, in the order in which they came. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work, work)
    last = turn
    return turn
  }
}
