import pg from 'pg'
import { DatabaseError, sqlState, toDatabaseError } from './database-error.ts'
import type { QueryOptions, SqlValue } from './port.ts'

/** Longest duration of a statement without a specific limit. */
export const defaultStatementTimeoutMs = 30_000
/** Bounds on the use of a database server; the defaults of the configuration. */
export const defaultLimits = {
  maximumConnections: 10,
  connectionWaitMs: 10_000,
  statementTimeoutMs: defaultStatementTimeoutMs,
  backgroundStatementTimeoutMs: 120_000,
  lockTimeoutMs: 10_000,
  replicaWaitMs: 250,
}
export type ServerLimits = typeof defaultLimits

/** Most statements and transactions that wait for a connection; further ones are rejected. */
export const maximumWaiting = 10_000

export interface SqlResult {
  rows: unknown[]
  /** Affected or returned rows, from the command tag. */
  count: number
  command: string
}

export interface RunOptions {
  timeoutMs: number
  signal?: AbortSignal | undefined
  prepared?: boolean | undefined
  settings?: QueryOptions['settings']
}

/** One connection, reserved for one statement or one transaction. */
export interface SqlSession {
  /** Runs one statement, or a script of several where `parameters` is null. Calls run one after the other. */
  run(statement: string, parameters: readonly SqlValue[] | null, options: RunOptions): Promise<SqlResult>
  /** Marks the connection as unusable because its state is unknown; no later session receives it. */
  markBroken(): void
  /** Returns the connection after the running statement. */
  release(): void
}

/** Provides sessions: on the one connection of the embedded engine, or from the pool of a server. */
export interface SessionSource {
  /** `owner`: whose turn it takes. */
  acquire(owner: string, options?: Pick<QueryOptions, 'signal' | 'background' | 'direct'>): Promise<SqlSession>
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

export function noFreeConnection(waitMs: number): DatabaseError {
  return new DatabaseError(sqlState.tooManyWaiting, `no database connection became free within ${waitMs} ms`)
}

export function tooManyWaiting(): DatabaseError {
  return new DatabaseError(
    sqlState.tooManyWaiting,
    `more than ${maximumWaiting} statements wait for a database connection`,
  )
}

// pg's Query reads `queryMode`, which is missing in its types. Without it, pg sends a statement without parameters by the simple
// protocol, which accepts several statements in one text.
type ExtendedQuery = pg.QueryConfig & { queryMode?: 'extended' }

/** Names of prepared statements, by their text. */
const preparedNames = new Map<string, string>()

function nameOf(statement: string): string {
  const known = preparedNames.get(statement)
  if (known !== undefined) return known
  const name = `portico_${preparedNames.size + 1}`
  preparedNames.set(statement, name)
  return name
}

/** Runs one statement on an idle client; `prepared`: parses and plans it once for this client. Throws DatabaseError only. */
export async function runOnClient(
  client: pg.ClientBase,
  statement: string,
  parameters: readonly SqlValue[] | null,
  { prepared = false }: { prepared?: boolean | undefined } = {},
): Promise<SqlResult> {
  const query = queryOf(statement, parameters)
  if (prepared) query.name = nameOf(statement)
  try {
    return resultOf((await client.query(query)) as pg.QueryResult | pg.QueryResult[])
  } catch (error) {
    throw toDatabaseError(error)
  }
}

/** The driver's form of a statement; `parameters` null: a script of several. */
export function queryOf(statement: string, parameters: readonly SqlValue[] | null): ExtendedQuery {
  const query: ExtendedQuery = { text: statement, types: valueTypes }
  if (parameters !== null) {
    query.values = parameters.map(toParameter)
    query.queryMode = 'extended'
  }
  return query
}

/** The result of the last statement. */
export function resultOf(result: pg.QueryResult | pg.QueryResult[]): SqlResult {
  const last = Array.isArray(result) ? result.at(-1) : result
  return { rows: last?.rows ?? [], count: last?.rowCount ?? 0, command: last?.command ?? '' }
}

/** Runs calls one after the other, in the order of the calls. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work, work)
    last = turn
    return turn
  }
}

/** Conversion of values. Both engines use PostgreSQL's protocol, so one table of types is enough. */

type Parse = (text: string) => unknown

const parseTimestamp = pg.types.getTypeParser(1184) as Parse
// text[]; the driver's table of oids has no names for arrays.
const parseTextArray = pg.types.getTypeParser(1009 as typeof pg.types.builtins.TEXT) as Parse
const asText: Parse = (text) => text

// Keys are the oids of pg_type.dat, which do not change.
const scalarParsers: Record<number, Parse> = {
  16: (text) => text === 't', // bool
  17: (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex')), // bytea, always \x…
  20: BigInt, // int8
  21: Number, // int2
  23: Number, // int4
  26: Number, // oid
  700: Number, // float4
  701: Number, // float8
  114: (text) => JSON.parse(text) as unknown, // json
  3802: (text) => JSON.parse(text) as unknown, // jsonb
  1184: parseTimestamp, // timestamptz
}

const elementOfArray: Record<number, number> = {
  1000: 16,
  1001: 17,
  1016: 20,
  1005: 21,
  1007: 23,
  1028: 26,
  1021: 700,
  1022: 701,
  199: 114,
  3807: 3802,
  1185: 1184,
  // Arrays of texts: name, text, bpchar, varchar, numeric, uuid, date, timestamp.
  1003: 25,
  1009: 25,
  1014: 25,
  1015: 25,
  1231: 25,
  2951: 25,
  1182: 25,
  1115: 25,
}

function mapElements(values: unknown, parse: Parse): unknown {
  if (Array.isArray(values)) return values.map((value) => mapElements(value, parse))
  return typeof values === 'string' ? parse(values) : null
}

function parserOf(oid: number): Parse {
  const scalar = scalarParsers[oid]
  if (scalar) return scalar
  const element = elementOfArray[oid]
  if (element === undefined) return asText
  const parse = scalarParsers[element] ?? asText
  return (text) => mapElements(parseTextArray(text), parse)
}

const parsers = new Map<number, Parse>()

/** Type parsers, passed with each query, so that other uses of `pg` in this process are not affected. */
const valueTypes = {
  getTypeParser(oid: number): Parse {
    let parser = parsers.get(oid)
    if (!parser) {
      parser = parserOf(oid)
      parsers.set(oid, parser)
    }
    return parser
  },
} as unknown as pg.CustomTypesConfig

/** A parameter for the driver. Dates become UTC text, because the driver's text has the process's time zone. */
function toParameter(value: SqlValue, index: number): unknown {
  if (value === undefined) throw new DatabaseError('22023', `parameter $${index + 1} is undefined`)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map((item: SqlValue) => (item instanceof Date ? item.toISOString() : item))
  return value
}
