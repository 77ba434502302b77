import type { Clock, Log } from '../../kernel/index.ts'
import { shortMessage } from '../database-error.ts'
import type { OwnedDatabase } from '../port.ts'
import { quoteName } from '../sql.ts'

/** Checkpoints and vacuums, because PGlite has neither a checkpointer nor autovacuum. */

const tickMs = 10_000
// A checkpoint bounds the time of the start after a crash: 64 MB of log are replayed in about a second.
const checkpointAfterBytes = 64 * 1024 * 1024
const checkpointAfterMs = 5 * 60_000
// PostgreSQL's own autovacuum defaults: 50 rows and a tenth (analyze) or a fifth (vacuum) of the table.
const vacuumAfterRows = 50
const vacuumAfterShare = 0.1
// A database that is never idle still needs its dead rows removed: the job table turns over all day.
const vacuumWhileBusyAfterRows = 10_000
const maintenanceTimeoutMs = 10 * 60_000

export interface MaintenanceOptions {
  database: OwnedDatabase
  clock: Clock
  log: Log
  /** Statements that wait or run. */
  load(): number
}

export interface Maintenance {
  /** Runs a checkpoint and a vacuum where they are due. */
  run(): Promise<void>
  /** Begins no checkpoint until `release`. */
  holdCheckpoints(): { release(): void }
  stop(): void
}

/** Checkpoints by size or age of the log. Vacuums at most one table per round, with a higher threshold while the database is busy. */
export function startMaintenance({ database, clock, log, load }: MaintenanceOptions): Maintenance {
  let checkpointLsn: string | undefined
  let checkpointAtMs = clock.monotonicMs()
  let running = false
  let holds = 0

  async function checkpointIfDue() {
    if (holds > 0) return
    const [position] = await database.query<{ lsn: string; bytes: string }>(
      `select pg_current_wal_lsn()::text as lsn,
              pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce($1::pg_lsn, pg_current_wal_lsn()))::text as bytes`,
      [checkpointLsn ?? null],
    )
    if (!position) return
    if (checkpointLsn === undefined) {
      checkpointLsn = position.lsn
      return
    }
    const bytes = Number(position.bytes)
    const isOld = clock.monotonicMs() - checkpointAtMs >= checkpointAfterMs
    if (bytes < checkpointAfterBytes && !(isOld && bytes > 0)) return
    if (holds > 0) return
    await database.execute('checkpoint', [], { timeoutMs: maintenanceTimeoutMs })
    checkpointLsn = position.lsn
    checkpointAtMs = clock.monotonicMs()
  }

  async function vacuumIfDue() {
    const isIdle = load() === 0
    const [table] = await database.query<{ schemaname: string; relname: string }>(
      `select schemaname, relname from pg_stat_user_tables
       where n_dead_tup + n_mod_since_analyze > $1 + $2::float8 * n_live_tup
       order by n_dead_tup + n_mod_since_analyze desc limit 1`,
      [isIdle ? vacuumAfterRows : vacuumWhileBusyAfterRows, vacuumAfterShare],
    )
    if (!table) return
    const name = `${quoteName(table.schemaname)}.${quoteName(table.relname)}`
    await database.execute(`vacuum (analyze) ${name}`, [], { timeoutMs: maintenanceTimeoutMs })
  }

  async function run() {
    if (running) return
    running = true
    try {
      await checkpointIfDue()
      await vacuumIfDue()
    } catch (error) {
      log.warn({ database: database.name, reason: shortMessage(error) }, 'database maintenance failed')
    } finally {
      running = false
    }
  }

  function holdCheckpoints() {
    let released = false
    holds++
    return {
      release() {
        if (!released) holds--
        released = true
      },
    }
  }

  return { run, holdCheckpoints, stop: clock.every(tickMs, () => void run()) }
}
