export type { ChangeFeed, RecordChange } from './change-feed.ts'
export type {
  Database,
  DatabaseFeatures,
  Databases,
  LogicalDatabase,
  Queryable,
  QueryOptions,
  SqlValue,
} from './port.ts'
