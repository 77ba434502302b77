import type { Queryable } from '../port.ts'
import { quoteName } from '../sql.ts'

/** What a move reads of a table in PostgreSQL's catalogue. */
export interface MovedTable {
  name: string
  /** Without generated columns. */
  columns: { name: string; type: string }[]
  /** Columns of the primary key; empty: a small table, which is moved at once. */
  key: string[]
}

/** Tables that belong to the database itself. */
const notMoved = new Set(['portico_migrations', 'portico_move', 'portico_move_state'])

/** Every table of the current schema, in the order of the names. */
export async function listTables(database: Queryable): Promise<MovedTable[]> {
  const rows = await database.query<{ name: string; columns: string[]; types: string[]; key: string[] }>(
    `select c.relname::text as name,
            array_agg(a.attname::text order by a.attnum) as columns,
            array_agg(format_type(a.atttypid, a.atttypmod) order by a.attnum) as types,
            coalesce((select array_agg(k.attname::text order by i.place)
                      from pg_constraint p, unnest(p.conkey) with ordinality as i(number, place), pg_attribute k
                      where p.conrelid = c.oid and p.contype = 'p' and k.attrelid = c.oid and k.attnum = i.number), '{}') as key
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by c.oid, c.relname`,
  )
  return (
    rows
      .filter(({ name }) => !notMoved.has(name))
      // Not by the database: the engines may have different collations.
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, columns, types, key }) => ({
        name,
        columns: columns.map((column, index) => ({ name: column, type: types[index]! })),
        key,
      }))
  )
}

/** Makes the texts of values the same on both engines, for the rest of the transaction. */
export async function useCommonTexts(transaction: Queryable): Promise<void> {
  await transaction.query(
    `select set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true), set_config('intervalstyle', 'postgres', true),
            set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true)`,
  )
}

/** A row as the texts of its values, in the order of the columns; NULL is null. PostgreSQL's texts are exact, also those of vectors. */
export type TextRow = (string | null)[]

const textsOf = ({ columns }: MovedTable) =>
  `array[${columns.map(({ name }) => `t.${quoteName(name)}::text`).join(', ')}]`

/** Rows in the order of the key, which come after the key `after`. A table without a key has one batch. */
export async function readRows(
  source: Queryable,
  table: MovedTable,
  after: readonly string[] | null,
  limit: number,
): Promise<TextRow[]> {
  const rows = await source.query<{ row: TextRow }>(
    `select ${textsOf(table)} as row from ${batchOf(table, after, limit)}`,
    after ?? [],
  )
  return rows.map(({ row }) => row)
}

export async function insertRows(target: Queryable, table: MovedTable, rows: readonly TextRow[]): Promise<void> {
  const names = table.columns.map(({ name }) => quoteName(name))
  await target.execute(
    `insert into ${quoteName(table.name)} (${names.join(', ')}) overriding system value
     select ${table.columns.map(({ type }, index) => `v${index}::${type}`).join(', ')}
     from unnest(${names.map((_, index) => `$${index + 1}::text[]`).join(', ')}) as u(${names.map((_, index) => `v${index}`).join(', ')})`,
    table.columns.map((_, index) => rows.map((row) => row[index]!)),
  )
}

/** Of the rows of a batch: how many, four sums over parts of their SHA-256, which do not depend on the order, and the last key. */
export interface BatchSums {
  rows: number
  sums: bigint[]
  lastKey: string[] | null
}

/** Computed by the engine itself, so that no row is transferred. */
export async function sumRows(
  database: Queryable,
  table: MovedTable,
  after: readonly string[] | null,
  limit: number,
): Promise<BatchSums> {
  const key = table.key.map((name, index) => `t.${quoteName(name)} as k${index}`)
  const part = (index: number) =>
    `coalesce(sum(('x' || encode(substr(digest, ${1 + 7 * index}, 7), 'hex'))::bit(56)::bigint), 0)::text`
  const lastKey =
    key.length === 0
      ? 'null::text[]'
      : `(select array[${key.map((_, index) => `k${index}::text`).join(', ')}] from batch
          order by ${key.map((_, index) => `k${index} desc`).join(', ')} limit 1)`
  const [found] = await database.query<{ rows: bigint; sums: string[]; lastKey: string[] | null }>(
    `with batch as materialized (
       select ${[...key, `sha256(convert_to(${textsOf(table)}::text, 'UTF8')) as digest`].join(', ')}
       from ${batchOf(table, after, limit)})
     select count(*) as rows, array[${[0, 1, 2, 3].map(part).join(', ')}] as sums, ${lastKey} as "lastKey" from batch`,
    after ?? [],
    { timeoutMs: 100_000 },
  )
  return { rows: Number(found!.rows), sums: found!.sums.map(BigInt), lastKey: found!.lastKey }
}

/** The rows with the keys of `rows`, in their order; undefined: there is none. */
export async function readByKeys(
  database: Queryable,
  table: MovedTable,
  rows: readonly TextRow[],
): Promise<(TextRow | undefined)[]> {
  const key = keyColumns(table)
  const found = await database.query<{ row: TextRow | null }>(
    `select case when t is null then null else ${textsOf(table)} end as row
     from unnest(${key.map((_, index) => `$${index + 1}::text[]`).join(', ')}) with ordinality as u(${key.map((_, index) => `k${index}`).join(', ')}, place)
     left join ${quoteName(table.name)} t on ${key.map(({ name, type }, index) => `t.${quoteName(name)} = u.k${index}::${type}`).join(' and ')}
     order by u.place`,
    key.map((column) => rows.map((row) => row[table.columns.indexOf(column)]!)),
  )
  return found.map(({ row }) => row ?? undefined)
}

export function keyOf(table: MovedTable, row: TextRow): string[] {
  return keyColumns(table).map((column) => row[table.columns.indexOf(column)]!)
}

function keyColumns(table: MovedTable) {
  return table.key.map((name) => table.columns.find((column) => column.name === name)!)
}

function batchOf(table: MovedTable, after: readonly string[] | null, limit: number): string {
  const name = `${quoteName(table.name)} t`
  if (table.key.length === 0) return name
  const key = table.key.map((column) => `t.${quoteName(column)}`).join(', ')
  const values = keyColumns(table).map(({ type }, index) => `$${index + 1}::text::${type}`)
  const condition = after === null ? '' : `where (${key}) > (${values.join(', ')})`
  return `${name} ${condition} order by ${key} limit ${limit}`
}

/** A move that cannot begin, continue or end; the message says why and what to do. */
export class MoveError extends Error {}
