import pg from 'pg'
import { toDatabaseError } from '../database-error.ts'
import type { SqlValue } from '../port.ts'
import { queryOf, resultOf, type SqlResult } from '../session.ts'

/** SQL that makes all settings until the end of the transaction. */
export interface LocalSettings {
  /** One statement, for a statement outside of a transaction. */
  ofStatement(timeoutMs: number): string
  /** After `begin`. */
  ofTransaction(timeoutMs: number): string
}

/**
 * Statements behind a pooler in transaction mode. Any client may get the connection after the transaction, so settings must end with it: a
 * statement outside of a transaction is sent together with the settings, before one Sync message. PostgreSQL runs what precedes a Sync as one
 * transaction, so this takes no further round trip.
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
