import type { LedgerService } from '../billing/index.ts'
import type { Database } from '../database/index.ts'

/** Longest wait for a database before /readyz reports that it does not answer. */
const readyTimeoutMs = 2_000

interface ReadinessDependencies {
  databases: readonly Database[]
  ledger: Pick<LedgerService, 'isAccepting'>
  isStopping: () => boolean
}

/** True while both databases answer, the ledger accepts calls and the service is not stopping. */
export function createReadiness({ databases, ledger, isStopping }: ReadinessDependencies): () => Promise<boolean> {
  return async () => !isStopping() && ledger.isAccepting() && (await areAnswering(databases))
}

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
