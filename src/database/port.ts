/**
 * The one door to SQL. Two engines stand behind it, embedded PGlite and a PostgreSQL server, and speak one dialect:
 * PostgreSQL with pgvector. Stores write visible SQL with bound parameters ($1, $2 …) that runs on both.
 *
 * Values come back the same from both: int2/int4/float → number, int8 → bigint, numeric → string, bool → boolean,
 * timestamptz → Date, json/jsonb → parsed, bytea → Uint8Array, uuid/text → string, arrays → arrays of these, NULL → null.
 * Parameters go in as the same types; json is passed as text (`JSON.stringify`) and cast (`$1::jsonb`), vectors as the bytes
 * that `encodeVector` makes (text vectors are 5 to 20 times slower).
 */

export type SqlValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Date
  | Uint8Array
  | readonly (string | number | bigint | boolean | null | Date | Uint8Array)[]

export interface QueryOptions {
  /** Ends the wait; the statement is cancelled where the engine can (server) or its result is dropped (embedded). */
  signal?: AbortSignal
  /** Longest run of this statement; default `defaultStatementTimeoutMs`. */
  timeoutMs?: number
  /** Nobody waits for it: what somebody waits for goes first on the embedded engine's one connection. */
  background?: boolean
}

export interface Queryable {
  /** Runs one statement and returns its rows. */
  query<Row = Record<string, unknown>>(
    statement: string,
    parameters?: readonly SqlValue[],
    options?: QueryOptions,
  ): Promise<Row[]>
  /** Runs one statement and returns the number of rows it touched. */
  execute(statement: string, parameters?: readonly SqlValue[], options?: QueryOptions): Promise<number>
}

export interface DatabaseFeatures {
  /** pg_textsearch is there: BM25 indexes can be used. */
  bm25: boolean
  serverVersion: string
}

/** One logical database (control or corpus). */
export interface Database extends Queryable {
  readonly name: LogicalDatabase
  readonly engine: 'embedded' | 'postgres'
  readonly features: DatabaseFeatures
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. Serialization failures and
   * deadlocks are retried up to `maximumTransactionAttempts` times, so `work` must be repeatable.
   */
  transaction<T>(work: (transaction: Queryable) => Promise<T>, options?: QueryOptions): Promise<T>
  /** Calls `onNotification` for each NOTIFY on the channel, also those of this process. Resolves to a function that stops it. */
  listen(channel: string, onNotification: (payload: string) => void): Promise<() => Promise<void>>
  /** Called after a lost LISTEN connection is back: notifications may have been missed. */
  onReconnect(callback: () => void): void
  /** Waits for running statements, then closes. Idempotent. */
  close(): Promise<void>
}

/**
 * control: organisations, keys, ledger, usage, Spaces. corpus: documents, chunks, vectors, their jobs.
 * No join and no transaction crosses the two.
 */
export type LogicalDatabase = 'control' | 'corpus'

export interface Databases {
  control: Database
  corpus: Database
  close(): Promise<void>
}
