export { type ChangeFeed, createChangeFeed, type RecordChange, recordChange } from './change-feed.ts'
export { DatabaseError, DatabaseStartError, isForeignKeyViolation } from './database-error.ts'
export { openDatabases, type OpenDatabasesOptions } from './open-databases.ts'
export type {
  Database,
  DatabaseFeatures,
  Databases,
  LogicalDatabase,
  Queryable,
  QueryOptions,
  SqlValue,
} from './port.ts'
export { encodeHalfVector, encodeVector } from './vectors.ts'
