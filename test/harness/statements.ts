import {
  type Database,
  type Databases,
  openDatabases as open,
  type OwnedDatabase,
} from '../../src/platform/database/index.ts'
import { sharedOwner } from '../../src/platform/kernel/index.ts'

/** A database that also runs statements itself, as work for all: tests read and change rows of every organisation. */
export type TestDatabase = Database & OwnedDatabase

export type OpenedDatabases = Databases & Record<'control' | 'corpus', TestDatabase>
type OpenDatabasesOptions = Parameters<typeof open>[0]

export function withStatements(database: Database): TestDatabase {
  return { ...database.for(sharedOwner), ...database }
}

/** Both databases of a pair. */
export function bothWithStatements<Pair extends Pick<Databases, 'control' | 'corpus'>>(
  pair: Pair,
): Pair & Record<'control' | 'corpus', TestDatabase> {
  return { ...pair, control: withStatements(pair.control), corpus: withStatements(pair.corpus) }
}

/** As `openDatabases` of the service, with databases that also run statements themselves. */
export async function openDatabases(options: OpenDatabasesOptions): Promise<OpenedDatabases> {
  return bothWithStatements(await open(options))
}
