import {
  DatabaseError,
  type Databases,
  openDatabases,
  type OwnedDatabase,
  type Queryable,
} from '../../src/platform/database/index.ts'
import { silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import { type DatabasePlace, emptyFolder, freshDatabasePlace, runFolderVariable } from './database-place.ts'
import { bothWithStatements, type TestDatabase } from './statements.ts'

/**
 * Databases that stay open between the test files of one worker: opening a pair takes more than a second of processor time, of this process
 * or of the server, restoring one to its first state some tens of milliseconds. A pair whose schema a test has changed is closed.
 */

export interface LentDatabases extends TestPair, Pick<Databases, 'close'> {
  /** For a service over them. Its folder is removed by its `remove`, the databases are not. */
  place: DatabasePlace
}

interface TestPair {
  control: TestDatabase
  corpus: TestDatabase
}

interface Pair {
  databases: Databases & TestPair
  initial: { control: InitialState; corpus: InitialState }
  place: DatabasePlace
}

interface InitialState {
  schema: string
  tables: string[]
  /** Rows that migrations wrote, as JSON, by table. */
  rows: Map<string, string>
}

const idle: Pair[] = []
/** Outside of vitest nothing would close them at the end. */
const keepsOpen = process.env[runFolderVariable] !== undefined
const names = ['control', 'corpus'] as const

/** A pair with all migrations and no other rows, until `close`. */
export async function lendDatabases(): Promise<LentDatabases> {
  const pair = idle.pop() ?? (await openPair())
  const control = lend(pair.databases.control)
  const corpus = lend(pair.databases.corpus)
  let closing: Promise<void> | undefined
  return {
    control: control.database,
    corpus: corpus.database,
    place: { ...pair.place, ...emptyFolder() },
    close: () =>
      (closing ??= (async () => {
        await Promise.all([control.revoke(), corpus.revoke()])
        await takeBack(pair)
      })()),
  }
}

async function openPair(): Promise<Pair> {
  const place = await freshDatabasePlace()
  const databases = bothWithStatements(await openDatabases({ ...place, clock: systemClock, log: silentLog }))
  const [control, corpus] = await Promise.all(names.map((name) => readInitialState(databases[name])))
  return { databases, place, initial: { control: control!, corpus: corpus! } }
}

async function takeBack(pair: Pair): Promise<void> {
  try {
    // A server has both in one catalogue.
    await Promise.all(names.map((name) => dropAddedTables(pair.databases[name], pair.initial[name])))
    const isRestored = await Promise.all(names.map((name) => restore(pair.databases[name], pair.initial[name])))
    if (keepsOpen && isRestored.every(Boolean)) {
      idle.push(pair)
      return
    }
  } catch {
    // Its connection is broken on purpose.
  }
  await pair.databases.close().catch(() => {})
  await pair.place.remove()
}

/** The same database for one borrower: `revoke` waits for its statements, rejects further ones and ends its notifications. */
function lend(database: TestDatabase): { database: TestDatabase; revoke(): Promise<void> } {
  let isOpen = true
  const running = new Set<Promise<unknown>>()
  const stops: (() => Promise<void>)[] = []
  async function run<Result>(call: () => Promise<Result>): Promise<Result> {
    if (!isOpen) throw new DatabaseError('08006', `the ${database.name} database is closed`)
    const result = call()
    running.add(result)
    try {
      return await result
    } finally {
      running.delete(result)
    }
  }
  async function revoke(): Promise<void> {
    isOpen = false
    await Promise.allSettled(running)
    await Promise.all(stops.map((stop) => stop()))
  }
  const owned = (own: OwnedDatabase): OwnedDatabase => ({
    ...own,
    query: (...given) => run(() => own.query(...given)),
    execute: (...given) => run(() => own.execute(...given)),
    transaction: (...given) => run(() => own.transaction(...given)),
  })
  const lent: TestDatabase = {
    ...database,
    ...owned(database),
    for: (owner) => owned(database.for(owner)),
    async listen(...given) {
      const stop = await run(() => database.listen(...given))
      stops.push(stop)
      return stop
    },
    onReconnect: (callback) => database.onReconnect(() => isOpen && callback()),
    close: revoke,
  }
  return { database: lent, revoke }
}

const ownTables = `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and n.nspname = current_schema()`

// What a statement of a test can add, drop or change, apart from rows. Each changed row of a catalogue has a later transaction. Emptying and
// analysing a table change only its row in pg_class.
const schemaQuery = `select concat_ws(' ',
  (select concat(count(*), ' ', string_agg(reloptions::text, ' ' order by oid)) from pg_class where relkind <> 't'),
  ${[
    'pg_attribute',
    'pg_attrdef',
    'pg_constraint',
    'pg_index',
    'pg_trigger',
    'pg_proc',
    'pg_authid',
    'pg_db_role_setting',
  ]
    .map((catalogue) => `(select concat(count(*), ' ', max(xmin::text::int8)) from ${catalogue})`)
    .join(', ')}) as schema`

async function tablesOf(database: Queryable): Promise<string[]> {
  return (await database.query<{ name: string }>(ownTables)).map(({ name }) => name)
}

async function readSchema(database: Queryable): Promise<string> {
  const [row] = await database.query<{ schema: string }>(schemaQuery)
  return row!.schema
}

const filledTables = (tables: readonly string[]) =>
  tables.map((table) => `select '${table}' as name where exists (select 1 from ${table})`).join(' union all ')

async function readInitialState(database: OwnedDatabase): Promise<InitialState> {
  const tables = await tablesOf(database)
  const rows = new Map<string, string>()
  for (const { name } of await database.query<{ name: string }>(filledTables(tables))) {
    const [row] = await database.query<{ rows: string }>(`select json_agg(t)::text as rows from ${name} t`)
    rows.set(name, row!.rows)
  }
  return { schema: await readSchema(database), tables, rows }
}

/** Such as those of vectors, which each start of a service makes. */
async function dropAddedTables(database: OwnedDatabase, { tables }: InitialState): Promise<void> {
  const added = (await tablesOf(database)).filter((name) => !tables.includes(name))
  if (added.length > 0) await database.execute(`drop table ${added.join(', ')}`)
}

/** Empties what has rows and restarts all sequences. Returns false if the schema has changed. */
async function restore(database: OwnedDatabase, { schema, tables, rows }: InitialState): Promise<boolean> {
  if ((await readSchema(database)) !== schema) return false
  const filled = (await database.query<{ name: string }>(filledTables(tables))).map(({ name }) => name)
  await database.transaction(async (transaction) => {
    // Without triggers: some tables refuse deletion.
    await transaction.execute('set local session_replication_role = replica')
    if (filled.length > 0) await transaction.execute(`truncate ${filled.join(', ')} restart identity cascade`)
    for (const [name, json] of rows) {
      await transaction.execute(
        `insert into ${name} overriding system value select * from json_populate_recordset(null::${name}, $1::json)`,
        [json],
      )
    }
  })
  // What a test has set; each connection to a server has settings that Portico made when it was opened.
  if (database.engine === 'embedded') await database.execute('reset all')
  return true
}
