import pg from 'pg'
import { DatabaseError, toDatabaseError } from './database-error.ts'
import type { SqlValue } from './port.ts'
import type { SqlResult } from './session.ts'

/** Statements, their parameters and the values of their rows in PostgreSQL's protocol, which both engines use. */

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

/** SQL that makes all settings until the end of the transaction. */
export interface LocalSettings {
  /** One statement, for a statement outside of a transaction; with settings of that statement alone. */
  ofStatement(timeoutMs: number, own?: Readonly<Record<string, string>>): string
  /** After `begin`. */
  ofTransaction(timeoutMs: number): string
}

/** The statement that makes the settings, for the transaction or for the session. */
export function setConfig(settings: Readonly<Record<string, string>>, isLocal: boolean): string {
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, ${isLocal})`,
  )
  return `select ${calls.join(', ')}`
}

/**
 * A statement with settings that end with its transaction. Outside of a transaction both are sent before one Sync message: PostgreSQL runs what
 * precedes a Sync as one transaction, so this takes no further round trip. Behind a pooler in transaction mode all settings are made so, because
 * any client may get the connection afterwards.
 */
export async function runWithLocalSettings(
  client: pg.ClientBase,
  settings: string,
  statement: string,
  parameters: readonly SqlValue[] | null,
): Promise<SqlResult> {
  try {
    // The simple protocol runs a script as one transaction as well.
    if (parameters === null) return resultOf(await client.query(queryOf(`${settings}; ${statement}`, null)))
    const query = new QueryWithSettings(queryOf(statement, parameters))
    query.settings = settings
    return resultOf(
      await new Promise<pg.QueryResult>((resolve, reject) => {
        query.callback = (error, result) => (error ? reject(error) : resolve(result!))
        client.query(query as unknown as pg.Submittable)
      }),
    )
  } catch (error) {
    throw toDatabaseError(error)
  }
}

/** The parts of the driver's query and connection that its types do not have. */
interface DriverConnection {
  parse(message: { text: string; name: string; types: never[] }): void
  bind(message: { portal: string; statement: string; values: never[] }): void
  execute(message: { portal: string }): void
}
interface DriverQuery {
  callback?: (error: Error | null, result?: pg.QueryResult) => void
  prepare(connection: DriverConnection): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: DriverConnection): void
}
const DriverQuery = pg.Query as unknown as new (config: pg.QueryConfig) => DriverQuery

/** Sends the settings before the statement and drops their result. */
class QueryWithSettings extends DriverQuery {
  settings = ''
  private hasSettings = false

  override prepare(connection: DriverConnection): void {
    connection.parse({ text: this.settings, name: '', types: [] })
    connection.bind({ portal: '', statement: '', values: [] })
    connection.execute({ portal: '' })
    super.prepare(connection)
  }

  override handleDataRow(message: unknown): void {
    if (this.hasSettings) super.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, connection: DriverConnection): void {
    if (this.hasSettings) super.handleCommandComplete(message, connection)
    this.hasSettings = true
  }
}

/** Binary formats of pgvector (vector.c `vector_recv`, halfvec.c `halfvec_recv`): dimensions, zero, then the values. Below, that of arrays. */

const headerBytes = 4

/** The binary form of a `vector` parameter (`$1::vector`): 4 bytes a dimension, big-endian. */
export function encodeVector(values: ArrayLike<number>): Uint8Array {
  // A separate buffer, not from Node's shared pool, so that it can be transferred to another thread.
  const bytes = Buffer.allocUnsafeSlow(headerBytes + values.length * 4)
  bytes.writeUInt16BE(values.length, 0)
  bytes.writeUInt16BE(0, 2)
  for (let index = 0; index < values.length; index++) bytes.writeFloatBE(values[index]!, headerBytes + index * 4)
  return bytes
}

/** The binary form of a `halfvec` parameter (`$1::halfvec`): 2 bytes a dimension, big-endian IEEE 754 binary16. */
export function encodeHalfVector(values: ArrayLike<number>): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(headerBytes + values.length * 2)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  view.setUint16(0, values.length)
  view.setUint16(2, 0)
  for (let index = 0; index < values.length; index++) view.setFloat16(headerBytes + index * 2, values[index]!)
  return bytes
}

/** What `vector_send` returns: the form of `encodeVector`. */
export function decodeVector(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Float32Array.from({ length: view.getInt16(0) }, (_, index) => view.getFloat32(headerBytes + index * 4))
}

/** What `array_send` returns for an int[] (arrayfuncs.c): a head of 20 bytes, then length and value of each. */
export function decodeIntegers(bytes: Uint8Array): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isEmpty = view.getInt32(0) === 0
  const count = isEmpty ? 0 : view.getInt32(12)
  return Int32Array.from({ length: count }, (_, index) => view.getInt32(24 + index * 8))
}
