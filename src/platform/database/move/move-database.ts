import { createHash } from 'node:crypto'
import { sharedOwner } from '../../kernel/index.ts'
import type { Databases, OwnedDatabase, Queryable } from '../port.ts'
import { quoteName } from '../sql.ts'
import {
  type BatchSums,
  insertRows,
  keyOf,
  listTables,
  type MovedTable,
  MoveError,
  readByKeys,
  readRows,
  sumRows,
  type TextRow,
  useCommonTexts,
} from './moved-tables.ts'
import { addDeferred, copySequences, createLike, type Deferred, loadDeferred, removeDeferred } from './moved-schema.ts'

/** Rows of one transaction; adapted so that their texts have about `batchBytes`. */
const firstBatchRows = 200
const maximumBatchRows = 5_000
const batchBytes = 4 * 1024 * 1024
const countTimeoutMs = 60 * 60_000

/** Tables in which migrations insert rows. All others of a new database are empty. */
const filledByMigrations = new Set([
  'change_feed_head',
  'ledger_removal',
  'usage_backfill',
  'usage_span_tables',
  'installation_backfill',
  'alert_settings',
])

export interface MoveOptions {
  source: OwnedDatabase
  /** Has the same migrations, and no service uses it. */
  target: OwnedDatabase
  /** The same for every attempt of one data folder. */
  moveId: string
  onProgress(text: string): void
}

export type MovedRows = ({ table: string } & TableSums)[]

/**
 * Throws MoveError if the target has rows, unless they are from an earlier attempt of this move. Writes nothing. Returns whether the
 * earlier attempt got to its end.
 */
export async function checkTarget({ source, target, moveId }: Omit<MoveOptions, 'onProgress'>): Promise<boolean> {
  const state = await loadState(target, moveId, target.name)
  if (!state) await assertEmpty(target, await listTables(source))
  return state?.isFinished ?? false
}

/**
 * Copies every table of one logical database to another engine: rows as texts, in transactions that also note the last key. Then builds the
 * indexes and foreign keys, and compares all rows of both sides. An attempt after a kill continues; a finished one only compares.
 */
export async function moveDatabase(options: MoveOptions): Promise<MovedRows> {
  const { source, target, onProgress } = options
  const tables = await listTables(source)
  const state = await prepare(options, tables)
  assertSameTables(tables, await listTables(target), target.name)
  if (!state.isFinished) {
    for (const table of tables) await moveTable(options, table)
    await addDeferred(target, state.deferred, onProgress)
  }
  const moved: MovedRows = []
  for (const table of tables) {
    onProgress(`comparing ${table.name}`)
    moved.push({ table: table.name, ...(await verifyTable(source, target, table)) })
  }
  if (!state.isFinished) await finish(options)
  return moved
}

/** After the moves of all databases: removes the notes, so that a service may start. */
export async function endMove({ corpus, control }: Pick<Databases, 'corpus' | 'control'>): Promise<void> {
  for (const target of [corpus, control]) {
    await target.for(sharedOwner).execute('drop table if exists portico_move, portico_move_state')
  }
}

interface MoveState {
  isFinished: boolean
  deferred: Deferred
}

async function prepare({ source, target, moveId }: MoveOptions, tables: readonly MovedTable[]): Promise<MoveState> {
  return target.transaction(async (transaction) => {
    const known = await loadState(transaction, moveId, target.name)
    if (known) return known
    await assertEmpty(transaction, tables)
    const existing = await listTables(transaction)
    const missing = tables.filter(({ name }) => !existing.some((table) => table.name === name))
    const ofMigrations = await loadDeferred(transaction, existing)
    const ofCode = await loadDeferred(source, missing)
    const deferred: Deferred = {
      triggers: ofMigrations.triggers,
      indexes: [...ofMigrations.indexes, ...ofCode.indexes],
      foreignKeys: [...ofMigrations.foreignKeys, ...ofCode.foreignKeys],
    }
    await transaction.execute(
      'create table portico_move_state (move_id text not null, is_finished boolean not null, deferred jsonb not null)',
    )
    await transaction.execute(
      'create table portico_move (table_name text primary key, last_key text[], row_count bigint not null, is_done boolean not null)',
    )
    await transaction.execute('insert into portico_move_state values ($1, false, $2::jsonb)', [
      moveId,
      JSON.stringify(deferred),
    ])
    await removeDeferred(transaction, ofMigrations)
    for (const table of missing) await createLike(source, transaction, table)
    // Rows that migrations insert.
    await transaction.execute(`truncate ${existing.map(({ name }) => quoteName(name)).join(', ')}`)
    return { isFinished: false, deferred }
  })
}

