import { type Databases, openDatabases } from '../../src/platform/database/index.ts'
import { silentLog, systemClock, type Clock, type Log } from '../../src/platform/kernel/index.ts'
import { freshDatabasePlace } from './database-place.ts'
import { lendDatabases } from './database-pool.ts'
import { bothWithStatements, type TestDatabase } from './statements.ts'

export * from './database-place.ts'
export { testServerUrl } from './database-template.ts'

/** A fresh, migrated pair of databases for one test; `drop` closes and removes it. */
export type TestDatabases = Databases & { control: TestDatabase; corpus: TestDatabase; drop(): Promise<void> }

export interface TestDatabaseOptions {
  clock?: Clock
  log?: Log
}

/** Opens migrated databases without rows on the engine of this run. Without options they are reused ones. */
export async function openTestDatabases(options: TestDatabaseOptions = {}): Promise<TestDatabases> {
  if (Object.keys(options).length === 0) {
    const databases = await lendDatabases()
    return { ...databases, drop: databases.close }
  }
  const place = await freshDatabasePlace()
  const { clock = systemClock, log = silentLog } = options
  const databases = bothWithStatements(await openDatabases({ ...place, clock, log }))
  return {
    ...databases,
    async drop() {
      await databases.close()
      await place.remove()
    },
  }
}

/** Names of all tables of both databases in which a row contains the text. */
export async function findTablesWith(
  databases: Pick<TestDatabases, 'control' | 'corpus'>,
  text: string,
): Promise<string[]> {
  const found: string[] = []
  for (const name of ['control', 'corpus'] as const) {
    const database = databases[name]
    const tables = await database.query<{ name: string }>(
      `SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`,
    )
    if (tables.length < 6) throw new Error(`the database ${name} has ${tables.length} tables`)
    for (const table of tables) {
      const rows = await database.query(`SELECT 1 FROM ${table.name} t WHERE strpos(t::text, $1::text) > 0 LIMIT 1`, [
        text,
      ])
      if (rows.length > 0) found.push(table.name)
    }
  }
  return found
}
