import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../kernel/index.ts'
import { DatabaseError, shortMessage } from '../database-error.ts'
import type { Database, OwnedDatabase, QueryOptions } from '../port.ts'

/** A statement that the replica has not run in this time is run by the primary. */
const statementTimeoutMs = 3_000
/** A replica that fails or is behind is left alone for this time, so that it delays few requests. */
const pauseMs = 10_000
const pollMs = 10

export interface ReplicaOptions {
  /** Of the replica. */
  database: Database
  /** Longest wait until it has what the primary has. */
  waitMs: number
  log: Log
}

type ReadingOptions = Pick<QueryOptions, 'signal'>

export interface Replica {
  /** Queries run on the replica if it has everything that was committed before this call, and on `primary` where it has not or fails. */
  reading(owner: string, primary: OwnedDatabase, options?: ReadingOptions): Promise<OwnedDatabase>
  close(): Promise<void>
}

export function createReplica({ database, waitMs, log }: ReplicaOptions): Replica {
  let pausedUntilMs = 0
  const pause = (reason: string) => {
    pausedUntilMs = performance.now() + pauseMs
    log.warn({ database: database.name, reason }, 'the replica is not read for some seconds; the primary answers')
  }

  /** Polls until the replica has replayed the primary's log up to this position. */
  async function hasReplayed(own: OwnedDatabase, position: string, isLate: () => boolean): Promise<boolean> {
    for (;;) {
      const [row] = await own.query<{ isThere: boolean }>(replayed, [position], { timeoutMs: statementTimeoutMs })
      if (row!.isThere || isLate()) return row!.isThere
      await delay(pollMs)
    }
  }

  async function isCurrent(own: OwnedDatabase, primary: OwnedDatabase, options: ReadingOptions): Promise<boolean> {
    const [row] = await primary.query<{ position: string }>(
      'select pg_current_wal_lsn()::text as position',
      [],
      options,
    )
    const untilMs = performance.now() + waitMs
    const isLate = () => performance.now() >= untilMs
    const stop = new AbortController()
    const late = delay(waitMs, 'it is behind or does not answer', { signal: stop.signal }).catch(() => '')
    const asked = hasReplayed(own, row!.position, isLate).then(
      (isThere) => (isThere ? '' : 'it is behind'),
      shortMessage,
    )
    const reason = await Promise.race([asked, late])
    stop.abort()
    if (reason !== '') pause(reason)
    return reason === ''
  }

  return {
    async reading(owner, primary, options = {}) {
      const own = database.for(owner)
      if (performance.now() < pausedUntilMs || !(await isCurrent(own, primary, options))) return primary
      return {
        ...primary,
        async query(statement, parameters, options = {}) {
          const timeoutMs = Math.min(options.timeoutMs ?? statementTimeoutMs, statementTimeoutMs)
          try {
            return await own.query(statement, parameters, { ...options, timeoutMs })
          } catch (error) {
            if (options.signal?.aborted) throw error
            if (error instanceof DatabaseError && error.isUnavailable) pause(shortMessage(error))
            return primary.query(statement, parameters, options)
          }
        },
      }
    },
    close: () => database.close(),
  }
}

/** A replica that has become the primary has everything. */
const replayed = `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end >= $1::pg_lsn as "isThere"`