async function loadState(target: Queryable, moveId: string, name: string): Promise<MoveState | undefined> {
  const [known] = await target.query<{ found: boolean }>(
    `select to_regclass('portico_move_state') is not null as found`,
  )
  if (!known!.found) return undefined
  const [state] = await target.query<{ moveId: string; isFinished: boolean; deferred: Deferred }>(
    'select move_id as "moveId", is_finished as "isFinished", deferred from portico_move_state',
  )
  if (state?.moveId !== moveId) {
    throw new MoveError(
      `the ${name} database on the server has a part of another data folder, whose move did not end: name another database, or drop the schema portico_${name} there`,
    )
  }
  return state
}

/** A server that a service has used keeps its data. */
async function assertEmpty(target: Queryable, tables: readonly MovedTable[]): Promise<void> {
  const existing = await listTables(target)
  for (const { name } of existing) {
    const isMade = !tables.some((table) => table.name === name)
    if (filledByMigrations.has(name)) continue
    const [row] = await target.query(`select 1 as found from ${quoteName(name)} limit 1`)
    if (row || isMade) {
      throw new MoveError(`the database on the server is not empty (${name}): name one that no service has used`)
    }
  }
}

function assertSameTables(source: readonly MovedTable[], target: readonly MovedTable[], name: string): void {
  const found = new Map(target.map((table) => [table.name, JSON.stringify(table)]))
  const other =
    source.find((table) => found.get(table.name) !== JSON.stringify(table)) ??
    target.find((table) => !source.some((one) => one.name === table.name))
  if (!other) return
  throw new MoveError(
    `the table ${other.name} of the ${name} databases differs: both need the migrations of this version`,
  )
}

async function moveTable({ source, target, onProgress }: MoveOptions, table: MovedTable): Promise<void> {
  const [known] = await target.query<{ last_key: string[] | null; row_count: bigint; is_done: boolean }>(
    'select last_key, row_count, is_done from portico_move where table_name = $1',
    [table.name],
  )
  if (known?.is_done) return
  const [{ count } = { count: 0n }] = await source.query<{ count: bigint }>(
    `select count(*) as count from ${quoteName(table.name)}`,
    [],
    { timeoutMs: countTimeoutMs },
  )
  let after = known?.last_key ?? null
  let moved = Number(known?.row_count ?? 0)
  let limit = firstBatchRows
  for (let isDone = false; !isDone;) {
    const rows = await source.transaction(async (transaction) => {
      await useCommonTexts(transaction)
      return readRows(transaction, table, after, limit)
    })
    isDone = table.key.length === 0 || rows.length < limit
    const last = rows.at(-1)
    if (last && table.key.length > 0) after = keyOf(table, last)
    moved += rows.length
    await writeBatch(target, table, rows, { after, moved, isDone })
    onProgress(`${table.name}, ${moved} of ${count} rows`)
    limit = nextLimit(limit, rows)
  }
}

