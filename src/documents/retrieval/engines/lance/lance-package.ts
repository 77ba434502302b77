import { createRequire } from 'node:module'
import path from 'node:path'

/**
 * LanceDB, a search library with tables in a folder or an object store. `npm run install:lance` installs it in a separate folder, because
 * `npm ci` removes what it does not know, and only installations that use it need its 214 MB.
 */

const lanceFolder = path.resolve(import.meta.dirname, '../../../../../deploy/lance')
const packageName = '@lancedb/lancedb'
const installCommand = 'npm run install:lance'

export function isLanceInstalled(folder = lanceFolder): boolean {
  try {
    createRequire(path.join(folder, 'package.json')).resolve(packageName)
    return true
  } catch {
    return false
  }
}

/** Throws with the command that installs LanceDB where it is missing. */
export function assertLance(folder = lanceFolder): void {
  if (isLanceInstalled(folder)) return
  throw new Error(
    `search.engine is lance, which needs the package ${packageName}. In Portico's folder, run \`${installCommand}\`, or set ` +
      'search.engine to database.',
  )
}

/** What is used of the packages' interfaces. */
export interface Lance {
  connect(
    address: string,
    options: { storageOptions: Record<string, string>; session: object },
  ): Promise<LanceConnection>
  Session: new (indexCacheBytes: bigint, metadataCacheBytes: bigint) => object
  Index: {
    fts(options: object): object
    btree(): object
    ivfFlat(options: object): object
    ivfRq(options: object): object
  }
  MatchQuery: new (text: string, column: string, options?: { boost?: number }) => object
  BooleanQuery: new (clauses: readonly (readonly [occur: unknown, query: object])[]) => object
  Occur: { Should: unknown }
}

export interface LanceConnection {
  createTable(name: string, data: object, options: { mode: 'create' }): Promise<LanceTable>
  openTable(name: string): Promise<LanceTable>
  dropTable(name: string): Promise<void>
  listTables(options: { pageToken?: string; limit: number }): Promise<{ tables: string[]; pageToken?: string }>
  close(): void
}

export interface LanceTable {
  add(data: object): Promise<unknown>
  createIndex(column: string, options: { config: object }): Promise<void>
  countRows(filter?: string): Promise<number>
  query(): LanceQuery
  close(): void
}

export interface LanceQuery {
  fullTextSearch(query: object): LanceQuery
  nearestTo(vector: Float32Array): LanceVectorQuery
  where(condition: string): LanceQuery
  select(columns: string[]): LanceQuery
  /** Adds `_rowid`: the number of the row's file in the high 32 bits, the place in it in the others. */
  withRowId(): LanceQuery
  limit(rows: number): LanceQuery
  toArrow(options: { timeoutMs: number }): Promise<{ getChild(column: string): Iterable<unknown> | null }>
}

export interface LanceVectorQuery extends LanceQuery {
  distanceType(type: 'cosine'): LanceVectorQuery
  /** Not below the minimum, which is set afterwards; more than the minimum are searched until enough rows are found. */
  maximumNprobes(partitions: number): LanceVectorQuery
  minimumNprobes(partitions: number): LanceVectorQuery
}

/** What is used of Apache Arrow, whose tables LanceDB takes. */
export interface Arrow {
  Table: new (columns: Record<string, unknown>) => object
  Vector: new (data: object[]) => unknown
  Utf8: new () => object
  Float32: new () => object
  Field: new (name: string, type: object, nullable: boolean) => object
  FixedSizeList: new (size: number, field: object) => object
  makeData(options: {
    type: object
    length: number
    nullCount: number
    valueOffsets?: Int32Array
    data?: Float32Array | Uint8Array
    child?: object
  }): object
}

export function loadLance(): { lance: Lance; arrow: Arrow } {
  assertLance()
  const load = createRequire(path.join(lanceFolder, 'package.json'))
  return { lance: load(packageName) as Lance, arrow: load('apache-arrow') as Arrow }
}
