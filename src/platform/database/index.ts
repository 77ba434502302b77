export { type ChangeFeed, createChangeFeed, type RecordChange, recordChange } from './change-feed.ts'
export { columnsOf, countRows, type Stored, toJsonPath } from './sql.ts'
export { DatabaseError, DatabaseStartError, findLostConnection, isForeignKeyViolation } from './database-error.ts'
export { lockFolder } from './embedded/folder-lock.ts'
export { readEmbeddedSchema } from './embedded/read-schema.ts'
export { knownMigrations } from './migrate.ts'
export { checkTarget, endMove, moveDatabase, type MovedRows } from './move/move-database.ts'
export { MoveError } from './move/moved-tables.ts'
export { openControlDatabase, openDatabases } from './open-databases.ts'
export type {
  Database,
  DatabaseCopy,
  Databases,
  OwnedDatabase,
  PausedDatabase,
  Queryable,
  QueryOptions,
  SqlValue,
  StoreOf,
} from './port.ts'
export { mostConnections } from './server/server-source.ts'
export { decodeIntegers, decodeVector, encodeHalfVector, encodeVector } from './statement.ts'
