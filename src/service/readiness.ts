import type { LedgerService } from '../billing/index.ts'
import type { Database } from '../database/index.ts'
import { describeError, type Log, type Role, runsJobs } from '../kernel/index.ts'

/** Longest wait for a database before /readyz reports that it does not answer. */
const readyTimeoutMs = 2_000
/** Probes within this time share a list of instances. */
const listAgeMs = 1_000

interface ReadinessDependencies {
  databases: readonly Database[]
  ledger: Pick<LedgerService, 'isAccepting' | 'loadLiveInstances'>
  role: Role
  isStopping: () => boolean
  log: Log
}

/** What /readyz answers. */
export function createReadiness({ databases, ledger, role, isStopping, log }: ReadinessDependencies) {
  let problems: { atMs: number; list: Promise<string[]> } | undefined

  async function load(): Promise<string[]> {
    try {
      const live = await ledger.loadLiveInstances()
      return live.some((instance) => runsJobs(instance.role ?? 'all')) ? [] : [noWorker]
    } catch (error) {
      // The probe itself reports whether the database answers.
      log.debug({ error: describeError(error) }, 'the list of instances could not be read')
      return []
    }
  }

  return {
    /** True while the databases answer, the ledger accepts calls and the service is not stopping. */
    isReady: async () => !isStopping() && ledger.isAccepting() && (await areAnswering(databases)),

    /** That no process works on uploads, which the load balancer must not treat as a failure of this one. Never rejects. */
    async findProblems(): Promise<string[]> {
      // Nothing is queued by the gateway, and a worker is alive.
      if (role !== 'api') return []
      if (problems === undefined || performance.now() - problems.atMs > listAgeMs)
        problems = { atMs: performance.now(), list: load() }
      return problems.list
    },
  }
}

const noWorker =
  'No process with the role worker or all is alive: uploads, deletions and runs of golden questions wait until one starts.'

async function areAnswering(databases: readonly Database[]): Promise<boolean> {
  const answers = databases.map((database) =>
    database.query(
      'select 1',
      [],
      // On a server the wait for a connection counts; the one connection of the embedded engine may be busy with its own work.
      database.engine === 'postgres' ? { signal: AbortSignal.timeout(readyTimeoutMs) } : { timeoutMs: readyTimeoutMs },
    ),
  )
  return (await Promise.allSettled(answers)).every((answer) => answer.status === 'fulfilled')
}
