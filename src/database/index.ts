export type {
  Database,
  DatabaseFeatures,
  Databases,
  LogicalDatabase,
  Queryable,
  QueryOptions,
  SqlValue,
} from './port.ts'
