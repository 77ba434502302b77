import { setTimeout as delay } from 'node:timers/promises'
import { type Log, sharedOwner, version } from '../kernel/index.ts'
import { DatabaseError, DatabaseStartError, shortMessage, sqlState, toDatabaseError } from './database-error.ts'
import type { Database, LogicalDatabase } from './port.ts'
import { readMigrations, type Migration } from './migration-scripts.ts'
import type { SessionSource, SqlSession } from './session.ts'
import { isOlder } from './features.ts'

// An index over a large table takes minutes; the service does not accept requests meanwhile.
const migrationTimeoutMs = 60 * 60_000
/** A script that waits for a lock of a table makes later statements on the table wait behind it, so it gives up after this time. */
const lockTimeoutMs = 500
/** Pause before the next attempt. */
const lockRetryMs = 1_000
/** About five minutes. */
const defaultLockAttempts = 200
// An arbitrary key of an advisory lock: instances that start together take turns.
const migrationLockKey = 7_041_994_201n
const turnRetryMs = 200

export interface MigrateOptions {
  name: LogicalDatabase
  engine: Database['engine']
  source: SessionSource
  log: Log
  /** Default: the project's scripts. */
  folder?: string | undefined
  /** Attempts of a script that waits for locks. */
  lockAttempts?: number
  /** For the move itself: the database may have a part of a data folder that is being moved to it. */
  allowUnfinishedMove?: boolean | undefined
}

interface AppliedMigration {
  name: string
  checksum: string
  /** The oldest version of Portico that can use the schema after it; null: any. */
  needsVersion: string | null
}

/** Names of the migrations of this version, oldest first. */
export function knownMigrations(name: LogicalDatabase): string[] {
  return readMigrations(name).map((migration) => migration.name)
}

/** Runs the scripts that have not run yet, each in a separate transaction. Several instances may start at the same time. */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { name, source, log, folder } = options
  const migrations = readMigrations(name, folder)
  const session = createRunner(await source.acquire(sharedOwner, { direct: true }))
  try {
    if (!options.allowUnfinishedMove && (await tableExists(session, 'portico_move_state'))) {
      throw new DatabaseStartError(
        `the ${name} database has a part of an embedded one that is being moved to it: finish with portico migrate embedded-to-postgres`,
      )
    }
    const isNew = !(await tableExists(session, 'portico_migrations'))
    if (!isNew) {
      const applied = await loadApplied(session)
      warnOfNewer(migrations, applied, options)
      if (pendingOf(migrations, applied, name).length === 0) return
    }
    const count = await inTurn(session, options, () => applyPending(session, migrations, options, isNew))
    // Progress is of interest where tables have rows; a new database gets one line.
    if (isNew && count > 0) log.info({ database: name, migrations: count }, 'database created')
  } finally {
    session.release()
  }
}

interface Runner extends Pick<SqlSession, 'markBroken' | 'release'> {
  /** Without parameters: a script of several statements. */
  run(statement: string, parameters?: readonly (string | bigint | null)[]): Promise<Record<string, unknown>[]>
}

function createRunner(session: SqlSession): Runner {
  return {
    async run(statement, parameters) {
      const { rows } = await session.run(statement, parameters ?? null, { timeoutMs: migrationTimeoutMs })
      return rows as Record<string, unknown>[]
    },
    markBroken: () => session.markBroken(),
    release: () => session.release(),
  }
}

/** Waits until no other instance migrates. A waiting statement would have a snapshot, for which a concurrent index build waits. */
async function inTurn<T>(session: Runner, { name, log }: MigrateOptions, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const [row] = await session.run('select pg_try_advisory_lock($1) as locked', [migrationLockKey])
    if (row!.locked === true) break
    if (attempt === 5) log.info({ database: name }, 'waiting for another instance that migrates the database')
    await delay(turnRetryMs)
  }
  try {
    return await work()
  } finally {
    await session.run('select pg_advisory_unlock($1)', [migrationLockKey]).catch(() => session.markBroken())
  }
}

/** Resolves to the number of scripts that ran. */
async function applyPending(
  session: Runner,
  migrations: Migration[],
  options: MigrateOptions,
  isNew: boolean,
): Promise<number> {
  const { name, log } = options
  await session.run(
    `create table if not exists portico_migrations (
       name text primary key, checksum text not null, applied_at timestamptz not null default now());
     alter table portico_migrations add column if not exists needs_version text`,
  )
  // Another instance may have run scripts meanwhile.
  const pending = pendingOf(migrations, await loadApplied(session), name)
  for (const migration of migrations.filter((candidate) => pending.includes(candidate.name))) {
    try {
      if (migration.concurrentIndex) await applyConcurrently(session, migration, options)
      else await applyInTransaction(session, migration, options)
    } catch (error) {
      throw new DatabaseStartError(failureOf(migration, name, error), { cause: error })
    }
    if (!isNew) log.info({ database: name, migration: migration.name }, 'migrated')
  }
  return pending.length
}

