import type { OwnedDatabase, Queryable } from '../port.ts'
import { quoteName } from '../sql.ts'
import type { MovedTable } from './moved-tables.ts'

/** What the target gets back after the rows: a trigger would add rows that are moved as well, and indexes are faster to build at once. */
export interface Deferred {
  /** Tables whose triggers are disabled meanwhile. */
  triggers: string[]
  /** Indexes that belong to no constraint, by their definitions. */
  indexes: { name: string; definition: string }[]
  foreignKeys: { table: string; name: string; definition: string }[]
}

/** A large index takes long. */
const buildTimeoutMs = 12 * 60 * 60_000

/** Creates a table that the code makes, as it is in the source: without its indexes and foreign keys. */
export async function createLike(source: Queryable, target: Queryable, table: MovedTable): Promise<void> {
  const columns = await source.query<{ definition: string; storage: string | null; name: string }>(
    `select a.attname::text as name,
            quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end as definition,
            case when a.attstorage = t.typstorage then null
                 else case a.attstorage when 'p' then 'plain' when 'e' then 'external' when 'm' then 'main' else 'extended' end end as storage
     from pg_attribute a join pg_type t on t.oid = a.atttypid
     where a.attrelid = $1::text::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    [quoteName(table.name)],
  )
  const constraints = await source.query<{ definition: string }>(
    `select 'constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid) as definition from pg_constraint
     where conrelid = $1::text::regclass and contype in ('p', 'u', 'c') order by conname`,
    [quoteName(table.name)],
  )
  const parts = [...columns, ...constraints].map(({ definition }) => definition)
  await target.execute(`create table ${quoteName(table.name)} (${parts.join(', ')})`)
  for (const { name, storage } of columns) {
    if (storage === null) continue
    await target.execute(`alter table ${quoteName(table.name)} alter column ${quoteName(name)} set storage ${storage}`)
  }
}

/** What `tables` have; definitions name no schema. */
export async function loadDeferred(database: Queryable, tables: readonly MovedTable[]): Promise<Deferred> {
  const names = [tables.map(({ name }) => name)]
  const inSchema = 'c.relnamespace = current_schema()::regnamespace and c.relname = any ($1)'
  const triggers = await database.query<{ name: string }>(
    `select distinct c.relname::text as name from pg_trigger g join pg_class c on c.oid = g.tgrelid
     where ${inSchema} and not g.tgisinternal order by 1`,
    names,
  )
  const indexes = await database.query<{ name: string; definition: string }>(
    `select i.relname::text as name,
            replace(pg_get_indexdef(i.oid), ' ON ' || quote_ident(current_schema()) || '.', ' ON ') as definition
     from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid
     where ${inSchema} and not exists (select from pg_constraint where conindid = i.oid and contype in ('p', 'u', 'x')) order by 1`,
    names,
  )
  const foreignKeys = await database.query<Deferred['foreignKeys'][number]>(
    `select c.relname::text as "table", k.conname::text as name, pg_get_constraintdef(k.oid) as definition
     from pg_constraint k join pg_class c on c.oid = k.conrelid where ${inSchema} and k.contype = 'f' order by 1, 2`,
    names,
  )
  return { triggers: triggers.map(({ name }) => name), indexes, foreignKeys }
}

export async function removeDeferred(target: Queryable, { triggers, indexes, foreignKeys }: Deferred): Promise<void> {
  for (const table of triggers) await target.execute(`alter table ${quoteName(table)} disable trigger user`)
  for (const { table, name } of foreignKeys) {
    await target.execute(`alter table ${quoteName(table)} drop constraint ${quoteName(name)}`)
  }
  for (const { name } of indexes) await target.execute(`drop index ${quoteName(name)}`)
}

/** Builds what is missing, one by one: what is done stays done. PostgreSQL checks foreign keys when they are added. */
export async function addDeferred(target: OwnedDatabase, deferred: Deferred, onProgress: (text: string) => void) {
  const options = { timeoutMs: buildTimeoutMs, direct: true }
  for (const { name, definition } of deferred.indexes) {
    const [found] = await target.query<{ missing: boolean }>('select to_regclass($1) is null as missing', [
      quoteName(name),
    ])
    if (!found!.missing) continue
    onProgress(`index ${name}`)
    await target.execute(definition, [], options)
  }
  for (const { table, name, definition } of deferred.foreignKeys) {
    const [found] = await target.query(
      'select 1 as found from pg_constraint where conrelid = $1::text::regclass and conname = $2',
      [quoteName(table), name],
    )
    if (found) continue
    onProgress(`foreign key ${name}`)
    await target.execute(`alter table ${quoteName(table)} add constraint ${quoteName(name)} ${definition}`, [], options)
  }
  for (const table of deferred.triggers) await target.execute(`alter table ${quoteName(table)} enable trigger user`)
}

/** Sequences of identity columns continue where they are in the source. */
export async function copySequences(source: OwnedDatabase, target: Queryable): Promise<void> {
  const names = await source.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relkind = 'S' and relnamespace = current_schema()::regnamespace order by 1`,
  )
  for (const { name } of names) {
    const [state] = await source.query<{ value: bigint; called: boolean }>(
      `select last_value as value, is_called as called from ${quoteName(name)}`,
    )
    await target.query('select setval($1::text::regclass, $2, $3)', [quoteName(name), state!.value, state!.called])
  }
}