/** The rows and the note of them, in one transaction. */
async function writeBatch(
  target: OwnedDatabase,
  table: MovedTable,
  rows: readonly TextRow[],
  { after, moved, isDone }: { after: string[] | null; moved: number; isDone: boolean },
): Promise<void> {
  await target.transaction(async (transaction) => {
    if (rows.length > 0) {
      await useCommonTexts(transaction)
      await insertRows(transaction, table, rows)
    }
    await transaction.execute(
      `insert into portico_move values ($1, $2, $3, $4)
       on conflict (table_name) do update set last_key = excluded.last_key, row_count = excluded.row_count, is_done = excluded.is_done`,
      [table.name, after, moved, isDone],
    )
  })
}

function nextLimit(limit: number, rows: readonly TextRow[]): number {
  let bytes = 0
  for (const row of rows) for (const value of row) bytes += value?.length ?? 0
  const fitting = Math.floor((limit * batchBytes) / Math.max(1, bytes))
  return Math.max(1, Math.min(maximumBatchRows, 2 * limit, fitting))
}

async function finish({ source, target, onProgress }: MoveOptions): Promise<void> {
  await target.transaction(async (transaction) => {
    await copySequences(source, transaction)
    await transaction.execute('update portico_move_state set is_finished = true')
  })
  onProgress('statistics for the query planner')
  await target.execute('analyze', [], { timeoutMs: countTimeoutMs })
}

interface TableSums {
  rows: number
  /** SHA-256, in hex, over the sums of the SHA-256 of all rows: the same for the same rows in any order. */
  sha256: string
}

/** Rows of one statement; about a second on the embedded engine. */
const verifiedBatch = 5_000
const comparedBatch = 500

/**
 * Reads a table of both engines whole and compares the number of rows and their hash. Throws MoveError, which names the first row of the source
 * that differs.
 */
async function verifyTable(source: OwnedDatabase, target: OwnedDatabase, table: MovedTable): Promise<TableSums> {
  const [expected, found] = await Promise.all([sumTable(source, table), sumTable(target, table)])
  if (expected.rows === found.rows && expected.sha256 === found.sha256) return expected
  const place = await findDifference(source, target, table)
  throw new MoveError(
    `${table.name} differs: ${expected.rows} rows with the hash ${expected.sha256.slice(0, 12)} in the data folder, ` +
      `${found.rows} rows with ${found.sha256.slice(0, 12)} on the server; ${place}. To begin again, drop the schema portico_${target.name} there`,
  )
}

async function sumTable(database: OwnedDatabase, table: MovedTable): Promise<TableSums> {
  let rows = 0
  const totals = [0n, 0n, 0n, 0n]
  let after: string[] | null = null
  for (;;) {
    const key: string[] | null = after
    const batch: BatchSums = await database.transaction(async (transaction) => {
      await useCommonTexts(transaction)
      return sumRows(transaction, table, key, verifiedBatch)
    })
    rows += batch.rows
    for (const [index, sum] of batch.sums.entries()) totals[index]! += sum
    if (table.key.length === 0 || batch.rows < verifiedBatch) break
    after = batch.lastKey
  }
  return {
    rows,
    sha256: createHash('sha256')
      .update([rows, ...totals].join(' '))
      .digest('hex'),
  }
}

async function findDifference(source: OwnedDatabase, target: OwnedDatabase, table: MovedTable): Promise<string> {
  let after: string[] | null = null
  while (table.key.length > 0) {
    const key: string[] | null = after
    const rows = await source.transaction(async (transaction) => {
      await useCommonTexts(transaction)
      return readRows(transaction, table, key, comparedBatch)
    })
    const found = await target.transaction(async (transaction) => {
      await useCommonTexts(transaction)
      return readByKeys(transaction, table, rows)
    })
    for (const [index, row] of rows.entries()) {
      if (JSON.stringify(row) === JSON.stringify(found[index])) continue
      const name = keyOf(table, row).join(', ')
      return found[index] === undefined ? `the row ${name} is not on the server` : `the row ${name} differs`
    }
    if (rows.length < comparedBatch) return 'the server has rows that the data folder does not have'
    after = keyOf(table, rows.at(-1)!)
  }
  return 'it has no key by which rows could be named'
}
