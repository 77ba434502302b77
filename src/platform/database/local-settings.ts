import pg from 'pg'
import { toDatabaseError } from './database-error.ts'
import type { SqlValue } from './port.ts'
import { queryOf, resultOf, type SqlResult } from './session.ts'

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