function failureOf(migration: Migration, name: LogicalDatabase, error: unknown): string {
  const subject = `migration ${name}/${migration.name}`
  if (isLockTimeout(error)) {
    return `${subject} got no lock in several minutes, because another transaction holds it, and was rolled back: end that transaction and start again`
  }
  return `${subject} failed: ${shortMessage(error)}`
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === sqlState.lockNotAvailable
}

async function applyInTransaction(session: Runner, migration: Migration, options: MigrateOptions): Promise<void> {
  const { name, log, lockAttempts = defaultLockAttempts } = options
  for (let attempt = 1; ; attempt++) {
    try {
      await session.run('begin')
      await session.run(`set local lock_timeout = ${lockTimeoutMs}`)
      await session.run(migration.sql)
      await recordApplied(session, migration)
      await session.run('commit')
      return
    } catch (error) {
      await session.run('rollback').catch(() => session.markBroken())
      const failure = toDatabaseError(error)
      if (!isLockTimeout(failure) || attempt >= lockAttempts) throw failure
      if (attempt === 1) log.warn({ database: name, migration: migration.name }, 'a migration waits for a lock')
      await delay(lockRetryMs)
    }
  }
}

/** One `create` or `drop index concurrently`, without a transaction: reads and writes of the table continue. */
async function applyConcurrently(session: Runner, migration: Migration, { engine }: MigrateOptions): Promise<void> {
  // The embedded engine has one connection, and nobody else to wait for.
  const sql = engine === 'postgres' ? migration.sql : migration.sql.replace(/index concurrently/i, 'index')
  try {
    // A build that was interrupted leaves an index that is not used.
    const broken = await session.run(
      `select quote_ident(relname) as name from pg_class join pg_index on indexrelid = pg_class.oid
       where not indisvalid and relname = $1 and pg_table_is_visible(pg_class.oid)`,
      [migration.concurrentIndex],
    )
    for (const index of broken) await session.run(`drop index ${String(index.name)}`)
    await session.run(sql)
    await recordApplied(session, migration)
  } catch (error) {
    throw toDatabaseError(error)
  }
}

function recordApplied(session: Runner, { name, checksum, needsVersion }: Migration): Promise<unknown> {
  return session.run('insert into portico_migrations (name, checksum, needs_version) values ($1, $2, $3)', [
    name,
    checksum,
    needsVersion,
  ])
}

async function tableExists(session: Runner, table: string): Promise<boolean> {
  const [row] = await session.run('select to_regclass($1) is not null as found', [table])
  return row!.found === true
}

async function loadApplied(session: Runner): Promise<AppliedMigration[]> {
  // The table of an earlier version has no column needs_version.
  const rows = await session.run(
    `select name, checksum, to_jsonb(applied) ->> 'needs_version' as "needsVersion" from portico_migrations applied`,
    [],
  )
  return rows as unknown as AppliedMigration[]
}

/** After a return to an earlier version. */
function warnOfNewer(migrations: Migration[], applied: AppliedMigration[], { name, log }: MigrateOptions): void {
  const newer = applied.filter((row) => !migrations.some((migration) => migration.name === row.name))
  if (newer.length === 0) return
  log.warn(
    { database: name, migrations: newer.map((row) => row.name) },
    'the database has migrations of a newer version, with which this version can work',
  )
}

/**
 * Names of the scripts that have not run. Throws when an applied script was edited, or when this version is too old for one that it does
 * not have.
 */
export function pendingOf(
  migrations: Migration[],
  applied: readonly AppliedMigration[],
  name: LogicalDatabase,
  ownVersion: string = version,
): string[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const { name: appliedName, checksum, needsVersion } of applied) {
    const migration = known.get(appliedName)
    if (!migration && needsVersion !== null && isOlder(ownVersion, needsVersion.split('.').map(Number))) {
      throw new DatabaseStartError(
        `the ${name} database has the migration ${appliedName}, which needs Portico ${needsVersion} or later; this is ${ownVersion}: start the newer version`,
      )
    }
    if (migration && migration.checksum !== checksum) {
      throw new DatabaseStartError(
        `the migration ${name}/${appliedName} was edited after it had run: restore its text and put the change into a new migration`,
      )
    }
  }
  const ran = new Set(applied.map((row) => row.name))
  return migrations.filter((migration) => !ran.has(migration.name)).map((migration) => migration.name)
}
