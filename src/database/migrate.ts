import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Log } from '../kernel/index.ts'
import { DatabaseStartError, shortMessage, toDatabaseError } from './database-error.ts'
import type { LogicalDatabase } from './port.ts'
import type { SessionSource, SqlSession } from './session.ts'

/** The folder of the numbered scripts, with a subfolder for each logical database. */
export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

// An index over a large table takes minutes; the service does not accept requests meanwhile.
const migrationTimeoutMs = 60 * 60_000
// An arbitrary key of an advisory lock. Each script's transaction holds it, so that instances that start together take turns.
const migrationLockKey = 7_041_994_201n

export interface Migration {
  name: string
  sql: string
  /** SHA-256 of the text; a landed migration is never edited. */
  checksum: string
}

export interface MigrateOptions {
  name: LogicalDatabase
  source: SessionSource
  log: Log
  /** Default: the project's scripts. */
  folder?: string | undefined
}

/** The scripts of one logical database in the order in which they run. */
export function readMigrations(name: LogicalDatabase, folder: string = migrationsFolder): Migration[] {
  const scripts = path.join(folder, name)
  return fs
    .readdirSync(scripts)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const sql = fs.readFileSync(path.join(scripts, file), 'utf8')
      return { name: file.slice(0, -4), sql, checksum: createHash('sha256').update(sql).digest('hex') }
    })
}

/** Runs the scripts that have not run yet, each in a separate transaction. Several instances may start at the same time. */
export async function migrate({ name, source, log, folder }: MigrateOptions): Promise<void> {
  const migrations = readMigrations(name, folder)
  const session = await source.acquire({ direct: true })
  const run = (statement: string, parameters: readonly string[] | null = []) =>
    session.run(statement, parameters, { timeoutMs: migrationTimeoutMs })
  try {
    const isNew = !(await tableExists(session))
    const pending = pendingOf(migrations, isNew ? new Map() : await loadApplied(session), name)
    let applied = 0
    for (const migration of migrations.filter((candidate) => pending.includes(candidate.name))) {
      await run('begin')
      try {
        const isApplied = await applyOnce(session, migrations, migration, name)
        await run('commit')
        if (!isApplied) continue
        applied++
        if (!isNew) log.info({ database: name, migration: migration.name }, 'migrated')
      } catch (error) {
        await run('rollback').catch(() => session.markBroken())
        if (error instanceof DatabaseStartError) throw error
        throw new DatabaseStartError(`migration ${name}/${migration.name} failed: ${shortMessage(error)}`, {
          cause: error,
        })
      }
    }
    // Progress is of interest where tables have rows; a new database gets one line.
    if (isNew && applied > 0) log.info({ database: name, migrations: applied }, 'database created')
  } finally {
    session.release()
  }
}

async function applyOnce(
  session: SqlSession,
  migrations: Migration[],
  migration: Migration,
  name: LogicalDatabase,
): Promise<boolean> {
  const options = { timeoutMs: migrationTimeoutMs }
  await session.run('select pg_advisory_xact_lock($1)', [migrationLockKey], options)
  await session.run(
    `create table if not exists portico_migrations (
       name text primary key, checksum text not null, applied_at timestamptz not null default now())`,
    [],
    options,
  )
  // Another instance may have run the script while this one waited for the lock.
  if (!pendingOf(migrations, await loadApplied(session), name).includes(migration.name)) return false
  try {
    await session.run(migration.sql, null, options)
  } catch (error) {
    throw toDatabaseError(error)
  }
  await session.run(
    'insert into portico_migrations (name, checksum) values ($1, $2)',
    [migration.name, migration.checksum],
    options,
  )
  return true
}

async function tableExists(session: SqlSession): Promise<boolean> {
  const result = await session.run(`select to_regclass('portico_migrations') is not null as found`, [], {
    timeoutMs: migrationTimeoutMs,
  })
  return (result.rows[0] as { found: boolean }).found
}

async function loadApplied(session: SqlSession): Promise<Map<string, string>> {
  const { rows } = await session.run('select name, checksum from portico_migrations', [], {
    timeoutMs: migrationTimeoutMs,
  })
  return new Map((rows as { name: string; checksum: string }[]).map((row) => [row.name, row.checksum]))
}

/** Names of the scripts that have not run. Throws when an applied script is unknown to this version, or was edited. */
export function pendingOf(migrations: Migration[], applied: Map<string, string>, name: LogicalDatabase): string[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const [appliedName, checksum] of applied) {
    const migration = known.get(appliedName)
    if (!migration) {
      throw new DatabaseStartError(
        `the ${name} database has the migration ${appliedName}, which this version of Portico does not have: start the newer version`,
      )
    }
    if (migration.checksum !== checksum) {
      throw new DatabaseStartError(
        `the migration ${name}/${appliedName} was edited after it had run: restore its text and put the change into a new migration`,
      )
    }
  }
  return migrations.filter((migration) => !applied.has(migration.name)).map((migration) => migration.name)
}
