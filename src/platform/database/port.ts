/**
 * The only access to SQL. It has two engines, embedded PGlite and a PostgreSQL server, with one dialect: PostgreSQL with pgvector.
 * Stores write visible SQL with bound parameters ($1, $2 …) that runs on both.
 *
 * Both return the same values: int2/int4/float → number, int8 → bigint, numeric → string, bool → boolean,
 * timestamptz → Date, json/jsonb → parsed, bytea → Uint8Array, uuid/text → string, arrays → arrays of these, NULL → null.
 * Parameters have the same types. JSON is passed as text (`JSON.stringify`) with a cast (`$1::jsonb`), a vector as the bytes of
 * `encodeVector` (text vectors are 5 to 20 times slower).
 */

export type SqlScalar = string | number | bigint | boolean | null | Date | Uint8Array
export type SqlValue = SqlScalar | readonly SqlScalar[]

export interface QueryOptions {
  /** Ends the wait. A server cancels the statement; the embedded engine finishes it and its result is dropped. */
  signal?: AbortSignal
  /** Longest duration of each statement; default `defaultStatementTimeoutMs`. */
  timeoutMs?: number
  /** No request waits for it: on the embedded engine's one connection it lets other statements run first. */
  background?: boolean
  /**
   * The statement cannot run in a transaction, such as `create index concurrently`: behind a pooler in transaction mode it goes to the server
   * itself. Not for transactions.
   */
  direct?: boolean
  /**
   * The statement is planned once for each connection, which else takes most of the time of a lookup by key. For statements of a hot path,
   * with a constant text and one good plan whatever the parameters. Ignored behind a pooler in transaction mode and next to `settings`.
   */
  prepared?: boolean
  /** Settings of PostgreSQL for this statement, sent together with it; in a transaction they last until its end. */
  settings?: Readonly<Record<string, string>> | undefined
}

export interface Queryable {
  /** Runs one statement and returns its rows. */
  query<Row = Record<string, unknown>>(
    statement: string,
    parameters?: readonly SqlValue[],
    options?: QueryOptions,
  ): Promise<Row[]>
  /** Runs one statement and returns the number of affected rows. */
  execute(statement: string, parameters?: readonly SqlValue[], options?: QueryOptions): Promise<number>
}

export interface DatabaseFeatures {
  /** pg_textsearch is installed: BM25 indexes can be used. */
  bm25: boolean
  serverVersion: string
  /** Most connections of all clients with this user and database. */
  acceptedConnections: number
}

interface DatabaseFacts {
  readonly name: LogicalDatabase
  readonly engine: 'embedded' | 'postgres'
  readonly features: DatabaseFeatures
}

/** One logical database (control or corpus). It runs statements only for an owner, so that none can forget whose turns it takes. */
export interface Database extends DatabaseFacts {
  /** `owner`: an organisation, a person where it concerns several, or `sharedOwner`: work for all, which takes turns like one more organisation. */
  for(owner: string): OwnedDatabase
  /**
   * For reports and searches: its queries run on a replica that has everything that was committed before this call, or on the primary. The two
   * may alternate.
   */
  reading(owner: string, options?: Pick<QueryOptions, 'signal'>): Promise<OwnedDatabase>
  /** Calls `onNotification` for each NOTIFY on the channel, including those of this process. Resolves to a function that stops it. */
  listen(channel: string, onNotification: (payload: string) => void): Promise<() => Promise<void>>
  /** Calls `callback` after a lost LISTEN connection was replaced: notifications may have been missed. */
  onReconnect(callback: () => void): void
  /** Begins a copy of the files of an embedded database, which stays in use. One at a time; a server has none. */
  startCopy?(): Promise<DatabaseCopy>
  /** Waits for running statements, then closes. Can be called repeatedly. */
  close(): Promise<void>
}

/** A database for the statements of one owner, whose turns they take at the connections. */
export interface OwnedDatabase extends DatabaseFacts, Queryable {
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. Serialization failures and
   * deadlocks are retried, with at most `maximumTransactionAttempts` attempts, so `work` must be repeatable.
   */
  transaction<T>(work: (transaction: Queryable) => Promise<T>, options?: QueryOptions): Promise<T>
}

/** Stores over one database: the one whose statements take the turns of this owner. */
export type StoreOf<Store> = (owner: string) => Store

/** A copy of an embedded database under way: read `entries`, then `pause` and `end`, read the log, then `close`. */
export interface DatabaseCopy {
  readonly folder: string
  /** Names of its migrations, oldest first. */
  readonly schema: readonly string[]
  /** Files may change, shrink and vanish while they are read; the log repairs them. */
  entries(): AsyncIterable<CopiedEntry>
  /** Waits for the running statement or transaction. No other one runs until `release`, which must be called soon. */
  pause(signal: AbortSignal): Promise<PausedDatabase>
  /** Ends the copy where that has not happened. The log may be removed from then on. */
  close(): Promise<void>
}

export interface CopiedEntry {
  /** Relative to the folder, with `/`. */
  path: string
  kind: 'file' | 'folder'
}

export interface PausedDatabase {
  /** Ends the copy at this moment: it has every earlier commit and no later one. */
  end(): Promise<{
    /** Small files as of this moment. */
    contents: { path: string; bytes: Uint8Array }[]
    /** Files of the log, which do not change any more and exist until `close`. */
    log: string[]
  }>
  release(): void
}

/**
 * control: organisations, keys, ledger, usage, Spaces. corpus: documents, chunks, vectors, their jobs.
 * No join and no transaction spans the two.
 */
export type LogicalDatabase = 'control' | 'corpus'

export interface Databases {
  control: Database
  corpus: Database
  close(): Promise<void>
}
