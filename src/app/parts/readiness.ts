import type { LedgerService } from '../../gateway/billing/index.ts'
import type { StopState } from '../../platform/http/index.ts'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import { type Clock, describeError, type Log, type Role, runsJobs, withDeadline } from '../../platform/kernel/index.ts'

/** Longest wait for a database. On a server /readyz is 503 then. An embedded one is named slow early enough for probes that wait for 2 s. */
const defaultWaitMs = { postgres: 2_000, embedded: 1_000 }
/** An embedded database without an answer for so long is not slow but gone: full disks and faults of its thread show in no other way. */
const goneAfterMs = 20_000
/** The time between two checks counts for so much at most: the process may have been stopped. */
const longestGapMs = 5_000
/** Probes within this time share a list of instances. */
const listAgeMs = 1_000

interface ReadinessDependencies {
  databases: readonly Pick<OwnedDatabase, 'name' | 'engine' | 'query'>[]
  ledger: Pick<LedgerService, 'reasonToRefuse' | 'loadLiveInstances'>
  role: Role
  stop: Pick<StopState, 'isStopping'>
  clock: Pick<Clock, 'monotonicMs'>
  log: Log
  /** For tests. */
  waitMs?: Record<OwnedDatabase['engine'], number>
}

/** What /readyz answers. */
export interface Readiness {
  isReady: boolean
  /** What does not work although requests are handled. */
  problems: string[]
}

/**
 * Returns the check of /readyz. It is ready while the ledger accepts calls, no database fails, and the service is not stopping. Of a server a late answer is a
 * failure, because another instance may have a better connection. An embedded database that is slow has no replacement: its process still answers
 * everything that does not wait for the database.
 */
export function createReadiness({
  databases,
  ledger,
  role,
  stop,
  clock,
  log,
  waitMs = defaultWaitMs,
}: ReadinessDependencies) {
  let workers: { atMs: number; problems: Promise<string[]> } | undefined
  let noted: string | undefined
  const checks = databases.map((database) => createDatabaseCheck(database, waitMs[database.engine], clock))

  async function loadWorkers(): Promise<string[]> {
    try {
      const live = await ledger.loadLiveInstances()
      return live.some((instance) => runsJobs(instance.role ?? 'all')) ? [] : [noWorker]
    } catch (error) {
      // The probe itself reports whether the database answers.
      log.debug({ error: describeError(error) }, 'the list of instances could not be read')
      return []
    }
  }

  function findWorkers(): Promise<string[]> {
    // Nothing is queued by the gateway, and a worker is alive.
    if (role !== 'api') return Promise.resolve([])
    if (workers === undefined || performance.now() - workers.atMs > listAgeMs)
      workers = { atMs: performance.now(), problems: loadWorkers() }
    return workers.problems
  }

  /** Never rejects. */
  return async function check(): Promise<Readiness> {
    const [workerProblems, ...states] = await Promise.all([
      findWorkers(),
      ...checks.map((checkDatabase) => checkDatabase()),
    ])
    const refusal = ledger.reasonToRefuse()
    const reasons = [
      ...(refusal ? [`the ledger refuses calls (${refusal})`] : []),
      ...states.flatMap(({ failure }) => failure ?? []),
    ].join('; ')
    if (!stop.isStopping && reasons !== (noted ?? '')) {
      noted = reasons
      if (reasons === '') log.info({}, '/readyz is 200 again')
      else log.warn({ reasons }, '/readyz is 503')
    }
    return {
      isReady: !stop.isStopping && reasons === '',
      problems: [...workerProblems, ...states.flatMap(({ problem }) => problem ?? [])],
    }
  }
}

const noWorker =
  'No process with the role worker or all is alive: uploads, deletions and runs of golden questions wait until one starts.'

interface DatabaseState {
  failure?: string
  problem?: string
}

/** One statement at a time is on the way. It gets no deadline on the embedded engine, which would end the thread of a database that is merely slow. */
function createDatabaseCheck(
  { name, engine, query }: ReadinessDependencies['databases'][number],
  waitMs: number,
  { monotonicMs }: ReadinessDependencies['clock'],
) {
  let running: Promise<DatabaseState> | undefined
  let checkedMs = 0
  /** Until it answers without a failure. */
  let silentMs = 0

  function begin() {
    checkedMs = monotonicMs()
    const options = engine === 'postgres' ? { signal: AbortSignal.timeout(waitMs) } : {}
    const answer = query('select 1', [], options).then(
      () => {
        silentMs = 0
        return {}
      },
      (error: unknown) => ({ failure: `the ${name} database: ${describeError(error)}` }),
    )
    return answer.finally(() => (running = undefined))
  }

  return async function check(): Promise<DatabaseState> {
    const answer = (running ??= begin())
    try {
      return await withDeadline(waitMs, () => answer)
    } catch (error) {
      const nowMs = monotonicMs()
      silentMs += Math.min(nowMs - checkedMs, longestGapMs)
      checkedMs = nowMs
      if (engine === 'embedded' && silentMs < goneAfterMs) {
        return { problem: `The ${name} database has not answered in time: requests that need it wait.` }
      }
      return { failure: `the ${name} database: ${describeError(error)}` }
    }
  }
}
